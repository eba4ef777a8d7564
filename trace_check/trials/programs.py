"""Random small programs and bounds."""

from __future__ import annotations

import random

from pymodel.resume.layout import Bounds
from pymodel.resume.program import PROGRAMS, Program, Step

__all__ = ["random_bounds", "random_program"]


def random_program(rng: random.Random) -> Program:
    """One of the model's programs, or a random one of up to three units of up to three steps."""
    if rng.random() < 0.4:
        return rng.choice(list(PROGRAMS.values()))
    number, units = 0, []
    for _ in range(rng.randint(1, 3)):
        unit: list[Step] = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            number += 1
            kinds = ["pure", "effect"] if any(s.kind == "gate" for s in unit) else ["pure", "effect", "gate"]
            after = tuple(s.name for s in unit if rng.random() < 0.6)
            unit.append(Step(f"s{number}", rng.choice(kinds), after))
        units.append(tuple(unit))
    return Program("random", tuple(units))


def random_bounds(rng: random.Random) -> Bounds:
    """Bounds in which everything can occur."""
    return Bounds(
        runners=rng.randint(1, 3),
        branches=rng.randint(1, 3),
        answers=rng.randint(1, 2),
        values=rng.randint(2, 3),
        crashes=rng.randint(0, 2),
        expiries=rng.randint(0, 2),
        invalid=rng.randint(0, 1),
        computations=3,
    )
