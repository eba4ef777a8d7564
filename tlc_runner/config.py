"""What this package needs to know about a TLC configuration file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import SpecError

__all__ = ["Config", "read_config"]

_KEYWORDS = frozenset(
    [
        "CONSTANT",
        "CONSTANTS",
        "CONSTRAINT",
        "CONSTRAINTS",
        "ACTION_CONSTRAINT",
        "ACTION_CONSTRAINTS",
        "ACTION-CONSTRAINT",
        "ACTION-CONSTRAINTS",
        "INVARIANT",
        "INVARIANTS",
        "INIT",
        "NEXT",
        "VIEW",
        "SYMMETRY",
        "SPECIFICATION",
        "PROPERTY",
        "PROPERTIES",
        "TYPE",
        "TYPE_CONSTRAINT",
        "CHECK_DEADLOCK",
        "POSTCONDITION",
        "ALIAS",
    ]
)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w!-]+|[^\s\w]')
_DEADLOCK = re.compile(r"\bCHECK_DEADLOCK\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration file.

    Attributes
    ----------
    path
        Where it was read.
    invariants, properties
        The names it lists, in order.
    check_deadlock
        What its CHECK_DEADLOCK says, None without one.
    portable_text
        Its text with CHECK_DEADLOCK blanked out (line numbers kept), for versions of TLC that do not know it.
    bare_text
        `portable_text` without its invariants and properties too: what shapes the state graph.
    """

    path: Path
    invariants: tuple[str, ...]
    properties: tuple[str, ...]
    check_deadlock: bool | None
    portable_text: str
    bare_text: str

    @property
    def uncommented_text(self) -> str:
        """`portable_text` without its comments."""
        return _COMMENT.sub(" ", self.portable_text)

    @property
    def constants(self) -> dict[str, str]:
        """Constant -> what stands in its place, without blanks: a value, or the name of an operator."""
        return {name: "".join(value.split()) for name, value in _CONSTANT.findall(self.uncommented_text)}


_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_CONSTANT = re.compile(r"(\w+)\s*(?:=|<-)\s*(\{[^}]*\}|\S+)")


def read_config(path: Path) -> Config:
    """Reads a configuration file.

    Raises
    ------
    SpecError
        If it cannot be read, or CHECK_DEADLOCK is neither TRUE nor FALSE.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise SpecError(
            f"{path}: configuration file cannot be read ({reason}): give an existing .cfg"
        ) from None
    bare = _without_comments(text)
    check: bool | None = None
    portable = text
    for match in _DEADLOCK.finditer(bare):
        if match[1] not in {"TRUE", "FALSE"}:
            line = bare.count("\n", 0, match.start()) + 1
            raise SpecError(f"{path} line {line}: CHECK_DEADLOCK is {match[1]}: write TRUE or FALSE")
        check = match[1] == "TRUE"
        portable = portable[: match.start()] + _blank(match[0]) + portable[match.end() :]
    names: dict[str, list[str]] = {"INVARIANT": [], "PROPERTY": []}
    section = ""
    model = list(portable)
    for match in _TOKEN.finditer(bare):
        token = match[0]
        if token in _KEYWORDS:
            section = {"INVARIANTS": "INVARIANT", "PROPERTIES": "PROPERTY"}.get(token, token)
        elif section in names:
            names[section].append(token)
        if section in names:
            model[match.start() : match.end()] = " " * len(token)
    return Config(path, tuple(names["INVARIANT"]), tuple(names["PROPERTY"]), check, portable, "".join(model))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


_OUTSIDE = re.compile(r'\(\*|\\\*[^\n]*|"(?:[^"\\\n]|\\.)*"')
_INSIDE = re.compile(r"\(\*|\*\)")


def _without_comments(text: str) -> str:
    r"""The text with ``\* …`` and nested ``(* … *)`` comments blanked, every position kept."""
    out: list[str] = []
    depth = position = 0
    while mark := (_INSIDE if depth else _OUTSIDE).search(text, position):
        piece = text[position : mark.start()]
        out.append(_blank(piece) if depth else piece)
        position = mark.end()
        out.append(mark[0] if mark[0].startswith('"') else _blank(mark[0]))
        depth += {"(*": 1, "*)": -1}.get(mark[0], 0)
    tail = text[position:]
    out.append(_blank(tail) if depth else tail)
    return "".join(out)
