"""Checks a trace against the reference: does it conform, and if not, what breaks, where, and through which faults?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pymodel.errors import EngineError
from pymodel.resume.fault_names import fault_names
from trace_check.diagnosis import closest
from trace_check.errors import TraceError
from trace_check.exercise import exercised
from trace_check.explained import ALL_CLAUSES, Explained, Node, Way, breaks
from trace_check.explaining import explain_thread
from trace_check.matching import Matcher
from trace_check.observations import Observation, Thread, threads
from trace_check.printing import printable
from trace_check.reader import Trace, read_trace
from trace_check.stuck import stuck_before

__all__ = [
    "DEFAULT_BUDGET",
    "BrokenClause",
    "Earlier",
    "Unexplained",
    "Verdict",
    "broken_at",
    "check_file",
    "check_trace",
    "unreadable",
]

DEFAULT_BUDGET = 200_000
"""Places of the search that are expanded at most, for each thread."""

OnExplained = Callable[[Matcher, Explained], None]

CONFORMS, VIOLATES, UNCHECKED = "conforms", "violates", "unchecked"


@dataclass(frozen=True)
class BrokenClause:
    """A clause that breaks: the event (from 1) where it does, and whether it does in every smallest explanation."""

    clause: str
    event: int
    certain: bool
    thread: str = ""


@dataclass(frozen=True)
class Earlier:
    """An event that shows that a condition does not hold: its number, its line, what it says, who did it."""

    event: int
    line: int
    kind: str
    actor: str


@dataclass(frozen=True)
class Unexplained:
    """The first event that the reference can't explain.

    Attributes:
        event: its number, from 1.
        line: its line in the file.
        kind: what it says.
        closest: the action it comes closest to.
        condition: the first condition of that action that fails.
        holding, conditions: how many of its conditions hold, of how many.
        candidates: how many states the system could have been in before it.
        earlier: the last event before it that shows that the condition does not hold; None where no single one does.
    """

    event: int
    line: int
    kind: str
    closest: str
    condition: str
    holding: int
    conditions: int
    candidates: int
    earlier: Earlier | None = None


@dataclass(frozen=True)
class Verdict:
    """What the checker says of one trace.  It speaks of the recorded schedule only.

    Attributes:
        file: the trace.
        verdict: "conforms", "violates" or "unchecked".
        clauses: the clauses that break.
        explanations: the smallest sets of faults that explain the trace, but for `unmodelled`; [()] where none is needed.
        unmodelled: events (from 1) that no fault accounts for.
        smallest: whether it is known that no smaller set of faults explains the trace; where events are unmodelled, that
            none does.
        unmodelled_lines: the lines of these in the file.
        first_unexplained: the first event that the reference can't explain, None where it can explain all.
        hidden_steps: steps that the explanation had to suppose.
        exercised: the clauses that the events put to a test.
        threads: how many workflow instances the trace has.
        expanded: places of the search that were looked at.
        warnings: what the reader left out.
        error: why it is unchecked.
        left_out: of a log of many threads, how many more events there are of a clause, or "unmodelled", than are listed.
        left_out_at: of these clauses, at which events they break, as `event_about` has it; each once.
    """

    file: str
    verdict: str
    clauses: tuple[BrokenClause, ...] = ()
    explanations: tuple[tuple[str, ...], ...] = ()
    unmodelled: tuple[int, ...] = ()
    smallest: bool = True
    first_unexplained: Unexplained | None = None
    hidden_steps: int = 0
    exercised: tuple[str, ...] = ()
    threads: int = 0
    expanded: int = 0
    warnings: tuple[str, ...] = ()
    error: str | None = None
    left_out: tuple[tuple[str, int], ...] = ()
    left_out_at: tuple[tuple[str, str], ...] = ()
    unmodelled_lines: tuple[int, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 conforms, 1 violates, 2 could not be checked."""
        return {CONFORMS: 0, VIOLATES: 1}.get(self.verdict, 2)

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON values; see docs/json.md."""
        first = self.first_unexplained
        return {
            "file": self.file,
            "verdict": self.verdict,
            "clauses": [
                {"clause": b.clause, "event": b.event, "certain": b.certain, "thread": b.thread}
                for b in self.clauses
            ],
            "explanations": [list(names) for names in self.explanations],
            "unmodelled": list(self.unmodelled),
            "smallest": self.smallest,
            "unmodelled_lines": list(self.unmodelled_lines),
            "first_unexplained": None
            if first is None
            else {
                "event": first.event,
                "line": first.line,
                "kind": first.kind,
                "closest": first.closest,
                "condition": first.condition,
                "holding": first.holding,
                "conditions": first.conditions,
                "candidates": first.candidates,
                "earlier": None if first.earlier is None else asdict(first.earlier),
            },
            "hidden_steps": self.hidden_steps,
            "exercised": list(self.exercised),
            "threads": self.threads,
            "warnings": list(self.warnings),
            "error": self.error,
            "left_out": dict(self.left_out),
        }


@dataclass
class _ThreadVerdict:
    clauses: list[BrokenClause] = field(default_factory=list)
    explanations: list[tuple[str, ...]] = field(default_factory=list)
    unmodelled: tuple[int, ...] = ()
    first: Unexplained | None = None
    hidden: int = 0


def check_file(path: str | Path, *, allow_torn: bool = False, budget: int = DEFAULT_BUDGET) -> Verdict:
    """Check one trace file.  A file that can't be read gives the verdict "unchecked", with the reason.

    Args:
        path: JSON Lines, plain or gzip.
        allow_torn: leave out a last line that was cut short, with a warning.
        budget: places of the search to expand at most, for each thread.
    """
    try:
        return check_trace(read_trace(path, allow_torn=allow_torn), budget=budget)
    except (TraceError, EngineError) as error:
        return unreadable(path, error, lambda: check_file(path, allow_torn=True, budget=budget))


def unreadable(
    path: str | Path, error: TraceError | EngineError, check_rest: Callable[[], Verdict]
) -> Verdict:
    """The verdict on a file that can't be checked; of one that is torn it says what the whole lines come to.

    Args:
        path: the file.
        error: what is wrong.
        check_rest: checks the file without its torn last line.
    """
    text = printable(str(error))
    if isinstance(error, TraceError) and error.torn:
        text += f"; {_before_the_tear(check_rest())}"
    return Verdict(
        str(path), UNCHECKED, error=text if (name := printable(str(path))) in text else f"{name}: {text}"
    )


def _before_the_tear(rest: Verdict) -> str:
    """What is to be said of the whole lines of a file that was cut short."""
    if rest.verdict == CONFORMS:
        return "what comes before it conforms"
    if rest.verdict == UNCHECKED:
        return "what comes before it can't be checked either"
    broken = (
        ", ".join(f"{b.clause} at event {b.event}" for b in rest.clauses) or "at an event nothing explains"
    )
    return f"what comes before it violates {broken}"


def check_trace(
    trace: Trace, *, budget: int = DEFAULT_BUDGET, on_explained: OnExplained | None = None
) -> Verdict:
    """Check a trace that was read.

    Args:
        trace: the trace.
        budget: places of the search to expand at most, for each thread.
        on_explained: told what the search found of each thread, and by which steps.

    Raises:
        TraceError: the program is dynamic.
        EngineError: a thread doesn't fit the mirror's record.
    """
    found = threads(trace)
    clauses: list[BrokenClause] = []
    explanations: list[tuple[str, ...]] = [()]
    unmodelled: list[int] = []
    first: Unexplained | None = None
    hidden = expanded = 0
    smallest = True
    for thread in found:
        matcher, explained = explain_thread(thread, budget)
        if on_explained is not None:
            on_explained(matcher, explained)
        expanded += explained.expanded
        smallest = smallest and explained.smallest
        if not explained.goals:
            return Verdict(
                str(trace.path),
                UNCHECKED,
                threads=len(found),
                expanded=expanded,
                warnings=tuple(trace.warnings),
                error=printable(
                    f"{trace.path}: thread {thread.name}: the search budget of {budget} is used up: raise it"
                ),
            )
        verdict = _judge(matcher, thread, explained, trace)
        clauses += verdict.clauses
        explanations = sorted({tuple(sorted({*a, *b})) for a in explanations for b in verdict.explanations})
        unmodelled += verdict.unmodelled
        hidden += verdict.hidden
        if verdict.first is not None and (first is None or verdict.first.event < first.event):
            first = verdict.first
    conforms = not clauses and not unmodelled and explanations == [()]
    return Verdict(
        str(trace.path),
        CONFORMS if conforms else VIOLATES,
        clauses=tuple(sorted(clauses, key=lambda b: (b.event, ALL_CLAUSES.index(b.clause)))),
        explanations=tuple(explanations),
        unmodelled=tuple(sorted(unmodelled)),
        smallest=smallest,
        unmodelled_lines=tuple(trace.lines[event - 1] for event in sorted(unmodelled)),
        first_unexplained=first,
        hidden_steps=hidden,
        exercised=exercised(found, (b.clause for b in clauses)),
        threads=len(found),
        expanded=expanded,
        warnings=tuple(trace.warnings),
    )


def _judge(matcher: Matcher, thread: Thread, explained: Explained, trace: Trace) -> _ThreadVerdict:
    """From the cheapest explanations to what is said of a thread."""
    goals = explained.goals
    clean = [g for g in goals if not (g.faults or g.unmodelled or g.broken)]
    verdict = _ThreadVerdict()
    verdict.hidden = min(sum(i is None for _, _, i in way) for way in _ways(explained, clean or goals))
    if clean:
        verdict.explanations = [()]
        return verdict
    verdict.explanations = sorted({fault_names(g.faults) for g in goals})
    verdict.unmodelled = min(g.unmodelled for g in goals)
    for bit, clause in enumerate(ALL_CLAUSES):
        breaking = [g for g in goals if breaks(g, bit)]
        if breaking:
            where = min(broken_at(way, thread, bit) for way in _ways(explained, breaking))
            certain = (
                all(g.broken >> bit & 1 for g in goals)
                if explained.surely is None
                else bool(explained.surely >> bit & 1)
            ) or bool(explained.shown >> bit & 1)
            verdict.clauses.append(BrokenClause(clause, where, certain, thread.name))
    if any(g.faults or g.unmodelled for g in goals):
        verdict.first = _first_unexplained(matcher, thread, explained, trace)
    return verdict


def _ways(explained: Explained, goals: list[Node]) -> list[Way]:
    """The ways to goals, as far as they are kept: to the first of them always."""
    return [explained.ways[goal] for goal in goals if goal in explained.ways]


def broken_at(way: Way, thread: Thread, bit: int) -> int:
    """The event at which a clause breaks; of an unseen step, the first of those that come after it."""
    positions = [None if index is None else thread.observations[index].position for _, _, index in way]
    at = next(number for number, (node, _, _) in enumerate(way) if breaks(node, bit))
    seen = positions[at]
    if seen is not None:
        return seen
    return min((p for p in positions[at:] if p is not None), default=max(p or 0 for p in positions))


def _first_unexplained(
    matcher: Matcher, thread: Thread, explained: Explained, trace: Trace
) -> Unexplained | None:
    """The first event that no faultless candidate explains, and what it is closest to."""
    stuck = stuck_before(thread, explained)
    if stuck is None:
        return None
    index, states = stuck
    observation: Observation = thread.observations[index]
    near = closest(matcher, observation, states)
    return Unexplained(
        event=observation.position,
        line=trace.lines[observation.position - 1],
        kind=observation.kind,
        closest=near.action,
        condition=near.condition,
        holding=near.holding,
        conditions=near.conditions,
        candidates=len(set(states)),
        earlier=None
        if near.earlier is None
        else Earlier(
            near.earlier.position,
            trace.lines[near.earlier.position - 1],
            near.earlier.kind,
            near.earlier.event.actor,
        ),
    )
