"""Holds TLC's opinion of a trace against a verdict of the mirror's checker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymodel.resume.fault_names import FAULTS
from trace_check.by_tlc.agreement import Agreement
from trace_check.by_tlc.opinion import (
    CONFORMS,
    MOST_FAULTS,
    UNDECIDED,
    VIOLATES,
    Opinion,
    Report,
    opinion_of,
)
from trace_check.by_tlc.running import Tlc
from trace_check.checker import Verdict
from trace_check.reader import Trace

__all__ = ["SecondOpinion", "compare", "levels_for", "second_opinion"]


@dataclass(frozen=True)
class SecondOpinion(Agreement):
    """TLC's opinion beside the verdict.

    Attributes:
        opinion: what TLC says.
        differences: where it is not what the verdict says, one line each.
        undecided: what it has not decided, one line each.
    """

    opinion: Opinion
    differences: tuple[str, ...]
    undecided: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values; see docs/json.md."""
        found = self.opinion.to_json()
        return {
            "engine": "tlc",
            "agrees": self.agrees,
            **{
                k: found[k]
                for k in ("verdict", "clauses", "explanations", "unexplained", "runs", "distinct", "seconds")
            },
            "differences": list(self.differences),
            "undecided": list(self.undecided),
        }


def second_opinion(
    trace: Trace, verdict: Verdict, *, tlc: Tlc | None = None, on_run: Report | None = None
) -> SecondOpinion:
    """Ask TLC about a trace that the mirror has judged.

    All of this is compared: the verdict; the smallest sets of faults, none of which TLC may miss, and besides which it
    may find none that is as small or smaller; and of each thread the clauses that break and whether they do in every
    one of these explanations.  Where the mirror has not proved its explanations the smallest, TLC may find smaller ones;
    what breaks for certain must break in these, too.  Where an event is explained by no set of faults, all that is
    compared is that TLC finds no set for that thread either.

    Raises:
        TraceError: the trace cannot be checked.
        TLCError: TLC cannot run.
    """
    opinion = opinion_of(trace, levels=levels_for(verdict), tlc=tlc, on_run=on_run)
    return SecondOpinion(opinion, *compare(trace, verdict, opinion))


def levels_for(verdict: Verdict) -> tuple[int, ...]:
    """How many faults TLC should try: as many as the mirror says it takes, in one run where there is one thread."""
    if verdict.unmodelled:
        return (0, len(FAULTS))
    most = max((len(names) for names in verdict.explanations), default=MOST_FAULTS)
    return (most,) if verdict.threads == 1 else tuple(range(most + 1))


def compare(trace: Trace, verdict: Verdict, opinion: Opinion) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where an opinion differs from a verdict, and what is undecided: one line each."""
    undecided = tuple(f"thread {thread.name}: {thread.why}" for thread in opinion.threads if thread.why)
    if verdict.verdict not in (CONFORMS, VIOLATES):
        return (), (*undecided, f"the mirror has no verdict: {verdict.error}")
    if opinion.verdict not in (UNDECIDED, verdict.verdict):
        return (f"it {verdict.verdict} by the mirror, it {opinion.verdict} by TLC",), undecided
    if not verdict.smallest:
        return () if undecided else tuple(_perhaps_smaller(verdict, opinion)), undecided
    if verdict.unmodelled:
        return tuple(_unmodelled(trace, verdict, opinion)), undecided
    return () if undecided else tuple(_explained(verdict, opinion)), undecided


def _unmodelled(trace: Trace, verdict: Verdict, opinion: Opinion) -> list[str]:
    lost = {trace.events[position - 1].thread for position in verdict.unmodelled}
    found = []
    for thread in opinion.threads:
        if thread.name in lost and thread.cheapest:
            found.append(
                f"thread {thread.name}: no faults explain it by the mirror, {_sets(thread.sets)} by TLC"
            )
        elif thread.name not in lost and not thread.cheapest and not thread.why:
            found.append(f"thread {thread.name}: faults explain it by the mirror, none by TLC")
    return found


def _explained(verdict: Verdict, opinion: Opinion) -> list[str]:
    found = []
    mine, theirs = (frozenset(map(frozenset, one)) for one in (verdict.explanations, opinion.explanations))
    if mine != theirs:
        found.append(f"explained by {_sets(mine)} by the mirror, by {_sets(theirs)} by TLC")
    clauses = {(b.thread, b.clause): b.certain for b in verdict.clauses}
    others = {(t.name, clause): certain for t in opinion.threads for clause, certain in t.clauses.items()}
    listed = clauses if verdict.left_out else {*clauses, *others}  # of a long log, only some are listed
    for thread, clause in sorted(listed):
        said = [_certainty(one.get((thread, clause))) for one in (clauses, others)]
        if said[0] != said[1]:
            found.append(f"thread {thread}: {clause} is {said[0]} broken by the mirror, {said[1]} by TLC")
    return found


def _perhaps_smaller(verdict: Verdict, opinion: Opinion) -> list[str]:
    """What differs from a verdict that may not be the smallest: TLC may find smaller explanations, but none larger."""
    found = []
    mine, theirs = (set(map(frozenset, one)) for one in (verdict.explanations, opinion.explanations))
    if not verdict.unmodelled and theirs:
        sizes = [min(map(len, one)) for one in (mine, theirs)]
        if sizes[0] < sizes[1] or (sizes[0] == sizes[1] and not mine <= theirs):
            found.append(
                f"explained by {_sets(frozenset(mine))} by the mirror, by {_sets(frozenset(theirs))} by TLC"
            )
    certain = {t.name: {clause for clause, sure in t.clauses.items() if sure} for t in opinion.threads}
    for broken in verdict.clauses:
        explained = any(t.name == broken.thread and t.cheapest for t in opinion.threads)
        if broken.certain and explained and broken.clause not in certain[broken.thread]:
            found.append(
                f"thread {broken.thread}: {broken.clause} is certainly broken by the mirror, not by TLC"
            )
    return found


def _certainty(certain: bool | None) -> str:
    return {True: "certainly", False: "possibly", None: "not"}[certain]


def _sets(sets: frozenset[frozenset[str]]) -> str:
    """Sets of faults in words."""
    return " or ".join(sorted(" and ".join(sorted(names)) or "no fault" for names in sets)) or "nothing"
