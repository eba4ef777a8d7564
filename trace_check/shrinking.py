"""The shortest trace with the same verdict, by delta debugging.

Whole threads, stages, actors, branches and units are tried first, then steps, then single operations; a bracket is one
piece, its two lines stay or go together.  Every candidate is written and read as any trace is, so that what is left is
a trace that the reader takes.  A unit or a step that goes takes everything with it that speaks of it: its lines, its
part of commits and readings, and its place in the counts of those that name a position.

What comes out was never recorded: it is an example of the same violation.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from pymodel.errors import EngineError
from trace_check.checker import DEFAULT_BUDGET, Verdict, check_trace
from trace_check.errors import TraceError
from trace_check.events import (
    AnyEvent,
    CheckpointRead,
    Committed,
    Event,
    Forked,
    Header,
    Loaded,
    ProgramUnit,
    StoreRead,
    encode_line,
)
from trace_check.reader import Trace, read_trace

__all__ = ["Shrunk", "Size", "same_verdict", "shrink"]

_LEAST_BUDGET: Final = 2_000
_BUDGET_FACTOR: Final = 4

Piece = TypeVar("Piece", bound=Hashable)


@dataclass(frozen=True)
class Size:
    """How large a trace is."""

    events: int
    threads: int
    actors: int
    branches: int
    units: int
    steps: int

    @classmethod
    def of(cls, header: Header, events: Sequence[Event]) -> Size:
        """Of the records of a trace."""
        return cls(
            events=len(events),
            threads=len({event.thread for event in events}),
            actors=len({(event.thread, event.actor) for event in events}),
            branches=len({(event.thread, event.branch) for event in events}),
            units=len(header.units()),
            steps=sum(len(unit.steps) for unit in header.units()),
        )


@dataclass(frozen=True)
class Shrunk:
    """What a trace was shrunk to.

    Attributes:
        header, events: the records of the shrunk trace.
        verdict: on it.
        before, after: sizes.
        candidates: how many traces were checked on the way.
        undecided: how many of those that are one piece shorter than the result the search had no answer on within its
            budget; 0: nothing can be left out of the result.
    """

    header: Header
    events: tuple[Event, ...]
    verdict: Verdict
    before: Size
    after: Size
    candidates: int
    undecided: int

    def data(self) -> bytes:
        """The shrunk trace as a file."""
        return _encode(self.header, self.events)


def same_verdict(one: Verdict, other: Verdict) -> bool:
    """Do two verdicts say the same: clauses, certain or possible, explanations, and as many unmodelled events?"""
    return _said(one) == _said(other)


def _said(verdict: Verdict) -> tuple[object, ...]:
    clauses = frozenset((broken.clause, broken.certain) for broken in verdict.clauses)
    return verdict.verdict, clauses, verdict.explanations, len(verdict.unmodelled)


def shrink(
    trace: Trace, *, budget: int = DEFAULT_BUDGET, report: Callable[[str], None] = lambda _: None
) -> Shrunk:
    """The shortest trace found with the same verdict, of which no piece can be left out.

    Args:
        trace: one that violates.
        budget: of the search, for each thread.  A candidate gets less: no more than some times what the trace itself
            took, and where that is not enough it is not taken.
        report: told how far it is.

    Raises:
        TraceError: the trace conforms or can't be checked.
        EngineError: a thread doesn't fit the mirror's record.
    """
    verdict = check_trace(trace, budget=budget)
    if verdict.exit_status == 0:
        raise TraceError(
            trace.path, None, "it conforms: there is no violation to keep", "give a trace that violates"
        )
    if verdict.exit_status != 1:
        what = (
            (verdict.error or "it can't be checked")
            .removeprefix(f"{trace.path}: ")
            .removesuffix(": raise it")
        )
        raise TraceError(trace.path, None, what, "raise the budget")
    with tempfile.TemporaryDirectory(prefix="resume-contract-") as folder:
        shrinking = _Shrinking(trace, verdict, budget, Path(folder) / "candidate.jsonl", report)
        return shrinking.run()


@dataclass(frozen=True)
class _Cut:
    """What is left of a trace: pieces of it, without some steps, and with some readings that give no outcomes."""

    pieces: tuple[int, ...]
    gone: frozenset[str] = frozenset()
    bare: frozenset[int] = frozenset()


class _Shrinking:
    def __init__(
        self, trace: Trace, verdict: Verdict, budget: int, file: Path, report: Callable[[str], None]
    ) -> None:
        self.trace = trace
        self.wanted = verdict
        self.full_budget = budget
        self.budget = min(budget, max(_LEAST_BUDGET, _BUDGET_FACTOR * verdict.expanded))
        self.file = file
        self.report = report
        self.pieces = _pieces(trace)
        self.cut = _Cut(tuple(range(len(self.pieces))))
        self.answers: dict[_Cut, bool | None] = {}
        self.candidates = 0

    def run(self) -> Shrunk:
        self.keep_only_threads(self.threads_of_the_verdict())
        before = None
        while before != self.cut:
            before = self.cut
            for kind in (self.threads, self.stages, self.actors, self.branches):
                self.reduce(kind(), self.without_pieces)
            self.reduce(self.program(), self.without_steps)
            self.reduce([[step] for unit in self.program() for step in unit], self.without_steps)
            self.reduce([[piece] for piece in self.cut.pieces], self.without_pieces)
            self.reduce([[piece] for piece in self.readings()], self.with_bare)
        undecided = sum(self.answers.get(cut, None) is None for cut in self.one_shorter())
        header, events = _assemble(self.trace, self.pieces, self.cut) or (self.trace.header, ())
        self.file.write_bytes(_encode(header, events))
        verdict = check_trace(read_trace(self.file), budget=self.full_budget)
        return Shrunk(
            header=header,
            events=tuple(events),
            verdict=verdict,
            before=Size.of(self.trace.header, self.trace.events),
            after=Size.of(header, events),
            candidates=self.candidates,
            undecided=undecided,
        )

    # -- candidates

    def attempt(self, cut: _Cut | None) -> bool:
        """Go on with a candidate if its verdict is the same."""
        if cut is None or cut == self.cut or not cut.pieces:
            return False
        if cut not in self.answers:
            self.answers[cut] = self.is_same(cut)
        if not self.answers[cut]:
            return False
        self.cut = cut
        return True

    def is_same(self, cut: _Cut) -> bool | None:
        """Is the candidate's verdict the same?  None: the search had no answer."""
        assembled = _assemble(self.trace, self.pieces, cut)
        if assembled is None:
            return False
        self.candidates += 1
        self.report(f"{len(assembled[1])} of {len(self.trace.events)} events, candidate {self.candidates}")
        self.file.write_bytes(_encode(*assembled))
        try:
            verdict = check_trace(read_trace(self.file), budget=self.budget)
        except (TraceError, EngineError):
            return False  # no trace that the reader takes
        return None if verdict.exit_status == 2 else same_verdict(verdict, self.wanted)

    def without_pieces(self, pieces: Iterable[int]) -> _Cut:
        away = set(pieces)
        return replace(self.cut, pieces=tuple(piece for piece in self.cut.pieces if piece not in away))

    def without_steps(self, steps: Iterable[str]) -> _Cut:
        gone = self.cut.gone.union(steps)
        units = _names_of_units(self.trace.header.units(), gone)
        left = tuple(
            piece
            for piece in self.cut.pieces
            if not any(_is_about(self.trace.events[at], gone, units) for at in self.pieces[piece])
        )
        return replace(self.cut, pieces=left, gone=gone)

    def with_bare(self, readings: Iterable[int]) -> _Cut:
        return replace(self.cut, bare=self.cut.bare.union(readings))

    def one_shorter(self) -> list[_Cut]:
        """All candidates that are one piece, step or reading shorter than what is left."""
        steps = [step for unit in self.program() for step in unit]
        return [
            *(self.without_pieces([piece]) for piece in self.cut.pieces if len(self.cut.pieces) > 1),
            *(self.without_steps([step]) for step in steps if len(steps) > 1),
            *(self.with_bare([piece]) for piece in self.readings()),
        ]

    def reduce(self, groups: Iterable[Sequence[Piece]], without: Callable[[Iterable[Piece]], _Cut]) -> None:
        """Leave out as many groups as can be: halves first, single ones last, until none can be left out."""
        left = [group for group in groups if group]
        size = max(1, len(left) // 2)
        while left:
            found = False
            at = 0
            while at < len(left):
                some = left[at : at + size]
                if self.attempt(without([one for group in some for one in group])):
                    del left[at : at + size]
                    found = True
                else:
                    at += size
            if size == 1 and not found:
                return
            size = max(1, size // 2)

    # -- groups of what is left

    def program(self) -> list[list[str]]:
        """The steps that are left, by units."""
        units = self.trace.header.units()
        left = [[step.step for step in unit.steps if step.step not in self.cut.gone] for unit in units]
        return [steps for steps in left if steps]

    def readings(self) -> list[int]:
        """The readings of the store that give outcomes."""
        events = {piece: self.trace.events[self.pieces[piece][0]] for piece in self.cut.pieces}
        return [
            piece
            for piece, event in events.items()
            if isinstance(event, StoreRead)
            and piece not in self.cut.bare
            and any(checkpoint.outcomes or checkpoint.next for checkpoint in event.checkpoints)
        ]

    def grouped(self, key: Callable[[AnyEvent], Hashable]) -> list[list[int]]:
        found: dict[Hashable, list[int]] = {}
        for piece in self.cut.pieces:
            found.setdefault(key(self.trace.events[self.pieces[piece][-1]]), []).append(piece)
        return list(found.values())

    def threads(self) -> list[list[int]]:
        return self.grouped(lambda event: event.thread)

    def actors(self) -> list[list[int]]:
        return self.grouped(lambda event: (event.thread, event.actor))

    def branches(self) -> list[list[int]]:
        """For each branch but the root what is said of it and of those that were forked from it, and the forks."""
        events = [(piece, self.trace.events[self.pieces[piece][-1]]) for piece in self.cut.pieces]
        forks = {(e.thread, e.child): e.branch for _, e in events if isinstance(e, Forked)}

        def line(thread: str, branch: str | None) -> set[str]:
            found: set[str] = set()
            while branch is not None and branch not in found:
                found.add(branch)
                branch = forks.get((thread, branch))
            return found

        return [
            [
                piece
                for piece, event in events
                if event.thread == thread
                and child in line(thread, event.child if isinstance(event, Forked) else event.branch)
            ]
            for thread, child in forks
        ]

    def stages(self) -> list[list[int]]:
        """What lies between readings of the store, each with the reading that ends it."""
        found: list[list[int]] = [[]]
        for piece in self.cut.pieces:
            found[-1].append(piece)
            if isinstance(self.trace.events[self.pieces[piece][0]], StoreRead):
                found.append([])
        return found

    def threads_of_the_verdict(self) -> set[str]:
        numbers = [*self.wanted.unmodelled]
        if self.wanted.first_unexplained is not None:
            numbers.append(self.wanted.first_unexplained.event)
        named = {self.trace.events[number - 1].thread for number in numbers}
        return named | {broken.thread for broken in self.wanted.clauses}

    def keep_only_threads(self, names: set[str]) -> None:
        """A first guess, where there are many."""
        events, pieces = self.trace.events, self.pieces
        left = tuple(piece for piece in self.cut.pieces if events[pieces[piece][0]].thread in names)
        self.attempt(replace(self.cut, pieces=left))


# ----------------------------------------------------------------------------------------------------------------
# From what is left to a trace


def _pieces(trace: Trace) -> list[tuple[int, ...]]:
    """Positions of events that stay or go together: an operation's lines, or one line; in the order of their first."""
    ends = {operation.begin: operation.end for operation in trace.operations.values()}
    second = {end for end in ends.values() if end is not None}
    return [
        (at,) if (end := ends.get(at)) is None else (at, end)
        for at in range(len(trace.events))
        if at not in second
    ]


def _encode(header: Header, events: Iterable[Event]) -> bytes:
    return b"".join([encode_line(header), *map(encode_line, events)])


def _names_of_units(units: Iterable[ProgramUnit], gone: frozenset[str]) -> set[str]:
    """The units of which no step is left."""
    return {unit.name for unit in units if all(step.step in gone for step in unit.steps)}


def _is_about(event: Event, gone: frozenset[str], units: set[str]) -> bool:
    """Is an event about a step, a gate or a unit that has gone?"""
    if getattr(event, "step", None) in gone or getattr(event, "gate", None) in gone:
        return True
    return getattr(event, "unit", None) in units


def _assemble(
    trace: Trace, pieces: Sequence[tuple[int, ...]], cut: _Cut
) -> tuple[Header, list[Event]] | None:
    """The records of what is left; None where no program is left."""
    header = trace.header
    view = _View(trace, cut.gone)
    if cut.gone:
        program = [unit for unit in map(view.unit, header.units()) if unit.steps]
        if not program:
            return None
        header = msgspec.structs.replace(header, program=program)
    bare = {pieces[piece][0] for piece in cut.bare}
    counts: dict[str, int] = {}
    events: list[Event] = []
    for at in sorted(at for piece in cut.pieces for at in pieces[piece]):
        event: Event = trace.events[at]
        if cut.gone:
            event = view.event(event)
        if at in bare and isinstance(event, StoreRead):
            plain = [msgspec.structs.replace(one, outcomes={}, next=[]) for one in event.checkpoints]
            event = msgspec.structs.replace(event, checkpoints=plain)
        counts[event.actor] = counts.get(event.actor, 0) + 1
        events.append(msgspec.structs.replace(event, seq=counts[event.actor]))
    return header, events


class _View:
    """A trace's records without some steps, and without the units that have none left."""

    def __init__(self, trace: Trace, gone: frozenset[str]) -> None:
        units = trace.header.units()
        self.gone = gone
        self.units = _names_of_units(units, gone)
        self.order = [unit.name for unit in units]
        # A checkpoint that seals a unit no more is looked past, as those are that a framework stores besides.
        self.past: dict[str, str | None] = {}
        if self.units:
            for event in trace.events:
                if isinstance(event, Committed) and event.unit in self.units:
                    self.past[event.checkpoint] = event.parent
                elif isinstance(event, StoreRead):
                    self.past |= {c.id: c.parent for c in event.checkpoints if c.unit in self.units}

    def unit(self, unit: ProgramUnit) -> ProgramUnit:
        before = {step.step: step.after for step in unit.steps}

        def after(names: Iterable[str]) -> list[str]:
            found: dict[str, None] = {}
            for name in names:
                found |= dict.fromkeys(after(before[name]) if name in self.gone else [name])
            return list(found)

        left = [
            msgspec.structs.replace(step, after=after(step.after))
            for step in unit.steps
            if step.step not in self.gone
        ]
        return msgspec.structs.replace(unit, steps=left)

    def event(self, event: Event) -> Event:
        """An event that is about nothing that has gone, but may name some of it."""
        if isinstance(event, Loaded | Forked) and event.index is not UNSET and event.checkpoint is not UNSET:
            index = self.index(event.index)
            name = self.checkpoint(event.checkpoint) if index else None
            return msgspec.structs.replace(event, index=index, checkpoint=name)
        if isinstance(event, Committed):
            return msgspec.structs.replace(
                event,
                steps=[step for step in event.steps if step not in self.gone],
                outcomes={step: o for step, o in event.outcomes.items() if step not in self.gone},
                parent=self.checkpoint(event.parent),
                next=self.following(event.next),
            )
        if isinstance(event, StoreRead):
            return msgspec.structs.replace(
                event,
                checkpoints=[self.read(one) for one in event.checkpoints if one.unit not in self.units],
                answers={gate: given for gate, given in event.answers.items() if gate not in self.gone},
                open_interrupts=[gate for gate in event.open_interrupts if gate not in self.gone],
            )
        return event

    def read(self, one: CheckpointRead) -> CheckpointRead:
        return msgspec.structs.replace(
            one,
            parent=self.checkpoint(one.parent),
            outcomes={step: o for step, o in one.outcomes.items() if step not in self.gone},
            next=self.following(one.next),
        )

    def index(self, index: int) -> int:
        """How many of the units up to a position are left."""
        return index - sum(name in self.units for name in self.order[:index])

    def checkpoint(self, name: str | None) -> str | None:
        seen: set[str] = set()
        while name is not None and name in self.past and name not in seen:
            seen.add(name)
            name = self.past[name]
        return name

    def following(self, units: Iterable[str]) -> list[str]:
        """What is declared to come next, past the units that have gone."""
        found: dict[str, None] = {}
        for name in units:
            left = [other for other in self.order[self.order.index(name) :] if other not in self.units]
            found |= dict.fromkeys([name] if name not in self.units else left[:1])
        return list(found)
