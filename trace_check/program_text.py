"""A program in a few words, such as ``order: effect charge ; effect ship | ask: gate approved ; pure receipt``.

``|`` stands between units and ``;`` between steps that follow each other; steps with ``||`` between them have no order.
A step is its kind and its name; a unit's name, with a colon, may be left out and is its number then (``u1``).
"""

from __future__ import annotations

import re
from typing import Final, get_args

from trace_check.errors import RecordingError
from trace_check.events import ProgramStep, ProgramUnit, StepKind

__all__ = ["read_program"]

_KINDS: Final = get_args(StepKind)
_MEND: Final = 'write it like "order: effect charge ; effect ship | ask: gate approved"'


def read_program(text: str) -> list[ProgramUnit]:
    """The units of a program.

    Args:
        text: the program in words, see above.

    Raises:
        RecordingError: the text says no program.  That a name occurs twice is refused with the header.
    """
    parts = re.split(r"(?<!\|)\|(?!\|)", text)
    return [_unit(number, part) for number, part in enumerate(parts, 1)]


def _unit(number: int, text: str) -> ProgramUnit:
    name, colon, rest = text.rpartition(":")
    if colon and not name.strip():
        raise RecordingError(f"unit {number} of the program has a colon and no name", _MEND)
    steps: list[ProgramStep] = []
    before: list[str] = []
    for group in rest.split(";"):
        together = [_step(number, words, before) for words in group.split("||")]
        before = [step.step for step in together]
        steps += together
    return ProgramUnit(name=name.strip() or f"u{number}", steps=steps)


def _step(number: int, text: str, after: list[str]) -> ProgramStep:
    match text.split():
        case [kind, name] if kind in _KINDS:
            return ProgramStep(step=name, kind=kind, after=list(after))  # type: ignore[arg-type]
        case _:
            said = " ".join(text.split()) or "nothing"
            what = f"unit {number} of the program has {said!r} where a kind ({', '.join(_KINDS)}) and a name belong"
            raise RecordingError(what, _MEND)
