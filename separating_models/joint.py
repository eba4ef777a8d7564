"""Joint witnesses: one behaviour in which every clause of a set is broken at some point."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymodel.engine import counterexample, explore
from pymodel.resume.clauses import CLAUSES, broken_clauses
from pymodel.resume.faulty import SOUGHT
from separating_models.configuration import Configuration

__all__ = ["JointWitness", "joint_witness"]


@dataclass(frozen=True)
class JointWitness:
    """A shortest behaviour that breaks clauses.

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
    configuration: Configuration,
    breaks: Collection[str],
    *,
    workers: int | None = 1,
    most_states: int | None = None,
) -> JointWitness | None:
    """A shortest behaviour in which each of the clauses is broken at some point.

    The search is that of the model whose states also hold which clauses were broken by now.

    Args:
        configuration: the model.
        breaks: the clauses.
        workers: threads; all processors if None.
        most_states: give up after so many.

    Returns:
        None: there is none, or none within `most_states`.
    """
    found = explore(configuration.model(breaks), workers=workers, stop_at_first=True, max_states=most_states)
    if SOUGHT not in found.violations:
        return None
    trace = counterexample(found, SOUGHT)
    broken_at: dict[str, int] = {}
    for step in trace.steps:
        for clause in _broken(configuration, step.record):
            if clause in breaks:
                broken_at.setdefault(clause, step.number)
    return JointWitness(
        tuple(step.description for step in trace.steps),
        {clause: broken_at[clause] for clause in CLAUSES if clause in broken_at},
    )


def _broken(configuration: Configuration, record: bytes) -> Iterator[str]:
    bits = broken_clauses(configuration.model().config, np.frombuffer(record, np.uint8))
    return (clause for i, clause in enumerate(CLAUSES) if bits >> i & 1)
