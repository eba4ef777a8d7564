"""What the lines of an operation have to keep: a begin and an end that agree, each with the fields that it may have.

The reader asks of every line, the writer before it writes one.  A fault is what is wrong, and the mend.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET

from trace_check.events import (
    BRACKETED_KINDS,
    POINT_KINDS,
    REFUSAL_CLOSES,
    AnyEvent,
    Committed,
    Refused,
    event_kind,
)

__all__ = ["as_refused", "bracket_fault", "end_fault", "end_fields_fault"]

_OWN_OP: Final = "give every operation its own 'op'"
_SAME: Final = "name the same on both lines, or give every operation its own 'op'"

_END_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "loaded": ("checkpoint", "index"),
    "answer": ("accepted",),
    "gate_passed": ("value",),
}
"""Fields known only once the operation is over: not on its begin line, always on the end or the only line."""

_OF_A_LINE: Final = frozenset({"seq", "t", "phase", "branch", "inferred"})
"""Fields that the two lines of an operation may have differently; the branch is looked at by itself."""

_OF_AN_OPERATION: Final = ("step", "gate", "unit", "delivery", "checkpoint", "child")
"""Fields that say what an operation is about."""

_OF_A_REFUSAL: Final = ("gate", "step", "unit", "delivery")
"""Those that a refusal has."""


def bracket_fault(event: AnyEvent) -> tuple[str, str] | None:
    """May a line of this kind be, or not be, one of two?"""
    kind = event_kind(event)
    if (event.phase is None) != (event.op is None):
        has, lacks = ("phase", "op") if event.op is None else ("op", "phase")
        return f"{kind!r} has '{has}' without '{lacks}'", "an operation's two lines carry both"
    if event.phase is None and kind in BRACKETED_KINDS:
        return (
            f"{kind!r} has neither 'phase' nor 'op'",
            "write a begin and an end line around the store's call",
        )
    if event.phase is not None and kind in POINT_KINDS:
        return f"{kind!r} is one line and has a 'phase'", "drop 'phase' and 'op'"
    return None


def end_fields_fault(event: AnyEvent) -> tuple[str, str] | None:
    """Has a line what is known at the end of an operation, and no begin line that?"""
    kind = event_kind(event)
    for name in _END_FIELDS.get(kind, ()):
        present = getattr(event, name) is not UNSET
        if event.phase == "begin" and present:
            return (
                f"the begin line of {kind!r} has the field {name!r}",
                "it is known only at the operation's end",
            )
        if event.phase != "begin" and not present:
            return f"the field {name!r} of {kind!r} is missing", "write it on the operation's end line"
    return None


def end_fault(begin: AnyEvent, end: AnyEvent, where: str) -> tuple[str, str] | None:
    """Does an end agree with its begin?

    Args:
        begin, end: the two lines.
        where: names the operation, for the message.
    """
    begun, kind = event_kind(begin), event_kind(end)
    closes = {kind}
    if isinstance(end, Refused) and begun != "refused":
        closes = set(REFUSAL_CLOSES[end.what])
    if begun not in closes:
        return (
            f"{where} is {begun!r} and ends as {kind!r}"
            + (f" of {end.what!r}" if isinstance(end, Refused) else ""),
            "end an operation as what it began, or as what was refused",
        )
    for name in ("actor", "thread", "branch"):
        was, now = getattr(begin, name), getattr(end, name)
        # A load learns from what it reads which branch it is on.
        if was != now and not (name == "branch" and kind == "loaded"):
            return f"{where} is of {name} {was!r} and ends with {name} {now!r}", _OWN_OP
    for name in _OF_AN_OPERATION:
        before, after = getattr(begin, name, UNSET), getattr(end, name, UNSET)
        # A refusal names as much as it wants to.
        if before is UNSET or (isinstance(end, Refused) and (before is None or after in (None, UNSET))):
            continue
        if before != after:
            return f"{where} is about {name} {before!r} and ends with {after!r}", _SAME
    return _refusal_fault(begin, end, where) if isinstance(end, Refused) else _other_fault(begin, end, where)


def _other_fault(begin: AnyEvent, end: AnyEvent, where: str) -> tuple[str, str] | None:
    for name in begin.__struct_fields__:
        before = getattr(begin, name)
        if name not in _OF_A_LINE and before is not UNSET and not _same(before, getattr(end, name)):
            return (
                f"{where} ends with another {name!r} than it began with",
                "repeat on the end line what the begin line says",
            )
    return None


def as_refused(begin: AnyEvent, end: Refused) -> Refused:
    """The end of an operation that was refused, naming all that its begin does of what it is about."""
    said = {name: getattr(end, name) or getattr(begin, name, None) for name in _OF_A_REFUSAL}
    return msgspec.structs.replace(end, **said)


def _refusal_fault(begin: AnyEvent, end: Refused, where: str) -> tuple[str, str] | None:
    if isinstance(begin, Refused) and begin.what != end.what:
        return f"{where} refuses a {begin.what!r} and ends as refusing a {end.what!r}", _OWN_OP
    if isinstance(begin, Committed) and begin.steps and end.step not in (None, *begin.steps):
        return (
            f"{where} commits {', '.join(begin.steps)} and ends with step {end.step!r}",
            "name the committed step that was refused",
        )
    return None


def _same(one: object, other: object) -> bool:
    """Are two fields the same JSON?  In Python ``True == 1``."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other
