"""What one thread of a trace shows, in the mirror's terms: observations with intervals, and numbers for names.

An observation took effect at one moment after line ``low`` and not after line ``high``.  A bracket's interval is its
two lines; a line of its own was written after the fact, so that its interval begins at the actor's line before (the
sink's too: it keeps the effect first, and its line in the log follows); a reading of the store is exact.  An
operation without an end has no ``high``, and neither has the death of its process: what the process had begun may
still happen after it is gone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import msgspec
from msgspec import UNSET

from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program, Step
from trace_check.brackets import as_refused
from trace_check.crews import crew_sizes
from trace_check.events import (
    ROOT_BRANCH,
    Answer,
    AnyEvent,
    Committed,
    Completed,
    Computed,
    Crashed,
    EffectFired,
    Failed,
    Forked,
    GatePassed,
    Loaded,
    MemoUsed,
    Parked,
    Recorded,
    Refused,
    StoreRead,
    Value,
    event_kind,
    value_key,
)
from trace_check.learning import Learned, learn
from trace_check.reader import Trace

__all__ = ["HARNESS", "Observation", "Thread", "content_of", "threads"]

HARNESS = "harness"
_RUNNERS = frozenset(
    {Loaded, Computed, EffectFired, Recorded, MemoUsed, Parked, GatePassed, Refused, Committed}
)
_OUTSIDE = ("paused", "continued")  # the process is stopped or goes on: nothing of the model changes
_WHO_AND_WHEN = frozenset(
    {"seq", "t", "actor", "op", "phase", "inferred", "key", "checkpoint", "parent", "error"}
)
_UNSEEN_ANSWERS = 3  # kept by one gate, where they are not shown
_UNSEEN_COMPUTATIONS = 4  # different ones of one step, where they are not shown


class Observation(msgspec.Struct, frozen=True):
    """One event, or the two lines of one operation.

    Attributes:
        event: the line that says most: the end of a bracket if there is one.
        position: the event's number in the trace, from 1 (of the begin where there is no end).
        low, high: the interval, as such numbers; ``high`` is infinite for an operation without an end.
        pending: the operation has no end: it may have taken effect or not.
    """

    event: AnyEvent
    position: int
    low: float
    high: float
    pending: bool = False

    @property
    def kind(self) -> str:
        """The kind of the event."""
        return event_kind(self.event)


def content_of(observation: Observation) -> tuple[object, ...]:
    """What an observation says, but for who did it and when."""
    event = observation.event
    return (
        observation.kind,
        observation.pending,
        tuple(repr(getattr(event, name)) for name in _said(type(event))),
    )


@cache
def _said(kind: type[AnyEvent]) -> tuple[str, ...]:
    """The fields of such an event that matter, whoever did it and when."""
    return tuple(name for name in kind.__struct_fields__ if name not in _WHO_AND_WHEN)


@dataclass
class Thread:
    """One workflow instance of a trace, with the numbers that the mirror uses for its names.

    Attributes:
        runners: for each actor its runners: one, unless it runs unordered steps at once (see `trace_check.crews`).
        outcomes: for each step, the values that the trace shows of it (of a gate, the answers).
        working: for each actor that runs something, the branches on which it is seen to.
        died: for each actor that crashed, the position of the line that says so.
        unpromised: steps of which nothing was promised to be shown: a dynamic program's that are known by name only.
        computations: for each step how often it is shown to yield a valid outcome, whatever the branch.
    """

    name: str
    program: Program
    sink: str
    observes: frozenset[str]
    observations: list[Observation] = field(default_factory=list)
    runners: dict[str, range] = field(default_factory=dict)
    branches: dict[str, int] = field(default_factory=lambda: {ROOT_BRANCH: 1})
    deliveries: dict[tuple[str, str], int] = field(default_factory=dict)
    values: dict[object, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, set[int]] = field(default_factory=dict)
    working: dict[str, set[str]] = field(default_factory=dict)
    died: dict[str, int] = field(default_factory=dict)
    unpromised: frozenset[str] = frozenset()
    answers: int = 0
    commits: int = 0
    computations: dict[str, int] = field(default_factory=dict)

    def value(self, value: Value) -> int:
        """The number of an outcome or an answer."""
        return self.values.setdefault(value_key(value), len(self.values) + 1)

    def step(self, name: str) -> int:
        """The number of a step."""
        return self.program.number(name)

    def widened(self) -> Thread | None:
        """The same with a crew for every actor that runs unordered steps, even one after the other; None: it has them."""
        runners = _runners(self, wide=True)
        return None if runners == self.runners else replace(self, runners=runners)

    def bounds(self) -> Bounds:
        """Bounds that hold whatever the thread shows.

        Raises:
            ModelError: the thread is too large for the record's bytes.
        """
        deliveries = max(1, self.answers) + (0 if "answer" in self.observes else _UNSEEN_ANSWERS)
        values = max(2, len(self.values), deliveries)
        shown = max(self.computations.values(), default=0)
        may_compute_unseen = "computed" not in self.observes or self.unpromised
        return Bounds(
            runners=max(1, sum(map(len, self.runners.values()))),
            branches=len(self.branches),
            answers=deliveries,
            values=values,
            crashes=255,
            expiries=255,
            invalid=255,
            length=min(255, len(self.program.units) + self.commits),
            computations=min(255, max(1, shown + (_UNSEEN_COMPUTATIONS if may_compute_unseen else 0))),
            applied=255,
        )


def threads(trace: Trace) -> list[Thread]:
    """The threads of a trace, in the order in which they begin.

    Raises:
        TraceError: the program is dynamic, and a thread has none that can be learned.
    """
    header = trace.header
    found: dict[str, Thread] = {}
    last: dict[tuple[str, str], int] = {}
    latest: dict[tuple[str, str], int] = {}
    unfinished: set[tuple[str, str]] = set()
    begun = {operation.begin: operation for operation in trace.operations.values()}
    ended = {operation.end: operation for operation in trace.operations.values() if operation.end is not None}
    programs = _Programs(trace)
    for index, said in enumerate(trace.events):
        position = index + 1
        thread = found.get(said.thread)
        if thread is None:
            learned = programs.of(said.thread)
            thread = Thread(
                said.thread,
                learned.program,
                header.sink,
                frozenset(header.observes),
                units=learned.units,
                unpromised=learned.unpromised,
            )
            found[said.thread] = thread
        event = programs.event(index)
        before = last.get((event.thread, event.actor), 0)
        last[event.thread, event.actor] = position
        if event_kind(event) in _OUTSIDE:
            continue
        if index in begun:
            latest[event.thread, event.actor] = position
        if index in begun and begun[index].end is not None:
            continue  # its end says more
        _learn(thread, event, position)
        if index in begun:
            unfinished.add((event.thread, event.actor))
            thread.observations.append(Observation(event, position, position, math.inf, pending=True))
        elif index in ended:
            if isinstance(event, Refused):
                event = as_refused(programs.event(ended[index].begin), event)
            thread.observations.append(Observation(event, position, ended[index].begin + 1, position))
        else:
            low = position if isinstance(event, StoreRead) else before
            if isinstance(event, (Completed, Failed)):
                # What the caller was told was so when the process's last operation took effect; it may be over since.
                low = min(low, latest.get((event.thread, event.actor), low))
            outlived = isinstance(event, Crashed) and (event.thread, event.actor) in unfinished
            thread.observations.append(Observation(event, position, low, math.inf if outlived else position))
    for thread in found.values():
        thread.observations.sort(key=lambda o: (o.low, o.high))
        thread.runners = _runners(thread, wide=False)
    return list(found.values())


class _Programs:
    """The program of each thread: that of the header, or what its events teach."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._learned: dict[str, Learned] = {}
        self._static: Learned | None = None
        units = trace.header.units()
        if units:
            program = Program(
                trace.header.scenario,
                tuple(
                    tuple(Step(step.step, step.kind, tuple(step.after)) for step in unit.steps)
                    for unit in units
                ),
            )
            numbers = {unit.name: number for number, unit in enumerate(units, 1)}
            self._static = Learned(program, numbers, frozenset(), {})
            return
        own: dict[str, dict[int, AnyEvent]] = {}
        for index, event in enumerate(trace.events):
            own.setdefault(event.thread, {})[index] = event
        for thread, events in own.items():
            self._learned[thread] = learn(
                trace.path, thread, frozenset(trace.header.observes), events, trace.lines
            )

    def of(self, thread: str) -> Learned:
        """A thread's program."""
        return self._static or self._learned[thread]

    def event(self, index: int) -> AnyEvent:
        """An event in the names of its thread's program."""
        event = self._trace.events[index]
        return event if self._static else self._learned[event.thread].events[index]


