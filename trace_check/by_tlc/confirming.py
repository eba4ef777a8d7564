"""TLC confirms the explanations of a verdict: it follows the mirror's way, where its own search would take too long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trace_check.by_tlc.agreement import Agreement
from trace_check.by_tlc.following import Way, follow
from trace_check.by_tlc.guiding import Guide, guides_of
from trace_check.by_tlc.running import Tlc
from trace_check.checker import DEFAULT_BUDGET, Verdict
from trace_check.explaining import explain_thread
from trace_check.observations import threads
from trace_check.reader import Trace

__all__ = ["Confirmation", "confirm", "guides_of_trace", "hold_against"]

CONFORMS, VIOLATES = "conforms", "violates"


@dataclass(frozen=True)
class Confirmation(Agreement):
    """What TLC says of the ways of a verdict's explanations.

    It says that there are such behaviours, not that there are none with fewer faults, nor that a clause breaks on all.

    Attributes:
        ways: how far TLC followed each; none where the verdict is no explanation.
        runs, distinct, seconds: of TLC, in all.
        differences: what TLC refuses, one line each.
        undecided: what TLC has not followed to its end, or the verdict says beyond what it followed, one line each.
    """

    ways: tuple[Way, ...]
    runs: int
    distinct: int
    seconds: float
    differences: tuple[str, ...]
    undecided: tuple[str, ...]

    @property
    def confirmed(self) -> tuple[Way, ...]:
        """The ways of which TLC says that they are behaviours of the specification."""
        return tuple(way for way in self.ways if way.confirmed)

    @property
    def steps(self) -> int:
        """Of the confirmed ways, the steps that TLC took: those taken at their word left out."""
        return sum(len(way.guide.steps) - len(way.guide.unmodelled) for way in self.confirmed)

    @property
    def at_their_word(self) -> tuple[int, ...]:
        """The events (from 1) that no step explains: TLC took the state that comes of them from the mirror."""
        return tuple(sorted({event for way in self.ways for event in way.guide.unmodelled}))

    def to_json(self) -> dict[str, Any]:
        """As JSON values; see docs/json.md."""
        return {
            "engine": "guided",
            "agrees": self.agrees,
            "confirmed": [
                {
                    "thread": way.guide.thread.name,
                    "faults": list(way.guide.faults),
                    "clauses": [{"clause": clause, "event": event} for clause, event in way.guide.clauses],
                    "unmodelled": sorted(way.guide.unmodelled),
                    "steps": len(way.guide.steps),
                }
                for way in self.confirmed
            ],
            "steps": self.steps,
            "at_their_word": list(self.at_their_word),
            "runs": self.runs,
            "distinct": self.distinct,
            "seconds": round(self.seconds, 3),
            "differences": list(self.differences),
            "undecided": list(self.undecided),
        }


def confirm(
    trace: Trace,
    verdict: Verdict,
    *,
    budget: int = DEFAULT_BUDGET,
    tlc: Tlc | None = None,
    on_run: Callable[[str], None] | None = None,
) -> Confirmation:
    """Let TLC follow the explanations that the mirror has of a trace.

    Args:
        trace: that was read.
        verdict: what the mirror says of it.
        budget: with which it was found.
        tlc: what to run it with.
        on_run: told what is asked next.

    Raises:
        TraceError: the trace cannot be checked.
        TLCError: TLC cannot run.
    """
    if verdict.verdict not in (CONFORMS, VIOLATES):
        return Confirmation((), 0, 0, 0.0, (), (f"the mirror has no verdict: {verdict.error}",))
    found = follow(guides_of_trace(trace, budget), tlc, on_run)
    return Confirmation(
        found.ways, found.runs, found.distinct, found.seconds, *hold_against(trace, verdict, found.ways)
    )


def guides_of_trace(trace: Trace, budget: int = DEFAULT_BUDGET) -> list[Guide]:
    """The guides of all threads.  The search is the one that the verdict came of: it finds the same again.

    Raises:
        TraceError: the trace cannot be checked.
    """
    return [guide for thread in threads(trace) for guide in guides_of(*explain_thread(thread, budget))]


def hold_against(
    trace: Trace, verdict: Verdict, ways: Sequence[Way]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What TLC refuses, and what it has not decided, or the verdict says beyond what was followed: one line each.

    Args:
        trace: the trace.
        verdict: that conforms or violates.
        ways: those of all its threads.
    """
    undecided = tuple(f"thread {way.guide.thread.name}: {way.why}" for way in ways if way.why)
    differences = tuple(
        f"thread {way.guide.thread.name}: TLC does not follow the explanation by {_faults(way.guide.faults)}"
        f" to {way.next_step}"
        for way in ways
        if way.refused
    )
    if differences or undecided:
        return differences, undecided
    return (), tuple(_unsupported(trace, verdict, [way.guide for way in ways]))


def _unsupported(trace: Trace, verdict: Verdict, guides: Sequence[Guide]) -> list[str]:
    """What a verdict says that no confirmed way shows."""
    found = []
    of_thread: dict[str, list[Guide]] = {name: [] for name in sorted({e.thread for e in trace.events})}
    for guide in guides:
        of_thread[guide.thread.name].append(guide)
    if verdict.verdict == CONFORMS:
        return [
            f"thread {name}: it conforms by the mirror, and TLC followed no such way"
            for name, mine in of_thread.items()
            if not any(guide.is_clean for guide in mine)
        ]
    shown: set[tuple[str, ...]] = {()}
    for mine in of_thread.values():
        shown = {tuple(sorted({*a, *guide.faults})) for a in shown for guide in mine}
    found += [
        f"explained by {_faults(faults)} by the mirror, and TLC followed no such way"
        for faults in sorted({tuple(sorted(one)) for one in verdict.explanations} - shown)
    ]
    places = {(g.thread.name, clause, event) for g in guides for clause, event in g.clauses}
    found += [
        f"thread {b.thread}: {b.clause} breaks at event {b.event} by the mirror, and TLC followed no such way"
        for b in verdict.clauses
        if (b.thread, b.clause, b.event) not in places
    ]
    taken = {event for guide in guides for event in guide.unmodelled}
    found += [
        f"event {event} is unmodelled by the mirror, and TLC followed no such way"
        for event in verdict.unmodelled
        if event not in taken
    ]
    return found


def _faults(names: Sequence[str]) -> str:
    return " and ".join(names) or "no fault"
