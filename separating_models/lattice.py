"""The whole lattice: for each set of safety clauses a model that breaks exactly these, no other being vacuous."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from separating_models.by_mirror import examine_by_mirror
from separating_models.configuration import Configuration, program_of
from separating_models.examination import Examination

__all__ = ["ANTECEDENTS", "SAFETY", "SPACE", "Element", "decide", "elements", "vacuous"]

SAFETY = CLAUSES[:7]
"""The clauses whose sets make the lattice: all but FI, which must hold in each model."""

ANTECEDENTS: Mapping[str, tuple[str, ...]] = {
    "PC": ("RefusedCommit",),
    "EO": ("RepeatAtSink",),
    "FD": ("SamePastInTwoBranches",),
    "CV": ("InvalidInHand",),
    "CO-V": ("AnswerTooLate",),
    "CO-C": ("RaceAtGate",),
    "RD": ("Recomputation",),
    "FI": ("ForkAtStart",),
}
"""Clause -> what must occur, or the clause holds for want of anything to judge: a commit that came too late, a repeat at
the sink, a unit committed in two branches with the same past, an invalid outcome in hand, an acknowledged answer while
another may come, two runners at a gate, a computation after one, a fork."""

_SHAPES = ("pure ; gate ; effect", "pure | gate ; effect", "pure ; effect | gate ; effect")

SPACE: tuple[tuple[str, Bounds], ...] = tuple(
    (shape, Bounds(runners=2, branches=2, answers=2, invalid=1, crashes=crashes, length=3, computations=3))
    for shape, crashes in itertools.product(_SHAPES, (0, 1))
)
"""Programs and bounds in the order in which they are tried."""


@dataclass(frozen=True)
class Element:
    """A set of clauses, and what was found of it.

    Attributes:
        breaks: the set, in the order of CLAUSES.
        found: of the model that realises it, by the mirror; None: there is none in the space.
        tried: how many configurations were examined.
    """

    breaks: tuple[str, ...]
    found: Examination | None
    tried: int


def elements() -> Iterator[tuple[str, ...]]:
    """All sets of safety clauses, by size."""
    for size in range(len(SAFETY) + 1):
        yield from itertools.combinations(SAFETY, size)


def decide(
    breaks: Sequence[str],
    breaking: Mapping[str, Sequence[str]],
    examine: Callable[[Configuration, tuple[str, ...]], Examination] | None = None,
) -> Element:
    """Search a model that breaks exactly these clauses, with FI holding and no other clause vacuous.

    Args:
        breaks: the clauses.
        breaking: clause -> the faults that break it alone, in the order in which they are tried.
        examine: examines a configuration and looks for a state that breaks all of some clauses; by default the mirror.
    """
    examine = examine or (lambda configuration, together: examine_by_mirror(configuration, together=together))
    tried = 0
    for shape, bounds in SPACE:
        for faults in itertools.product(*(breaking[clause] for clause in breaks)):
            tried += 1
            found = examine(Configuration(program_of(shape), bounds, faults), tuple(breaks))
            if set(found.breaks) == set(breaks) and not vacuous(found):
                return Element(tuple(breaks), found, tried)
    return Element(tuple(breaks), None, tried)


def vacuous(examination: Examination) -> tuple[str, ...]:
    """The clauses that hold for want of anything to judge."""
    return tuple(
        clause
        for clause, situations in ANTECEDENTS.items()
        if clause not in examination.breaks
        and not all(situation in examination.situations for situation in situations)
    )


def faults_by_clause(breaks: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Fault -> the clauses that it breaks, turned round: clause -> the faults that break it and no other."""
    return {
        clause: tuple(fault for fault in FAULTS if tuple(breaks.get(fault, ())) == (clause,))
        for clause in CLAUSES
    }
