"""TLC follows guides: one run for several of one program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from pymodel.resume.tla_constants import program_definitions
from tlc_runner import TLCError
from trace_check.by_tlc.guiding import UNMODELLED, Guide
from trace_check.by_tlc.running import TOLD, Tlc, meaningless, names_of, put_to_tlc, why_stopped
from trace_check.by_tlc.writing import MODULE, Question, cfg_text, module_text

__all__ = ["Following", "Way", "follow"]

FOLLOW = Question("GuidedTrace", "GuidedInit", "GuidedNext", "GuidedView", ("Told", "Reached"))
"""Is each guide's way one of the specification?"""

_REACHED = "REACHED"
_BATCH = 25  # guides that one run follows: so that starting Java is paid once, and memory is bounded


@dataclass
class Way:
    """How far TLC followed one guide.

    Attributes:
        guide: the guide.
        reached: steps of it that were taken, at most.
        confirmed: whether TLC got to where all is explained, by just the faults and breaches of the guide.
        why: why it is undecided, else empty.
    """

    guide: Guide
    reached: int = 0
    confirmed: bool = False
    why: str = ""

    @property
    def refused(self) -> bool:
        """TLC says that there is no such way."""
        return not (self.confirmed or self.why)

    @property
    def next_step(self) -> str:
        """What the step is that TLC does not take, for people."""
        steps = self.guide.steps
        if self.reached < len(steps):
            return f"step {self.reached + 1} of {len(steps)} ({steps[self.reached].text})"
        return "its end"


@dataclass(frozen=True)
class Following:
    """How far guides were followed.

    Attributes:
        ways: guide by guide.
        runs, distinct, seconds: of TLC, in all.
    """

    ways: tuple[Way, ...]
    runs: int
    distinct: int
    seconds: float


def follow(
    guides: Sequence[Guide], tlc: Tlc | None = None, on_run: Callable[[str], None] | None = None
) -> Following:
    """Ask TLC whether each guide's way is one of the specification.

    Args:
        guides: be they of several threads, or programs.
        tlc: what to run it with.
        on_run: told what is asked next.

    Raises:
        TLCError: TLC cannot run.
    """
    ways = [Way(guide) for guide in guides]
    left = list(_batches(ways))
    runs = distinct = 0
    seconds = 0.0
    while left:
        batch = left.pop(0)
        if on_run is not None:
            on_run(f"TLC follows {len(batch)} explanations")
        try:
            states, took = _run(batch, tlc)
        except TLCError:
            if len(batch) == 1:
                raise
            # alone, the others are followed before the one is named that TLC can't evaluate
            left += [[way] for way in batch]
            continue
        runs, distinct, seconds = runs + 1, distinct + states, seconds + took
        late = [way for way in batch if way.why] if len(batch) > 1 else []
        left += [[way] for way in late]  # each with all the time for itself
    return Following(tuple(ways), runs, distinct, seconds)


def _run(ways: Sequence[Way], tlc: Tlc | None) -> tuple[int, float]:
    """One run of TLC; how many states it saw, and how long it took."""
    for way in ways:
        way.reached, way.confirmed, way.why = 0, False, ""
    threads = [way.guide.thread for way in ways]
    most = [len(way.guide.faults) + bool(way.guide.unmodelled) for way in ways]
    more = {"Guide": [tuple(step.record for step in way.guide.steps) for way in ways]}
    result = put_to_tlc(
        module_text(threads, most, FOLLOW, more), cfg_text(threads, FOLLOW, tuple(more)), FOLLOW, tlc
    )
    for value in result.printed_values():
        match value:
            case (kind, int(which), int(place)) if kind == _REACHED:
                ways[which - 1].reached = max(ways[which - 1].reached, place - 1)
            case (kind, int(which), frozenset() as faults, frozenset() as clauses) if kind == TOLD:
                way = ways[which - 1]
                way.confirmed |= _is_end(way.guide, names_of(faults), names_of(clauses))
            case _:
                raise meaningless(FOLLOW, value)
    if why := why_stopped(result):
        for way in ways:
            way.why = "" if way.confirmed else why
    return result.distinct or 0, result.seconds


def _is_end(guide: Guide, faults: Sequence[str], clauses: Sequence[str]) -> bool:
    """Are these the faults that a guide uses, and the clauses that break on it?"""
    return {*faults} - {UNMODELLED} == {*guide.faults} and {*clauses} == {c for c, _ in guide.clauses}


def _batches(ways: Sequence[Way]) -> Iterator[list[Way]]:
    """The ways in groups of one program, with as many branches and about as many runners, not too many at a time."""
    groups: dict[Hashable, list[Way]] = {}
    for way in ways:
        thread = way.guide.thread
        shape = tuple(program_definitions(thread.program, MODULE)), len(thread.branches)
        groups.setdefault(shape, []).append(way)
    for group in groups.values():
        group.sort(key=lambda way: sum(map(len, way.guide.thread.runners.values())))
        for start in range(0, len(group), _BATCH):
            yield group[start : start + _BATCH]
