"""What TLC says of a trace, thread by thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

from pymodel.resume.fault_names import FAULTS
from trace_check.by_tlc.running import Explanation, Explanations, Tlc, explain_by_tlc
from trace_check.observations import Thread, threads
from trace_check.reader import Trace

__all__ = ["MOST_FAULTS", "Opinion", "ThreadOpinion", "opinion_of", "opinion_of_threads"]

MOST_FAULTS = 3
"""How many faults are tried where nobody says how many it takes."""

CONFORMS, VIOLATES, UNDECIDED = "conforms", "violates", "undecided"

_BATCH = 50  # threads that one run looks at: so that starting Java is paid once, and memory is bounded

Report = Callable[[str], None]


@dataclass
class ThreadOpinion:
    """What TLC says of one thread.

    Attributes:
        name: the thread.
        cheapest: the explanations with the fewest faults; none if so few as were tried do not explain it.
        tried: how many faults were tried, all of them looked at; -1: not even none.
        why: why it is undecided, else empty.
    """

    name: str
    cheapest: tuple[Explanation, ...] = ()
    tried: int = -1
    why: str = ""

    @property
    def verdict(self) -> str:
        """ "conforms", "violates" or "undecided"."""
        if any(explanation.is_clean for explanation in self.cheapest):
            return CONFORMS
        return VIOLATES if self.cheapest or self.tried >= 0 else UNDECIDED

    @property
    def sets(self) -> frozenset[frozenset[str]]:
        """The smallest sets of faults that explain it."""
        return frozenset(frozenset(explanation.faults) for explanation in self.cheapest)

    @property
    def clauses(self) -> dict[str, bool]:
        """Each clause that breaks, and whether it does in every cheapest explanation."""
        found = [set(explanation.clauses) for explanation in self.cheapest]
        return {clause: all(clause in one for one in found) for clause in sorted(set().union(*found))}


@dataclass
class Opinion:
    """What TLC says of a trace.

    Attributes:
        file: the trace.
        threads: thread by thread.
        runs, distinct, generated, seconds: of TLC, in all.
        warnings: of the reader.
    """

    file: str
    threads: list[ThreadOpinion] = field(default_factory=list)
    runs: int = 0
    distinct: int = 0
    generated: int = 0
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """ "conforms", "violates" or "undecided"."""
        verdicts = {thread.verdict for thread in self.threads}
        return next((v for v in (VIOLATES, UNDECIDED) if v in verdicts), CONFORMS)

    @property
    def exit_status(self) -> int:
        """0 conforms, 1 violates, 2 undecided."""
        return {CONFORMS: 0, VIOLATES: 1}.get(self.verdict, 2)

    @property
    def explanations(self) -> tuple[tuple[str, ...], ...]:
        """The smallest sets of faults that explain the whole trace; none if a thread has no explanation."""
        sets = [[sorted(one) for one in thread.sets] for thread in self.threads]
        return tuple(sorted({tuple(sorted(set().union(*chosen))) for chosen in product(*sets)}))

    @property
    def why(self) -> str:
        """Why something is undecided, in one line; else empty."""
        found = [f"thread {thread.name}: {thread.why}" for thread in self.threads if thread.why]
        return f"{self.file}: {found[0]}" if found else ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values; see docs/json.md."""
        return {
            "file": self.file,
            "engine": "tlc",
            "verdict": self.verdict,
            "clauses": [
                {"clause": clause, "certain": certain, "thread": thread.name}
                for thread in self.threads
                for clause, certain in thread.clauses.items()
            ],
            "explanations": [list(names) for names in self.explanations],
            "unexplained": [t.name for t in self.threads if t.verdict == VIOLATES and not t.cheapest],
            "faults_tried": min((t.tried for t in self.threads), default=-1),
            "threads": len(self.threads),
            "runs": self.runs,
            "distinct": self.distinct,
            "seconds": round(self.seconds, 3),
            "warnings": list(self.warnings),
            "error": self.why or None,
        }


def opinion_of(
    trace: Trace,
    *,
    levels: Sequence[int] = tuple(range(MOST_FAULTS + 1)),
    tlc: Tlc | None = None,
    on_run: Report | None = None,
) -> Opinion:
    """Ask TLC about a trace.

    Args:
        trace: that was read.
        levels: how many faults to try, one after the other; until something explains the thread.
        tlc: what to run it with.
        on_run: told what is asked next.

    Raises:
        TraceError: the trace cannot be checked.
        TLCError: TLC cannot run.
    """
    opinion = Opinion(str(trace.path), warnings=tuple(trace.warnings))
    opinion.threads = opinion_of_threads(threads(trace), levels, opinion, tlc, on_run)
    return opinion


def opinion_of_threads(
    asked: Sequence[Thread],
    levels: Sequence[int],
    counts: Opinion,
    tlc: Tlc | None = None,
    on_run: Report | None = None,
) -> list[ThreadOpinion]:
    """Ask TLC about threads; what it took is added to `counts`.

    A process that has run unordered steps one after the other is taken for one runner first.  Where that takes
    faults, it is asked whether fewer do if it is one for each of them.
    """
    found = _try(asked, levels, counts, tlc, on_run)
    wider = [
        (i, wide, [k for k in levels if k < _cost(found[i], levels)])
        for i, thread in enumerate(asked)
        if found[i].verdict == VIOLATES and (wide := thread.widened()) is not None
    ]
    for i, wide, lower in wider:
        # the cost minus one alone would do, but that is mostly not among the levels
        steps = lower or ([_cost(found[i], levels) - 1] if _cost(found[i], levels) else [])
        if steps:
            (other,) = _try([wide], steps, counts, tlc, on_run)
            if other.cheapest:
                found[i] = other
            elif other.why:
                found[i].why = found[i].why or other.why
    return found


def _cost(opinion: ThreadOpinion, levels: Sequence[int]) -> int:
    """How many faults the thread takes; more than any level if none of them is enough."""
    return min((len(e.faults) for e in opinion.cheapest), default=levels[-1] + 1)


def _try(
    asked: Sequence[Thread], levels: Sequence[int], counts: Opinion, tlc: Tlc | None, on_run: Report | None
) -> list[ThreadOpinion]:
    found = [ThreadOpinion(thread.name) for thread in asked]
    left = list(range(len(asked)))
    for level in levels:
        for batch in _batches(left, asked):
            if on_run is not None:
                on_run(
                    f"TLC, {len(batch)} threads, by {level} faults" if level else f"TLC, {len(batch)} threads"
                )
            run = explain_by_tlc([asked[i] for i in batch], [min(level, len(FAULTS))] * len(batch), tlc)
            counts.runs += 1
            counts.distinct += run.distinct
            counts.generated += run.generated
            counts.seconds += run.seconds
            for i, explanations in zip(batch, run.threads, strict=True):
                _learn(found[i], explanations, run.why)
        left = [i for i in left if not found[i].cheapest and not found[i].why]
    return found


def _learn(opinion: ThreadOpinion, explanations: Explanations, why: str) -> None:
    if explanations.decided:
        opinion.tried = explanations.most
        opinion.cheapest = explanations.cheapest
    else:
        # what was found so far need not be the cheapest, nor all of it
        opinion.why = why


def _batches(indexes: Iterable[int], asked: Sequence[Thread]) -> Iterable[list[int]]:
    """The threads in groups of one program, not too many at a time."""
    for _, group in groupby(indexes, key=lambda i: asked[i].program.units):
        whole = list(group)
        for start in range(0, len(whole), _BATCH):
            yield whole[start : start + _BATCH]
