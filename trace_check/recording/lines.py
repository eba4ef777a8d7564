"""Lines as they are written: each is held against what the reader asks of it before it reaches the file."""

from __future__ import annotations

import math
from typing import Any, Final, TypeVar

import msgspec

from trace_check.brackets import bracket_fault, end_fault, end_fields_fault
from trace_check.errors import RecordingError
from trace_check.events import Event, Header, encode_line, event_kind
from trace_check.programs import header_fault
from trace_check.reader import MAX_LINE_BYTES, decode_line, line_fault

__all__ = ["event_line", "header_line", "made"]

_FIELDS: Final = "see docs/trace-format.md for its fields"

Record = TypeVar("Record", Event, Header)


def made(kind: type[Record], fields: dict[str, Any]) -> Record:
    """A record with these fields.

    Raises:
        RecordingError: it has others.
    """
    try:
        return kind(**fields)
    except TypeError as error:
        text = str(error)
        raise RecordingError(f"{_name(kind)}: {text[:1].lower()}{text[1:]}", _FIELDS) from None


def header_line(header: Header) -> bytes:
    """The first line of a trace.

    Raises:
        RecordingError: the reader would refuse it.
    """
    line = _line(header)
    if (fault := header_fault(header)) is not None:
        raise RecordingError(*fault)
    return line


def event_line(event: Event, begin: Event | None = None) -> bytes:
    """The line of an event; of one that ends an operation, with what began it.

    What has to hold between the lines of several actors is left to the reader.

    Raises:
        RecordingError: the reader would refuse it.
    """
    line = _line(event)
    said: Any = event
    fault = bracket_fault(said)
    if fault is None and begin is not None:
        begun: Any = begin
        fault = end_fault(begun, said, f"operation {event.op!r}")
    if fault is None:
        fault = end_fields_fault(said)
    if fault is not None:
        raise RecordingError(*fault)
    return line


def _line(record: Event | Header) -> bytes:
    name = _name(record)
    try:
        line = encode_line(record)
        not_finite = _not_finite(msgspec.to_builtins(record))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(f"{name} cannot be written as JSON: {error}", _FIELDS) from None
    if not_finite is not None:
        raise RecordingError(
            f"{name} has the number {not_finite}, which JSON has not", "write its name, as text"
        )
    if len(line) > MAX_LINE_BYTES:
        raise RecordingError(
            f"{name} makes a line of more than {MAX_LINE_BYTES // 1_000_000} MB",
            "record digests in place of large outcomes",
        )
    try:
        decode_line(line)
    except (ValueError, RecursionError) as error:
        what, mend = line_fault(error, line)
        raise RecordingError(f"{name}: {what}", mend) from None
    return line


def _name(record: Event | Header | type[Event] | type[Header]) -> str:
    kind = event_kind(record)
    return "the header" if kind == "header" else f"event {kind!r}"


def _not_finite(value: Any) -> float | None:
    """A number in it that becomes null in JSON."""
    if isinstance(value, float):
        return None if math.isfinite(value) else value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set):
        return next((found for found in map(_not_finite, value) if found is not None), None)
    return None
