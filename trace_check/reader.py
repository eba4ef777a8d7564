"""Reads a trace: JSON Lines, plain or gzip, checked line by line and between lines, without holding the file.

:func:`read_trace` gives the whole trace, :class:`TraceStream` one event after another. Whatever is wrong with
the file becomes one :class:`~trace_check.errors.TraceError` that names the file, the line and the mend. The
rules checked here are those of ``docs/trace-format.md``.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec
from msgspec import UNSET

from trace_check.brackets import bracket_fault, end_fault, end_fields_fault
from trace_check.errors import TraceError
from trace_check.events import (
    EVENT_KINDS,
    FORMAT_VERSION,
    ROOT_BRANCH,
    Answer,
    AnyEvent,
    Committed,
    Computed,
    EffectFired,
    Event,
    Forked,
    GatePassed,
    Header,
    MemoUsed,
    Parked,
    Recorded,
    Refused,
    StepKind,
    StoreRead,
    event_kind,
)
from trace_check.programs import header_fault

__all__ = [
    "MAX_LINE_BYTES",
    "Operation",
    "Trace",
    "TraceStream",
    "decode_line",
    "is_cut_short",
    "line_fault",
    "open_trace",
    "read_trace",
]

MAX_LINE_BYTES: Final = 10_000_000
"""The longest line that is read, its newline not counted."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_RERECORD: Final = "record the trace again"
_DECODER: Final = msgspec.json.Decoder(Header | AnyEvent)


class _RepeatedKey(ValueError):
    """A key stands twice in one object: which of the two values counts, nobody says (msgspec takes the last)."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _refuse_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(next(key for key in keys if keys.count(key) > 1))
    return found


@dataclass(frozen=True, slots=True)
class Operation:
    """The two lines of one operation, as positions in :attr:`Trace.events`.

    ``end`` is None when the process did not live to write it: the operation may have taken effect or not.
    """

    op: str
    begin: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole trace that keeps the format's rules.

    Attributes:
        path: where it was read from.
        header: its first line.
        events: the others, in the order of the file.
        lines: the line number of each event, counted from 1.
        operations: the brackets, by the ``op`` that names them.
        warnings: what was mended while reading, one line each.
    """

    path: Path
    header: Header
    events: list[AnyEvent]
    lines: list[int]
    operations: dict[str, Operation]
    warnings: list[str]


@dataclass(slots=True)
class _ActorState:
    """What the rules need to remember of one actor."""

    seq: int = 0
    t: int = 0


@dataclass(slots=True)
class _OpenOperation:
    line: int
    event: AnyEvent
    ended: int | None = None


@dataclass(slots=True)
class _ThreadState:
    """The branches of one thread: introduced by any forked line, made by a line that says so."""

    branches: set[str] = field(default_factory=lambda: {ROOT_BRANCH})
    forked_at: dict[str, int] = field(default_factory=dict)


