"""The constants in a TLC configuration file: read, and replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pymodel.constants import Constant
from resume_contract.errors import ResumeContractError

__all__ = ["constants_of", "tla_value", "with_constants"]

_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_CONSTANT = re.compile(r'(?P<name>\w+)[ \t]*(?:=|<-)[ \t]*(?P<value>\{[^}]*\}|"[^"\n]*"|[^\s{"]+)')


def constants_of(text: str) -> dict[str, Constant]:
    """What a configuration's text puts in the place of each constant.

    Numbers, truths and texts as such; anything else (a set, the name of an operator) as its text without blanks.
    """
    return {match["name"]: _value(match["value"]) for match in _CONSTANT.finditer(_COMMENT.sub(" ", text))}


def with_constants(path: Path, text: str, replaced: Mapping[str, Constant]) -> str:
    """The text with other values for some of its constants.

    Args:
        path: what messages call the text.
        text: a configuration.
        replaced: constant -> its value.

    Raises:
        ResumeContractError: the text doesn't assign a constant once.
    """
    for name, value in replaced.items():
        pattern = re.compile(
            rf'^(\s*(?:CONSTANTS?\s+)?{name}[ \t]*=[ \t]*)(\{{[^}}\n]*\}}|"[^"\n]*"|\S+)', re.M
        )
        found = list(pattern.finditer(text))
        if len(found) != 1:
            raise ResumeContractError(
                f"{path}: {len(found)} lines begin with {name} = …, which is to be replaced: write one such line"
            )
        text = text[: found[0].start(2)] + tla_value(value) + text[found[0].end(2) :]
    return text


def tla_value(value: Constant) -> str:
    """A constant as TLA+."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _value(text: str) -> Constant:
    if text.isdecimal():
        return int(text)
    if text in ("TRUE", "FALSE"):
        return text == "TRUE"
    return text[1:-1] if text.startswith('"') else "".join(text.split())
