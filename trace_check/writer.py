"""Writes a trace from within a program of one's own: for a test, or for a recorder without the harness.

    >>> from trace_check.writer import TraceWriter, start_trace
    >>> start_trace(path, program="order: effect charge", observes="all")  # doctest: +SKIP
    >>> with TraceWriter(path, "worker-1") as log:  # doctest: +SKIP
    ...     log.emit("effect_fired", step="charge", key="k1", applied=True)
    ...     with log.operation("recorded", step="charge", outcome="ok"):
    ...         journal.write("charge", "ok")

Each process opens a writer of its own on the same file.  ``docs/trace-format.md`` says what each kind has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from trace_check.errors import RecordingError
from trace_check.events import ACTION_KINDS, EVENT_KINDS, FORMAT_VERSION, Event, Header, ProgramUnit
from trace_check.program_text import read_program
from trace_check.recording.log import EventLog, Operation, create_log, drop_torn_tail, read_events

__all__ = ["Bracket", "TraceWriter", "start_trace", "write_crash"]


def start_trace(
    path: Path,
    *,
    program: str | Sequence[ProgramUnit],
    observes: str | Iterable[str],
    sink: Literal["plain", "keyed"] = "plain",
    system: str = "under test",
    version: str = "-",
    store: str = "-",
    scenario: str = "-",
) -> None:
    """Make a new trace that has its header only.

    Args:
        path: a file that doesn't exist yet.
        program: in words (see `trace_check.program_text`), as units, or "dynamic".
        observes: the kinds of actions that the trace never misses; in one text, or "all" for every kind.
        sink: "plain" where every firing changes the world, "keyed" where only the first with a key does.
        system, version, store, scenario: what is recorded; they serve to tell traces apart.

    Raises:
        RecordingError: the program's text or a kind in `observes` says nothing, or a reader would refuse the header.
        FileExistsError: there is such a file.
    """
    kinds = observes.replace(",", " ").split() if isinstance(observes, str) else list(observes)
    if kinds == ["all"]:
        kinds = sorted(ACTION_KINDS)
    for kind in kinds:
        if kind not in ACTION_KINDS:
            raise RecordingError(
                f"observes names {kind!r}, no kind of action",
                f"the kinds are {', '.join(sorted(ACTION_KINDS))}",
            )
    if isinstance(program, str) and program != "dynamic":
        program = read_program(program)
    header = Header(
        v=FORMAT_VERSION,
        system=system,
        version=version,
        store=store,
        sink=sink,
        scenario=scenario,
        program="dynamic" if isinstance(program, str) else list(program),
        observes=kinds,
    )
    create_log(path, header)


class Bracket:
    """An operation whose begin line is written, inside of `TraceWriter.operation`."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self.is_open = True

    def end(self, **fields: Any) -> None:
        """Write the end line now, with what is known only now."""
        self._operation.end(**fields)
        self.is_open = False

    def refuse(self, what: str, **fields: Any) -> None:
        """Write an end line that says that it was refused; see `trace_check.events.Refused`."""
        self._operation.refuse(what, **fields)
        self.is_open = False


class TraceWriter(EventLog):
    """One actor's pen on a trace that `start_trace` made.

    Args:
        path: the trace.
        actor: this process incarnation; one started again is another actor.
        thread: the workflow instance.
    """

    def __init__(self, path: str | Path, actor: str, thread: str = "t1", *, first_seq: int = 1) -> None:
        super().__init__(Path(path), actor, thread, first_seq=first_seq)

    def emit(self, kind: str, **fields: Any) -> Event:
        """Write an event that is one line.

        Raises:
            RecordingError: there is no such kind, it has other fields, or a reader would refuse what they hold.  Nothing
                was written, and the writer goes on with the next event.
        """
        _require_kind(kind)
        return super().emit(kind, **fields)

    def begin(self, kind: str, **fields: Any) -> Operation:
        """Write the begin line of an operation; its errors are those of `emit`."""
        _require_kind(kind)
        return super().begin(kind, **fields)

    @contextmanager
    def operation(self, kind: str, **fields: Any) -> Iterator[Bracket]:
        """The two lines of an operation around the one durable call in the block.

        The end is written when the block is left, unless the block wrote it.  If the block raises, there is no end:
        the operation may have taken effect or not.
        """
        bracket = Bracket(self.begin(kind, **fields))
        yield bracket
        if bracket.is_open:
            bracket.end()


def write_crash(path: str | Path, actor: str, thread: str = "t1", **fields: Any) -> None:
    """Write that an actor's process ended in the middle; for its parent, after it waited for it.

    A line that the process left unfinished is cut off, so nobody else may be writing meanwhile.

    Args:
        fields: `signal` or `status`, and `branch` where it isn't the root.

    Raises:
        TraceError: the file is no trace; it is left as it is.
    """
    place = Path(path)
    last = max((event.seq for event in read_events(place) if event.actor == actor), default=0)
    drop_torn_tail(place)
    with TraceWriter(place, actor, thread, first_seq=last + 1) as log:
        log.emit("crashed", **fields)


def _require_kind(kind: str) -> None:
    if kind not in EVENT_KINDS:
        raise RecordingError(f"there is no event {kind!r}", f"the kinds are {', '.join(sorted(EVENT_KINDS))}")