class TraceStream:
    """One pass over a trace file; iterating gives ``(line number, event)`` and ends at the end of the file.

    Args:
        path: the file, plain or gzip (told apart by its first bytes).
        allow_torn: leave out a last line that was cut short, with a warning, instead of refusing the file.

    The header is read when the object is made. Use it as a context manager, or exhaust it, to close the file.

    Raises:
        TraceError: on making it or while iterating, at the first rule that the file breaks.
    """

    def __init__(self, path: str | Path, *, allow_torn: bool = False) -> None:
        self.path = Path(path)
        self.warnings: list[str] = []
        self._allow_torn = allow_torn
        self._line = 0
        self._file = open_trace(self.path)
        self._closed = False
        try:
            self.header = self._read_header()
        except BaseException:
            self.close()
            raise
        self._rules = _Rules(self.path, self.header)

    def __enter__(self) -> TraceStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; more than once is harmless."""
        if not self._closed:
            self._closed = True
            self._file.close()

    def __iter__(self) -> Iterator[tuple[int, AnyEvent]]:
        empty = True
        try:
            while (record := self._next_record()) is not None:
                if isinstance(record, Header):
                    raise self._error("a second header", "keep one recording a file: split it here")
                self._rules.check(self._line, record)
                empty = False
                yield self._line, record
            if empty:
                raise TraceError(
                    self.path,
                    None,
                    "the trace has a header and no events",
                    f"{_RERECORD}: nothing was observed",
                )
        finally:
            self.close()

    def _read_header(self) -> Header:
        try:
            record = self._next_record()
        except TraceError as error:
            # Say which versions there are before complaining of the shape that a later version may have.
            raise self._newer_version(error) from None
        if record is None:
            raise TraceError(
                self.path,
                None,
                "the file is empty: no header and no events",
                f"give a recorded trace or {_RERECORD}",
            )
        if not isinstance(record, Header):
            raise self._error(
                f"the first line is {event_kind(record)!r}, not a header",
                "put the header that the recorder wrote first",
            )
        if (fault := header_fault(record)) is not None:
            raise self._error(*fault)
        return record

    def _newer_version(self, error: TraceError) -> TraceError:
        raw = self._raw
        try:
            found = msgspec.json.decode(raw, type=_VersionOnly)
        except (msgspec.DecodeError, RecursionError):
            return error
        if found.event == "header" and found.v not in (UNSET, FORMAT_VERSION):
            return self._error(
                f"the header's format version is {found.v}, known is {FORMAT_VERSION}",
                "use a matching release",
            )
        return error

    def _error(self, what: str, mend: str) -> TraceError:
        return TraceError(self.path, self._line, what, mend)

    def _next_record(self) -> Header | AnyEvent | None:
        while (raw := self._read_line()) is not None:
            if raw.strip():
                record = self._decode(raw)
                if record is not None:
                    return record
        return None

    def _read_line(self) -> bytes | None:
        """The next line with its newline, if it has one; None at the end of the file."""
        try:
            raw = self._file.readline(MAX_LINE_BYTES + 2)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._line += 1
            if isinstance(error, EOFError) and self._allow_torn and self._line > 1:
                self._warn("the gzip stream is cut short here; what follows is lost")
                return None
            self._raw = b""
            reason = "is cut short" if isinstance(error, EOFError) else "is damaged"
            mend = f"{_RERECORD}, or unpack what is left with zcat"
            torn = isinstance(error, EOFError) and self._line > 1
            raise TraceError(self.path, self._line, f"the gzip stream {reason}", mend, torn=torn) from None
        except OSError as error:
            raise TraceError(
                self.path, None, f"cannot be read: {error.strerror or error}", "look at the file system"
            ) from None
        if not raw:
            return None
        self._line += 1
        self._raw = raw
        if len(raw.rstrip(b"\n")) > MAX_LINE_BYTES:
            raise self._error(
                f"the line is longer than {MAX_LINE_BYTES // 1_000_000} MB",
                "record digests in place of large outcomes",
            )
        return raw

    def _warn(self, what: str) -> None:
        self.warnings.append(f"{self.path}:{self._line}: {what}")

    def _decode(self, raw: bytes) -> Header | AnyEvent | None:
        """The line's record; None for a torn last line that may be left out."""
        try:
            return decode_line(raw)
        except (ValueError, RecursionError) as error:
            if raw.endswith(b"\n") or not _is_malformed(error):
                raise self._error(*line_fault(error, raw)) from None
            if self._allow_torn and self._line > 1:
                self._warn("the last line was cut short and is left out")
                return None
            mend = "allow a torn last line (it is left out then) or record the trace again"
            if self._line == 1:
                mend = _RERECORD
            raise TraceError(
                self.path, self._line, "the last line is cut short", mend, torn=self._line > 1
            ) from None


class _VersionOnly(msgspec.Struct):
    """A header of whatever version."""

    event: str
    v: object = UNSET


def read_trace(path: str | Path, allow_torn: bool = False) -> Trace:
    """Read and check a whole trace.

    Args:
        path: the file, plain or gzip.
        allow_torn: leave out a last line that was cut short, with a warning, instead of refusing the file.

    Raises:
        TraceError: the file breaks a rule of the format, or cannot be read.
    """
    events: list[AnyEvent] = []
    lines: list[int] = []
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    with TraceStream(path, allow_torn=allow_torn) as stream:
        for line, event in stream:
            if event.op is not None:
                (begins if event.phase == "begin" else ends)[event.op] = len(events)
            events.append(event)
            lines.append(line)
    operations = {op: Operation(op, begin, ends.get(op)) for op, begin in begins.items()}
    return Trace(stream.path, stream.header, events, lines, operations, stream.warnings)


def decode_line(raw: bytes) -> Header | AnyEvent:
    """The record of one line, which keeps the rules that a line by itself has to keep.

    Raises:
        ValueError: it does not keep them, or is no JSON.
        RecursionError: it is nested too deeply.
    """
    record = _DECODER.decode(raw)
    json.loads(raw, object_pairs_hook=_refuse_repeated)
    return record


def is_cut_short(raw: bytes) -> bool:
    """Whether a line without a newline is one that was cut short: as far as it goes, nothing else is wrong with it."""
    if not raw.strip():
        return False
    try:
        decode_line(raw)
    except (ValueError, RecursionError) as error:
        return _is_malformed(error)
    return False


