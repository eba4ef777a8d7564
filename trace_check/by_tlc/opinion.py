"""What TLC says of a trace, thread by thread."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from pymodel.resume.fault_names import FAULTS
from trace_check.by_tlc.running import Explanation, Tlc, explain_by_tlc
from trace_check.observations import Thread, threads
from trace_check.printing import printable
from trace_check.reader import Trace

__all__ = ["MOST_FAULTS", "Opinion", "ThreadOpinion", "opinion_of", "opinions_of_threads"]

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


@dataclass(frozen=True)
class Opinion:
    """What TLC says of a trace.

    Attributes:
        file: the trace.
        threads: thread by thread.
        runs, distinct, generated, seconds: of TLC, in all.
        warnings: of the reader.
    """

    file: str
    threads: tuple[ThreadOpinion, ...] = ()
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
        return printable(f"{self.file}: {found[0]}") if found else ""

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
        levels: how many faults to try, one number after the other, until something explains the thread.
        tlc: what to run it with.
        on_run: told what is asked next.

    Raises:
        TraceError: the trace cannot be checked.
        TLCError: TLC cannot run.
    """
    found = threads(trace)
    asking = _Asking(tlc, on_run)
    opinions = asking.widely(found, [tuple(levels)] * len(found))
    return Opinion(
        str(trace.path),
        tuple(opinions),
        asking.runs,
        asking.distinct,
        asking.generated,
        asking.seconds,
        tuple(trace.warnings),
    )


def opinions_of_threads(
    asked: Sequence[Thread], levels: Sequence[Sequence[int]], tlc: Tlc | None = None
) -> list[ThreadOpinion]:
    """Ask TLC about threads, be they of several traces: those of one program together.

    Args:
        asked: the threads.
        levels: for each how many faults to try, one number after the other.
        tlc: what to run it with.

    Raises:
        TLCError: TLC cannot run.
    """
    return _Asking(tlc, None).widely(asked, levels)


class _Asking:
    """Runs of TLC, and what they took in all."""

    def __init__(self, tlc: Tlc | None, on_run: Report | None) -> None:
        self.tlc = tlc
        self.on_run = on_run
        self.runs = self.distinct = self.generated = 0
        self.seconds = 0.0

    def widely(self, asked: Sequence[Thread], levels: Sequence[Sequence[int]]) -> list[ThreadOpinion]:
        """What TLC says of threads.

        A process that has run unordered steps one after the other is taken for one runner first.  Where that takes
        faults, it is asked whether fewer do if it is one for each of them.
        """
        found = self.ask(asked, levels)
        wide: list[tuple[int, Thread, tuple[int, ...]]] = []
        for i, thread in enumerate(asked):
            if found[i].verdict == VIOLATES and (widened := thread.widened()) is not None:
                fewest = min((len(e.faults) for e in found[i].cheapest), default=found[i].tried + 1)
                # all that is less, or if none of it was tried, just the most that is less
                lower = tuple(k for k in levels[i] if k < fewest) or (fewest - 1,)
                wide += [(i, widened, lower)] if fewest else []
        others = self.ask([thread for _, thread, _ in wide], [lower for _, _, lower in wide])
        for (i, _, _), other in zip(wide, others, strict=True):
            if other.cheapest:
                found[i] = other
            elif other.why:
                found[i].why = other.why
        return found

    def ask(self, asked: Sequence[Thread], levels: Sequence[Sequence[int]]) -> list[ThreadOpinion]:
        """The same, each process as it is."""
        found = [ThreadOpinion(thread.name) for thread in asked]
        left = list(range(len(asked)))
        for turn in range(max(map(len, levels), default=0)):
            left = [i for i in left if turn < len(levels[i]) and not found[i].cheapest and not found[i].why]
            for batch in _batches(left, asked):
                self._run(asked, [(i, levels[i][turn]) for i in batch], found)
                late = [(i, levels[i][turn]) for i in batch if found[i].why] if len(batch) > 1 else []
                for one in late:  # each with all the time for itself
                    found[one[0]].why = ""
                    self._run(asked, [one], found)
        return found

    def _run(
        self, asked: Sequence[Thread], batch: Sequence[tuple[int, int]], found: list[ThreadOpinion]
    ) -> None:
        most = [min(level, len(FAULTS)) for _, level in batch]
        if self.on_run is not None:
            self.on_run(f"asking TLC about {len(batch)} threads and up to {max(most)} faults")
        run = explain_by_tlc([asked[i] for i, _ in batch], most, self.tlc)
        self.runs += 1
        self.distinct += run.distinct
        self.generated += run.generated
        self.seconds += run.seconds
        for (i, _), explanations in zip(batch, run.threads, strict=True):
            if explanations.decided:
                found[i].tried, found[i].cheapest = explanations.most, explanations.cheapest
            else:
                found[i].why = run.why  # what was found so far need not be the cheapest, nor all of it


def _batches(indexes: Iterable[int], asked: Sequence[Thread]) -> Iterable[list[int]]:
    """The threads in groups of one program, not too many at a time."""
    groups: dict[Hashable, list[int]] = {}
    for i in indexes:
        groups.setdefault(asked[i].program.units, []).append(i)
    for whole in groups.values():
        for start in range(0, len(whole), _BATCH):
            yield whole[start : start + _BATCH]
