"""Joint witnesses: one behaviour in which every clause of a set is broken at some point."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pymodel.engine import Trace, counterexample, explore
from pymodel.resume.clauses import CLAUSES, broken_clauses
from pymodel.resume.faulty import SOUGHT
from separating_models.configuration import Configuration

__all__ = ["JointWitness", "joint_witness"]


@dataclass(frozen=True)
class JointWitness:
    """A behaviour that breaks clauses.

    Attributes:
        steps: its steps in words, the first the initial state.
        broken_at: clause -> number of the first state that breaks it, from 1.
    """

    steps: tuple[str, ...]
    broken_at: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        return {"length": len(self.steps), "broken_at": self.broken_at, "steps": list(self.steps)}


def joint_witness(
    configuration: Configuration, breaks: Collection[str], *, workers: int | None = 1
) -> JointWitness | None:
    """A behaviour in which each of the clauses is broken at some point; None: the search found none.

    From the initial state it goes the shortest way to a state that breaks any of the clauses, and from there on to
    the next.  Where that leads to a state from which another can't be broken any more, it begins anew with that one.  So
    what it finds need not be the shortest, and None doesn't say that there is none.
    """
    first: tuple[str, ...] = ()
    for _ in range(len(breaks)):
        found = _from(configuration, breaks, first, workers)
        if isinstance(found, JointWitness):
            return found
        if found in first:
            return None
        first = (found, *first)
    return None


def _from(
    configuration: Configuration, breaks: Collection[str], first: Sequence[str], workers: int | None
) -> JointWitness | str:
    """A witness that breaks some clauses first, in this order; or the clause that it could not break any more."""
    broken_at: dict[str, int] = {}
    steps: list[str] = []
    record: bytes | None = None
    while left := [clause for clause in breaks if clause not in broken_at]:
        wanted = [clause for clause in first if clause in left][:1] or left
        leg = _leg(configuration, wanted, record, workers)
        if leg is None:
            return wanted[0]
        for step in leg.steps[1 if steps else 0 :]:
            steps.append(step.description)
            for clause in _broken(configuration, step.record):
                broken_at.setdefault(clause, len(steps))
        record = leg.steps[-1].record
    return JointWitness(
        tuple(steps),
        {clause: broken_at[clause] for clause in CLAUSES if clause in broken_at and clause in breaks},
    )


def _leg(
    configuration: Configuration, sought: Sequence[str], record: bytes | None, workers: int | None
) -> Trace | None:
    """A shortest behaviour, from a state or the initial one, to a state that breaks any of the clauses."""
    model = configuration.model(sought)
    if record is not None:
        model = replace(model, initial=np.frombuffer(record, np.uint8).reshape(1, -1))
    found = explore(model, workers=workers, stop_at_first=True)
    return counterexample(found, SOUGHT) if SOUGHT in found.violations else None


def _broken(configuration: Configuration, record: bytes) -> Iterator[str]:
    config = configuration.model().config
    bits = broken_clauses(config, np.frombuffer(record, np.uint8))
    return (clause for i, clause in enumerate(CLAUSES) if bits >> i & 1)
