"""The event log that the processes of one recording share: JSON Lines, appended to in single writes."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import msgspec

from trace_check.errors import RecordingError, TraceError
from trace_check.events import EVENT_TYPES, ROOT_BRANCH, AnyEvent, Event, Header
from trace_check.recording.lines import event_line, header_line, made

__all__ = ["EventLog", "Operation", "create_log", "drop_torn_tail", "read_events"]

_DECODER: Final = msgspec.json.Decoder(Header | AnyEvent)

_CLOSED = -1


class Operation:
    """An operation whose begin line is written; :meth:`end` writes the other."""

    def __init__(self, log: EventLog, op: str, begin: Event) -> None:
        self._log = log
        self._begin = begin
        self._ended = False
        self.op = op

    def end(self, **fields: Any) -> Event:
        """Write the end line: the begin's fields, with those known only now.

        Args:
            fields: what the end adds to the begin, or has otherwise.

        Raises:
            RecordingError: it has other fields, contradicts the begin, or there is an end.  Nothing was written.
        """
        begin = self._begin
        carried = {
            name: getattr(begin, name)
            for name in begin.__struct_fields__
            if name not in ("seq", "t", "phase", "op") and getattr(begin, name) is not msgspec.UNSET
        }
        return self._write(type(begin), carried | fields)

    def refuse(self, what: str, **fields: Any) -> Event:
        """Write an end line that says that the operation was refused.

        Args:
            what: see :class:`trace_check.events.Refused`.
            fields: its other fields.

        Raises:
            RecordingError: as for `end`.
        """
        return self._write(EVENT_TYPES["refused"], {"what": what, "branch": self._begin.branch} | fields)

    def _write(self, kind: type[Event], fields: dict[str, Any]) -> Event:
        if self._ended:
            raise RecordingError(f"operation {self.op!r} has ended", "give every operation its own begin")
        event = self._log._write(kind, fields | {"phase": "end", "op": self.op}, self._begin)
        self._ended = True
        return event


class EventLog:
    """One actor's pen on the shared log.

    Args:
        path: the log, made by :func:`create_log`.
        actor: this process incarnation.
        thread: the workflow instance that its events are about.
        first_seq: the seq of its first line; above 1 when a parent goes on in place of a dead child.

    Safe to use from several threads: a line's number and time are taken under the lock under which it is
    written, so the actor's lines reach the file in their order. No lock is held between two lines.

    Attributes:
        branch: the branch of events that name none; a recorder sets it when it learns where it is.
    """

    def __init__(self, path: Path, actor: str, thread: str, *, first_seq: int = 1) -> None:
        self.actor = actor
        self.thread = thread
        self.branch = ROOT_BRANCH
        self._lock = threading.Lock()
        self._seq = first_seq - 1
        self._ops = 0
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND)

    def __enter__(self) -> EventLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the log takes no more lines."""
        with self._lock:
            if self._fd != _CLOSED:
                os.close(self._fd)
            self._fd = _CLOSED

    def emit(self, kind: str, **fields: Any) -> Event:
        """Write an event that is one line; returns it.

        Args:
            kind: the event's kind.
            fields: its own fields, and ``branch`` where it is not the current one.

        Raises:
            RecordingError: a reader would refuse the line.  Nothing was written.
        """
        return self._write(EVENT_TYPES[kind], fields)

    def begin(self, kind: str, **fields: Any) -> Operation:
        """Write the begin line of an operation, just before its durable call; its errors are those of `emit`."""
        with self._lock:
            self._ops += 1
            op = f"{self.actor}.{self._ops}"
        record = self._write(EVENT_TYPES[kind], fields | {"phase": "begin", "op": op})
        return Operation(self, op, record)

    def _write(self, kind: type[Event], fields: dict[str, Any], begin: Event | None = None) -> Event:
        with self._lock:
            if self._fd == _CLOSED:  # another file may have its number by now
                raise RecordingError("the event log is closed", "write before close()")
            common = {"thread": self.thread, "branch": self.branch, "actor": self.actor}
            own = {"seq": self._seq + 1, "t": time.monotonic_ns()}
            record = made(kind, common | fields | own)
            _append(self._fd, event_line(record, begin))
            self._seq += 1
        return record


def create_log(path: Path, header: Header) -> None:
    """Make a new log with its header.

    Raises:
        RecordingError: a reader would refuse the header.
        FileExistsError: there is such a file.
    """
    line = header_line(header)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        _append(fd, line)
    finally:
        os.close(fd)


def read_events(path: Path) -> list[Event]:
    """The whole lines of a log that is still being written, its header left out.

    Raises:
        TraceError: it is no trace.
    """
    lines = path.read_bytes().split(b"\n")[:-1]
    found: list[Event] = []
    header: Header | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _DECODER.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise TraceError(path, number, f"is no line of a trace: {error}", "name a trace") from None
        if isinstance(record, Header) != (header is None):
            raise TraceError(path, number, "a trace has one header, its first line", "name a trace")
        if isinstance(record, Header):
            header = record
        else:
            found.append(record)
    if header is None:
        raise TraceError(path, None, "is no trace: it has no header", "name a trace")
    return found


def drop_torn_tail(path: Path) -> bool:
    """Cut a last line without a newline off the log; to be called only while no process writes to it.

    A process killed in the middle of a write leaves such a line: the event was not logged. Returns whether
    there was one.
    """
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole == len(data):
        return False
    with path.open("r+b") as file:
        file.truncate(whole)
    return True


def _append(fd: int, line: bytes) -> None:
    written = os.write(fd, line)
    if written != len(line):
        what = f"the event log took {written} of {len(line)} bytes of a line"
        raise RecordingError(what, "free space on the disk and record again")