def line_fault(error: Exception, raw: bytes) -> tuple[str, str]:
    """What is wrong with a line that `decode_line` refused with this error, and the mend."""
    if isinstance(error, _RepeatedKey):
        return f"the field {error.key!r} stands twice in one object", "write each field once"
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply", "an event is a flat object: mend the recorder"
    if isinstance(error, msgspec.ValidationError):
        return _explain(error, raw)
    return _malformed(error, raw)


def _is_malformed(error: Exception) -> bool:
    return isinstance(error, msgspec.DecodeError) and not isinstance(error, msgspec.ValidationError)


def open_trace(path: Path) -> io.BufferedIOBase:
    """A trace's bytes, unpacked if need be.

    Raises:
        TraceError: it cannot be opened.
    """
    try:
        file = path.open("rb")
        if file.peek(2)[:2] == _GZIP_MAGIC:
            file.close()
            return gzip.open(path, "rb")
    except FileNotFoundError:
        raise TraceError(path, None, "there is no such file", "give the path of a recorded trace") from None
    except IsADirectoryError:
        raise TraceError(path, None, "is a folder", "give a trace file in it") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise TraceError(path, None, f"cannot be opened: {reason}", "look at its permissions") from None
    return file


def _explain(error: msgspec.ValidationError, raw: bytes) -> tuple[str, str]:
    """What a line of well-formed JSON has wrong, in the format's words, and the mend."""
    text, _, where = str(error).partition(" - at ")
    place = where.strip("`").removeprefix("$").removeprefix(".")
    text = text.replace("`", "")
    if not _is_utf8(raw):
        return _NOT_UTF8
    if not place and text.startswith("Expected object"):
        return f"the line is no JSON object ({text.lower()})", "an event is one JSON object a line"
    if text == "Object missing required field event":
        return "the line has no field 'event'", "name the kind of event in it"
    if place == "event":
        if text.startswith("Invalid value"):
            kind = text.removeprefix("Invalid value ")
            return f"unknown event kind {kind}", f"the kinds are {', '.join(sorted(EVENT_KINDS))}"
        return f"the field 'event' is wrong: {_lower(text)}", "name the kind of event in it"
    mend = "see docs/trace-format.md for the event's fields"
    if text.startswith(("Object missing required field ", "Object contains unknown field ")):
        verb = "is missing" if "missing" in text else "is unknown"
        name = text.rpartition(" ")[2]
        return f"the field '{place + '.' if place else ''}{name}' {verb}", mend
    return f"the field '{place}' is wrong: {_lower(text)}", mend


_NOT_UTF8: Final = ("the line is not UTF-8", "write the trace as UTF-8")


def _malformed(error: Exception, raw: bytes) -> tuple[str, str]:
    if raw.startswith(b"\xef\xbb\xbf"):
        return "the file starts with a byte order mark", "save it as UTF-8 without one"
    if not _is_utf8(raw):
        return _NOT_UTF8
    reason = str(error).removeprefix("JSON is malformed: ")
    mend = "one whole JSON object a line: a line was torn or joined with another, record the trace again"
    return f"the line is no JSON ({_lower(reason)})", mend


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