def _runners(thread: Thread, wide: bool) -> dict[str, range]:
    """The runners of every actor."""
    sizes = crew_sizes(thread.program, thread.observes, thread.observations, wide=wide)
    found, number = {}, 1
    for actor in thread.runners:
        size = sizes.get(actor, 1)
        found[actor] = range(number, number + size)
        number += size
    return found


def _learn(thread: Thread, event: AnyEvent, position: int) -> None:
    """Number the names that an event brings."""
    runs = type(event) in _RUNNERS
    if event.actor != HARNESS and (runs or isinstance(event, Crashed)):
        thread.runners.setdefault(event.actor, range(0))
    for step, value in _values(event):
        number = thread.value(value)
        if step is not None:
            thread.outcomes.setdefault(step, set()).add(number)
    if runs:
        thread.working.setdefault(event.actor, set()).add(event.branch)
    match event:
        case Computed(valid=True):
            thread.computations[event.step] = thread.computations.get(event.step, 0) + 1
        case Committed():
            thread.commits += 1
        case Answer():
            thread.answers += 1
            thread.deliveries.setdefault((event.gate, event.delivery), len(thread.deliveries) + 1)
        case Crashed():
            thread.died[event.actor] = position
        case Forked():
            thread.branches.setdefault(event.child, len(thread.branches) + 1)


def _values(event: AnyEvent) -> Iterator[tuple[str | None, Value]]:
    """The values in an event, each with the step whose outcome (or the gate whose answer) it is."""
    if isinstance(event, (Computed, EffectFired, Recorded)):
        yield event.step, event.outcome
    elif isinstance(event, (Completed, Failed)):
        yield None, event.outcome
    elif isinstance(event, Committed):
        yield from event.outcomes.items()
    elif isinstance(event, Answer) or (isinstance(event, GatePassed) and event.value is not UNSET):
        yield event.gate, event.value  # type: ignore[misc]
    elif isinstance(event, StoreRead):
        for checkpoint in event.checkpoints:
            yield from checkpoint.outcomes.items()
        for gate, answers in event.answers.items():
            for answer in answers:
                yield gate, answer
