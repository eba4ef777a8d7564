"""Random walks, for models too large to search and for comparing one model with another."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pymodel.engine.model import Label, Model, Record
from pymodel.engine.stepping import stepper

__all__ = ["WalkStep", "random_walk"]


class WalkStep(NamedTuple):
    """A transition taken by a walk, and how many others there were to choose from."""

    before: Record
    label: Label
    after: Record
    choices: int


def random_walk(model: Model, *, seed: int, steps: int, compiled: bool = True) -> Iterator[WalkStep]:
    """Take `steps` random transitions; at a state without any, start again from a random initial state.

    The action is chosen first, evenly among those that can be taken, then one of its transitions: rare actions are
    met as often as those with many parameters. The same seed gives the same walk, compiled or not. A model none of
    whose initial states has a successor gives no steps.
    """
    generator = random.Random(seed)
    successors = stepper(model, compiled=compiled)
    state = np.array(generator.choice(model.initial))
    taken = 0
    stuck = 0
    while taken < steps:
        possible = successors(state)
        if not possible:
            stuck += 1
            if stuck > 100 * len(model.initial):
                return
            state = np.array(generator.choice(model.initial))
            continue
        stuck = 0
        action = generator.choice(sorted({successor.label[0] for successor in possible}))
        chosen = generator.choice([successor for successor in possible if successor.label[0] == action])
        yield WalkStep(state, chosen.label, chosen.record, len(possible))
        state = chosen.record
        taken += 1