class _Rules:
    """What must hold between the lines of one trace."""

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._dynamic = header.program == "dynamic"
        self._kinds: dict[str, StepKind] = {
            step.step: step.kind for unit in header.units() for step in unit.steps
        }
        self._units = {unit.name: {step.step for step in unit.steps} for unit in header.units()}
        self._actors: dict[str, _ActorState] = {}
        self._operations: dict[str, _OpenOperation] = {}
        self._threads: dict[str, _ThreadState] = {}
        self._line = 0

    def check(self, line: int, event: AnyEvent) -> None:
        """Check one event against those before it; raises TraceError."""
        self._line = line
        self._check_order(event)
        self._check_bracket(event)
        self._check_branch(event)
        if (fault := end_fields_fault(event)) is not None:
            raise self._error(*fault)
        self._check_names(event)

    def _error(self, what: str, mend: str) -> TraceError:
        return TraceError(self._path, self._line, what, mend)

    def _check_order(self, event: Event) -> None:
        actor = self._actors.setdefault(event.actor, _ActorState())
        if event.seq != actor.seq + 1:
            who = f"actor {event.actor!r}"
            if event.seq == actor.seq:
                what = f"{who} has seq {event.seq} twice"
            elif event.seq <= actor.seq:
                what = f"{who} goes back from seq {actor.seq} to {event.seq}: its events are out of order"
            elif actor.seq == 0:
                what = f"{who} begins with seq {event.seq}: lines before it are missing"
            else:
                what = f"{who} jumps from seq {actor.seq} to {event.seq}: lines between them are missing"
            raise self._error(what, "keep each actor's lines whole and in the order written, 1, 2, 3, …")
        if event.t < actor.t:
            raise self._error(
                f"the time of actor {event.actor!r} goes back from {actor.t} to {event.t}",
                "take 't' from one monotonic clock",
            )
        actor.seq, actor.t = event.seq, event.t

    def _check_bracket(self, event: AnyEvent) -> None:
        if (fault := bracket_fault(event)) is not None:
            raise self._error(*fault)
        if event.op is None:
            return
        if event.phase == "begin":
            if (known := self._operations.get(event.op)) is not None:
                raise self._error(
                    f"operation {event.op!r} begins twice (first on line {known.line})",
                    "give every operation its own 'op'",
                )
            self._operations[event.op] = _OpenOperation(self._line, event)
            return
        opened = self._operations.get(event.op)
        if opened is None:
            raise self._error(
                f"operation {event.op!r} ends without a begin", "write the begin line before the store's call"
            )
        where = f"operation {event.op!r}, begun on line {opened.line},"
        if opened.ended is not None:
            raise self._error(
                f"{where} ends twice (first on line {opened.ended})", "give every operation its own 'op'"
            )
        if (fault := end_fault(opened.event, event, where)) is not None:
            raise self._error(*fault)
        opened.ended = self._line

    def _check_branch(self, event: AnyEvent) -> None:
        thread = self._threads.setdefault(event.thread, _ThreadState())
        if event.branch not in thread.branches:
            raise self._error(
                f"branch {event.branch!r} of thread {event.thread!r} was never forked",
                f"write a 'forked' event first; the root is {ROOT_BRANCH!r}",
            )
        if isinstance(event, Forked):
            if event.child == ROOT_BRANCH:
                raise self._error(
                    f"the root {ROOT_BRANCH!r} is forked as a child", "give the child its own name"
                )
            if event.phase != "begin":
                if (line := thread.forked_at.get(event.child)) is not None:
                    raise self._error(
                        f"branch {event.child!r} is forked twice (first on line {line})",
                        "give every fork its own name",
                    )
                thread.forked_at[event.child] = self._line
            thread.branches.add(event.child)

    def _check_names(self, event: AnyEvent) -> None:
        if self._dynamic:
            return
        match event:
            case Computed(step=step):
                self._known(step, "pure")
            case EffectFired(step=step):
                self._known(step, "effect")
            case Recorded(step=step) | MemoUsed(step=step):
                self._known(step, None)
            case Parked(gate=gate) | Answer(gate=gate) | GatePassed(gate=gate):
                self._known(gate, "gate")
            case Refused():
                self._known(event.step, None)
                self._known(event.gate, "gate")
                self._known_unit(event.unit)
            case Committed():
                self._known_unit(event.unit)
                for step in event.steps:
                    self._known_in(step, event.unit)
                self._check_outcomes(event)
                for unit in event.next:
                    self._known_unit(unit)
            case StoreRead():
                for checkpoint in event.checkpoints:
                    self._known_unit(checkpoint.unit)
                    for step in checkpoint.outcomes:
                        self._known(step, None)
                    for unit in checkpoint.next:
                        self._known_unit(unit)
                for gate in [*event.answers, *event.open_interrupts]:
                    self._known(gate, "gate")
            case _:
                pass

    def _check_outcomes(self, event: Committed) -> None:
        for step in event.outcomes:
            if step not in event.steps:
                raise self._error(
                    f"the outcome of {step!r} is committed, which is none of the committed steps",
                    "list it in 'steps'",
                )

    def _known(self, step: str | None, kind: StepKind | None) -> None:
        if step is None:
            return
        found = self._kinds.get(step)
        if found is None:
            raise self._error(
                f"unknown step {step!r}",
                f'the header\'s program has {", ".join(self._kinds)}; or say "dynamic" there',
            )
        if kind is not None and found != kind:
            raise self._error(
                f"step {step!r} is of kind {found!r} in the program, not {kind!r}", "mend the recorder"
            )

    def _known_in(self, step: str, unit: str) -> None:
        self._known(step, None)
        if step not in self._units[unit]:
            raise self._error(
                f"step {step!r} is none of unit {unit!r}", "name the unit that the checkpoint seals"
            )

    def _known_unit(self, unit: str | None) -> None:
        if unit is not None and unit not in self._units:
            raise self._error(
                f"unknown unit {unit!r}",
                f'the header\'s program has {", ".join(self._units)}; or say "dynamic" there',
            )
