"""What the saver and the nodes of one process share, and the order into which they bring the framework's own writes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from trace_check.errors import RecordingError
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.probe import HOLD_SECONDS, Probe
from trace_check.recording.scenarios import Answering
from trace_check.recording.systems.langgraph.plan import Plan
from trace_check.recording.work import Work

__all__ = ["INPUT_STORED", "Session", "Writes"]

INPUT_STORED: Final = "input.committing"
"""The point before the checkpoint at which the first node runs: that of the input comes before it."""


class Writes:
    """Which of the writes that the framework hands to its pool of threads are done.

    It stores some of what it was given while the nodes already run: the input, an answer, a node's outcomes, with
    durability ``async`` the checkpoint before. Whichever comes first, and so what a SIGKILL finds, is the
    scheduler's choice. The recorder chooses: such a write is waited for, unless a scenario holds it back.

    Args:
        loose: the points before writes that are not waited for; None for all (durability ``exit`` makes none).
    """

    def __init__(self, loose: Iterable[str] | None = ()) -> None:
        self._loose = frozenset(loose) if loose is not None else None
        self._pending: dict[str, threading.Event] = {}
        self._made: set[str] = set()
        self._lock = threading.Lock()

    def expect(self, point: str) -> None:
        """The write before which that point comes will be made, or has been."""
        with self._lock:
            if self._loose is not None and point not in self._loose and point not in self._made:
                self._pending.setdefault(point, threading.Event())

    def done(self, point: str) -> None:
        """It was made, or failed."""
        with self._lock:
            self._made.add(point)
            pending = self._pending.pop(point, None)
        if pending is not None:
            pending.set()

    def wait(self, those: Iterable[str]) -> None:
        """Wait for those of these writes that are expected.

        Raises:
            RecordingError: one was not made in time.
        """
        with self._lock:
            pending = [(point, self._pending[point]) for point in those if point in self._pending]
        for point, event in pending:
            if not event.wait(HOLD_SECONDS):
                raise RecordingError(
                    f"LangGraph did not come to {point!r} in {HOLD_SECONDS:g} s", "mend the recorder"
                )


class Session:
    """What the saver and the nodes of one process share.

    Attributes:
        durability: LangGraph's ``sync``, ``async`` or ``exit``.
        writes: which of its writes are done.
        watched: the framework runs: its calls of the saver are events, the recorder's own are not.
        has_loaded: the process has read the branch to go on from there.
        sealed: the units that were sealed there.
        passed: the gates that this process passed, by key.
        refused: the parts whose outcomes the framework's codec refused, by key.
    """

    def __init__(
        self,
        plan: Plan,
        log: EventLog,
        work: Work,
        probe: Probe,
        branches: Branches,
        durability: str,
        writes: Writes,
    ) -> None:
        self.plan = plan
        self.log = log
        self.work = work
        self.probe = probe
        self.branches = branches
        self.durability = durability
        self.writes = writes
        self.watched = False
        self.has_loaded = False
        self.sealed: set[str] = set()
        self.passed: set[str] = set()
        self.refused: set[str] = set()
        self._answer: tuple[Answering, Operation] | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While the framework runs."""
        self.watched = True
        try:
            yield
        finally:
            self.watched = False

    def begin_answer(self, action: Answering, branch: str) -> None:
        """Begin the answer's bracket, just before it is handed over."""
        operation = self.log.begin(
            "answer",
            thread=action.thread,
            branch=branch,
            gate=action.gate,
            delivery=action.delivery,
            value=action.value,
        )
        self._answer = (action, operation)

    def answering(self) -> Answering | None:
        """The answer that was handed over and is not stored yet."""
        return self._answer[0] if self._answer is not None else None

    def end_answer(self, *, accepted: bool) -> None:
        """End the answer's bracket, if it is open."""
        answer, self._answer = self._answer, None
        if answer is not None:
            answer[1].end(accepted=accepted)
