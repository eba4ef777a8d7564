"""The search for minimal separating models: which configuration breaks one clause, and it alone?

A configuration is smaller than another if it is so in the first of (faults, runners, branches, units, crashes, answers)
in which they differ; among equals the one whose first broken state is shallower is smaller.  Beyond that fewer steps,
fewer budgets and fewer states decide, so that there is one answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.errors import CapacityError
from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from separating_models.by_mirror import examine_by_mirror
from separating_models.configuration import Configuration, program_of
from separating_models.errors import SeparationError
from separating_models.examination import Examination
from separating_models.programs import small_programs

__all__ = ["MOST_STEPS", "SEARCHED", "Found", "Size", "find_separating"]

MOST_STEPS = 2
"""Steps of a program that is tried."""

_MOST_STATES = 20_000
_MOST = {"runners": 2, "branches": 2, "units": MOST_STEPS, "crashes": 1, "answers": 2}

SEARCHED = (
    f"one fault of {len(FAULTS)}, up to {_MOST['runners']} runners, {_MOST['branches']} branches,"
    f" {_MOST['crashes']} crash, {_MOST['answers']} answers, one expiry of a live claim, one invalid outcome,"
    f" and all programs of at most {MOST_STEPS} steps; what has more than {_MOST_STATES:,} states, or infinitely many, is"
    " left out"
)
"""Among what the search looks, in words."""


class Size(NamedTuple):
    """The order of configurations, apart from the depth."""

    faults: int
    runners: int
    branches: int
    units: int
    crashes: int
    answers: int


@dataclass(frozen=True)
class Found:
    """A minimal separating model of a clause.

    Attributes:
        clause: what it breaks, alone.
        examination: of its configuration, by the mirror.
        size: its place in the order.
        smaller: how many configurations that are smaller, or as small, were examined: none of them separates the
            clause at less depth.
    """

    clause: str
    examination: Examination
    size: Size
    smaller: int


def find_separating(
    clauses: Collection[str] = CLAUSES, on_size: Callable[[Size, int], None] | None = None
) -> dict[str, Found]:
    """For each clause a minimal separating model; a clause without one in the space is left out.

    Args:
        clauses: which.
        on_size: told the size that is examined next, and how many configurations were examined.
    """
    found: dict[str, Found] = {}
    examined = 0
    for size in _sizes():
        if on_size is not None:
            on_size(size, examined)
        best: dict[str, Examination] = {}
        for examination in _examined(size, set(clauses) - found.keys()):
            examined += 1
            for clause in set(clauses) - found.keys():
                if set(examination.breaks) == {clause} and (
                    clause not in best or _rank(examination) < _rank(best[clause])
                ):
                    best[clause] = examination
        for clause, examination in best.items():
            found[clause] = Found(clause, examination, size, examined)
        if len(found) == len(set(clauses)):
            break
    return {clause: found[clause] for clause in CLAUSES if clause in found}


def _sizes() -> Iterator[Size]:
    for runners, branches, units, crashes, answers in itertools.product(
        range(1, _MOST["runners"] + 1),
        range(1, _MOST["branches"] + 1),
        range(1, _MOST["units"] + 1),
        range(_MOST["crashes"] + 1),
        range(1, _MOST["answers"] + 1),
    ):
        yield Size(1, runners, branches, units, crashes, answers)


def _examined(size: Size, wanted: Collection[str]) -> Iterator[Examination]:
    """All configurations of a size that could separate a clause that is still wanted.

    Larger budgets of expiries and invalid outcomes only add behaviours.  So what does not break a clause with one of
    each breaks it with none as well, and smaller budgets are tried only where something is broken.
    """
    for fault in FAULTS:
        for program in small_programs(size.units, MOST_STEPS):
            try:
                whole = examine_by_mirror(
                    _configuration(size, program.name, fault, 1, 1), most_states=_MOST_STATES
                )
            except (CapacityError, SeparationError):
                continue
            yield whole
            if set(whole.breaks) & set(wanted):
                for expiries, invalid in ((0, 0), (0, 1), (1, 0)):
                    yield examine_by_mirror(_configuration(size, program.name, fault, expiries, invalid))


def _configuration(size: Size, program: str, fault: str, expiries: int, invalid: int) -> Configuration:
    bounds = Bounds(
        runners=size.runners,
        branches=size.branches,
        answers=size.answers,
        crashes=size.crashes,
        expiries=expiries,
        invalid=invalid,
        length=size.units + 1,
        computations=3,
    )
    return Configuration(program_of(program), bounds, (fault,))


def _rank(examination: Examination) -> tuple[object, ...]:
    """What decides between configurations of one size."""
    configuration = examination.configuration
    return (
        max(examination.breaks.values()),
        len(configuration.program.steps),
        configuration.bounds.expiries + configuration.bounds.invalid,
        examination.distinct,
        FAULTS.index(configuration.faults[0]),
        configuration.program.name,
    )
