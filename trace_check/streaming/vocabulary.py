"""The words of the trace format, numbered for the scanner: fields, kinds of events, kinds of refusals.

What an event may and must have is derived from the records of :mod:`trace_check.events`.  A field or a kind that is
added there and is unknown here is not misread: a file that has it is left to the offline checker.
"""

from __future__ import annotations

from typing import Final, get_args

import msgspec

from trace_check.events import (
    BRACKETED_KINDS,
    EVENT_TYPES,
    POINT_KINDS,
    REFUSAL_CLOSES,
    CheckpointRead,
    Event,
    Refusal,
)

__all__ = ["CLOSES", "FIELDS", "KINDS", "REFUSALS", "field_masks", "kind_traits"]

FIELDS: Final = [
    "event",
    "seq",
    "thread",
    "branch",
    "actor",
    "t",
    "phase",
    "op",
    "inferred",
    "checkpoint",
    "index",
    "step",
    "outcome",
    "valid",
    "key",
    "applied",
    "gate",
    "delivery",
    "value",
    "accepted",
    "what",
    "error",
    "unit",
    "steps",
    "outcomes",
    "parent",
    "next",
    "signal",
    "status",
    "child",
    "declared",
    "checkpoints",
    "answers",
    "open_interrupts",
    "seconds",
    "id",
    "digest",
    "complete",
    "process",
]
"""The fields of events and of the checkpoints in a reading; a field's number is its place.  `layout.py` has the same."""

KINDS: Final = [
    "loaded",
    "computed",
    "effect_fired",
    "recorded",
    "memo_used",
    "parked",
    "answer",
    "gate_passed",
    "refused",
    "committed",
    "crashed",
    "paused",
    "continued",
    "forked",
    "store_read",
    "completed",
    "failed",
    "resume_failed",
    "resume_gave_up",
]
"""The kinds of events; a kind's number is its place.  `layout.py` has the same."""

REFUSALS: Final = get_args(Refusal)

CLOSES: Final = tuple(
    sum(1 << KINDS.index(kind) for kind in REFUSAL_CLOSES[what]) | 1 << KINDS.index("refused")
    for what in REFUSALS
)
"""For each refusal the kinds of operations that it may end, as bits."""

_NEVER = 62  # a field that no line has


def field_masks() -> list[tuple[int, int]]:
    """For each kind the fields that an event of it may have, and those that it must have, as bits."""
    event_bit = 1 << FIELDS.index("event")
    return [_masks(EVENT_TYPES[kind], event_bit) for kind in KINDS] + [_masks(CheckpointRead, 0)]


def _masks(record: type[Event] | type[CheckpointRead], also: int) -> tuple[int, int]:
    allowed = required = also
    for field in msgspec.structs.fields(record):
        known = field.encode_name in FIELDS
        if known:
            allowed |= 1 << FIELDS.index(field.encode_name)
        if field.required:
            required |= 1 << (FIELDS.index(field.encode_name) if known else _NEVER)
    return allowed, required


def kind_traits(kind: str) -> int:
    """1: always two lines, 2: always one line, 0: either."""
    return 1 if kind in BRACKETED_KINDS else 2 if kind in POINT_KINDS else 0
