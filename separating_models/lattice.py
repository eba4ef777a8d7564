"""The whole lattice: for each set of safety clauses a model that breaks exactly these, no other being vacuous."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from separating_models.by_mirror import examine_by_mirror
from separating_models.configuration import Configuration, program_of
from separating_models.errors import SeparationError
from separating_models.examination import Examination
from separating_models.joint import JointWitness, joint_witness

__all__ = [
    "ANTECEDENTS",
    "MOST_STATES",
    "SAFETY",
    "SPACE",
    "Breaking",
    "Element",
    "breaking_alone",
    "decide",
    "elements",
    "vacuous",
]

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

_SMALL = Bounds(runners=2, branches=2, answers=1, invalid=1, crashes=1, length=2, computations=3)
_TWO_ANSWERS = replace(_SMALL, answers=2)
_NO_CRASH = replace(_SMALL, crashes=0)

SPACE: tuple[tuple[str, Bounds], ...] = (
    ("gate ; effect ; pure", _SMALL),
    ("effect ; gate ; pure", _SMALL),
    ("effect ; pure ; gate", _SMALL),
    ("pure ; gate ; effect", _SMALL),
    ("effect ; gate ; pure", _TWO_ANSWERS),
    ("pure | gate ; effect", _NO_CRASH),
    ("pure | effect ; gate", _NO_CRASH),
    ("pure | gate ; effect", _SMALL),
)
"""Programs and bounds in the order in which they are tried: the small ones first."""

MOST_STATES = 20_000_000
"""What has more is left out."""

_JOINT_STATES = 1_500_000
"""States, with what was broken before, among which a joint witness is sought."""

_WITH_A_CRASH = ("torn_checkpoint", "lost_answer", "lost_commit")
"""Faults that act in a crash: more of them than crashes can't act in one behaviour."""


@dataclass(frozen=True)
class Element:
    """A set of clauses, and what was found of it.

    Attributes:
        breaks: the set, in the order of CLAUSES.
        found: of the model that realises it, by the mirror; None: there is none in the space.
        joint: a behaviour of that model that breaks all of the set, or None.
        tried: how many configurations were examined.
    """

    breaks: tuple[str, ...]
    found: Examination | None
    tried: int
    joint: JointWitness | None = None


Breaking = Mapping[str, tuple[str, ...]]
"""Clause -> the faults that break it alone, those with few states first."""


def elements() -> Iterator[tuple[str, ...]]:
    """All sets of safety clauses, by size."""
    for size in range(len(SAFETY) + 1):
        yield from itertools.combinations(SAFETY, size)


def breaking_alone(singles: Sequence[Sequence[Examination]]) -> list[Breaking]:
    """What single faults break, from their examinations on each of :data:`SPACE`.

    A fault counts for a clause if it breaks it here, and nothing else anywhere.  Where none does, those that do so
    elsewhere count: beside others they may.
    """
    broken: dict[str, set[str]] = {}
    for examination in itertools.chain(*singles):
        broken.setdefault(_fault(examination), set()).update(examination.breaks)
    found: list[Breaking] = []
    for each in singles:
        order = sorted(each, key=lambda one: (one.distinct, FAULTS.index(_fault(one))))
        here: dict[str, tuple[str, ...]] = {}
        for clause in CLAUSES:
            alone = [one for one in order if broken[_fault(one)] == {clause}]
            here[clause] = tuple(map(_fault, [one for one in alone if one.breaks] or alone))
        found.append(here)
    return found


def _fault(examination: Examination) -> str:
    (fault,) = examination.configuration.faults
    return fault


def _combinations(breaks: Sequence[str], faults_of: Breaking, crashes: int) -> list[tuple[str, ...]]:
    """A fault for each clause, in the order in which they are tried: those that need few crashes come first."""
    found = itertools.product(*(faults_of[clause] for clause in breaks))
    return sorted(found, key=lambda faults: max(0, sum(fault in _WITH_A_CRASH for fault in faults) - crashes))


def decide(breaks: Sequence[str], breaking: Sequence[Breaking], *, workers: int | None = 1) -> Element:
    """Search a model that breaks exactly these clauses, with FI holding and no other clause vacuous.

    Args:
        breaks: the clauses.
        breaking: for each of :data:`SPACE` the faults by what they break alone.
        workers: threads; all processors if None.
    """
    tried = 0
    realised: Examination | None = None
    for (shape, bounds), faults_of in zip(SPACE, breaking, strict=True):
        if realised is not None and len(program_of(shape).units) == 1:
            continue  # where one unit leaves no room for all of it, another program of one unit hardly does
        for faults in _combinations(breaks, faults_of, bounds.crashes):
            tried += 1
            configuration = Configuration(program_of(shape), bounds, faults)
            joint: JointWitness | None = None
            if realised is not None:
                # only a joint witness is still wanted, and where there is one it is found early
                joint = joint_witness(configuration, breaks, workers=workers, most_states=_JOINT_STATES)
                if joint is None:
                    break
            try:
                found = examine_by_mirror(configuration, workers=workers, most_states=MOST_STATES)
            except SeparationError:
                break  # the others are hardly smaller
            if set(found.breaks) != set(breaks) or vacuous(found):
                continue
            if breaks and joint is None:
                joint = joint_witness(configuration, breaks, workers=workers, most_states=_JOINT_STATES)
            if joint is not None or not breaks:
                return Element(tuple(breaks), found, tried, joint)
            realised = found
            break  # a joint witness needs another program, or other budgets
    return Element(tuple(breaks), realised, tried)


def vacuous(examination: Examination) -> tuple[str, ...]:
    """The clauses that hold for want of anything to judge."""
    return tuple(
        clause
        for clause, situations in ANTECEDENTS.items()
        if clause not in examination.breaks
        and not all(situation in examination.situations for situation in situations)
    )
