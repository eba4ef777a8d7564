"""States that judge mutants, and what the true mirror does in each.

They come from random walks with fixed seeds: of the reference at several programs and bounds, and of the
reference with faults switched on, which reach what the reference alone never does (two computations of one step,
two acknowledged answers, a branch that is shorter than its runner thinks); `perturbing.py` makes still others.  Only
the walk is a faulty one: in every state it is the reference's actions that are asked, and `test_judges.py` holds
their answers against TLC's.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

from perturbing import perturbed

from pymodel.errors import CapacityError
from pymodel.resume.layout import Bounds, Config
from pymodel.resume.model import FAULTS
from pymodel.resume.program import PROGRAMS as NAMED
from pymodel.resume.program import Program, Step
from pymodel.resume.stepping import Stepper
from pymodel.resume.transitions import ACTIONS, LABEL_WIDTH

__all__ = ["WILD", "Judge", "Outcome", "instances", "judges", "outcomes", "steps"]

Instance = tuple[int, ...]
Outcome = tuple[Instance, bytes]
"""Parameters of an enabled action, and the next state."""


@dataclass(frozen=True)
class Judge:
    """States of one model.

    Attributes:
        name: which.
        program, bounds: the model.
        config: its configuration, for plain functions.
        states: some of its states.
        fanout: rows that Next wants.
    """

    name: str
    program: Program
    bounds: Bounds
    config: Config
    fanout: int
    states: list[bytes] = field(repr=False)


def _walk(stepper: Stepper, count: int, seed: int, length: int) -> Iterator[bytes]:
    """Different states on random walks, the action chosen evenly among those enabled."""
    generator = random.Random(seed)
    seen: set[bytes] = set()
    state, taken, idle = stepper.initial, 0, 0
    while len(seen) < count and idle < 10_000:
        idle += 1
        if state not in seen:
            idle = 0
            seen.add(state)
            yield state
        try:
            found = stepper.successors(state)
        except CapacityError:
            found = []
        if not found or taken > length:
            state, taken = stepper.initial, 0
            continue
        action = generator.choice(sorted({step.label[0] for step in found}))
        state = generator.choice([step for step in found if step.label[0] == action]).state
        taken += 1


# Two gates, one of them in a unit with other steps, and a step that stands before its predecessor: no program of
# MCResumeContract.tla has that.
TWICE = Program(
    "Twice",
    (
        (Step("s1", "gate"),),
        (Step("s2", "pure"), Step("s3", "gate", ("s2",)), Step("s4", "effect", ("s3",))),
        (Step("s5", "pure", ("s7",)), Step("s6", "effect"), Step("s7", "effect")),
    ),
)
PROGRAMS = {**NAMED, "Twice": TWICE}
SAFETY = FAULTS[:18]
WILD = ("Sandwich", "Mixed", "Linear", "Parallel", "Twice")
"""The programs of the perturbed states."""


def _judge(
    name: str,
    bounds: Bounds,
    count: int,
    seed: int,
    faults: tuple[str, ...] = (),
    *,
    free: bool = False,
    faulty: bool = False,
    perturb: int = 0,
    length: int = 120,
) -> Judge:
    """States on walks with these faults, and `perturb` perturbed ones for each; `faulty`: Next has them, too."""
    stepper = Stepper(PROGRAMS[name], bounds, faults, free=free)
    title = name
    if free:
        title += " free"
    if faults:
        title += f" with {', '.join(faults) if len(faults) < 5 else f'{len(faults)} faults'}"
    if faulty:
        title += " on"
    states = list(_walk(stepper, count, seed, length))
    config = stepper.config if faulty else stepper.config._replace(faults=0)
    generator = random.Random(seed)
    for state in list(states):
        states += [perturbed(config, state, generator) for _ in range(perturb)]
    return Judge(title, PROGRAMS[name], bounds, config, stepper.layout.fanout, list(dict.fromkeys(states)))


@cache
def judges() -> tuple[Judge, ...]:
    """All of them."""
    wild = {"computations": 4, "crashes": 2, "expiries": 1, "invalid": 1, "answers": 2}
    found = [
        _judge("Gated", Bounds(2, 2, answers=1, expiries=1, invalid=1), 150, 1),
        _judge("Asked", Bounds(2, 2, answers=1, crashes=1), 100, 2),
        _judge("Linear", Bounds(3, 2, answers=2, crashes=1, expiries=1), 300, 3),
        _judge("Mixed", Bounds(3, 3, answers=2, values=3, crashes=2, expiries=2, invalid=2), 300, 4),
        _judge("Sandwich", Bounds(2, 2, answers=2, values=3, crashes=1, expiries=1, invalid=1), 200, 5),
        _judge("Parallel", Bounds(2, 3, answers=2, crashes=1, expiries=1, invalid=1), 200, 6),
        _judge("Twice", Bounds(2, 2, answers=2, values=3, crashes=1, expiries=1, invalid=1), 200, 7),
    ]
    for seed, name in enumerate(WILD):
        bounds = Bounds(2, 3, values=3, length=len(PROGRAMS[name].units) + 2, **wild)
        found.append(_judge(name, bounds, 150, 40 + seed, SAFETY, perturb=4, length=40))
    # what doesn't fit must be refused: there is room for one computation only
    found.append(_judge("Mixed", Bounds(2, 2, 1, crashes=2), 50, 52, SAFETY, perturb=4, length=30))
    # as a trace's checker asks
    bounds = Bounds(2, 3, answers=2, values=3, crashes=1, computations=3)
    found += [_judge(name, bounds, 150, 60, free=True, perturb=6) for name in ("Mixed", "Twice")]
    found.append(_judge("Mixed", Bounds(2, 2, crashes=2), 100, 61, free=True))
    # with the faults on, for what Next does about them
    for i, fault in enumerate(FAULTS):
        name = ("Sandwich", "Mixed")[i % 2]
        bounds = Bounds(2, 2, values=2, length=len(PROGRAMS[name].units) + 2, **wild)
        found.append(_judge(name, bounds, 40, 10 + i, (fault,), faulty=True, perturb=1))
    # what these forbid is rare
    bounds = Bounds(2, 2, values=2, length=4, **wild)
    for fault in ("lost_commit", "orphaned_claim"):
        found.append(_judge("Sandwich", bounds, 150, 70, (fault,), faulty=True, perturb=3))
    return tuple(found)


@cache
def _instances(config_key: tuple[int, ...], gates: tuple[int, ...]) -> dict[str, tuple[Instance, ...]]:
    runners, branches, step_count, value_count, deliveries, length = config_key
    r, b = range(1, runners + 1), range(1, branches + 1)
    x, v, d = range(step_count + 1), range(1, value_count + 1), range(1, deliveries + 1)
    of: dict[str, Any] = {
        "Load": product(r, b, x),
        "Compute": product(r, (0, 1), v),
        "Fire": product(r, (0, 1), v),
        "Record": product(r, x),
        "Memo": product(r, x),
        "Commit": product(r, x),
        "Deliver": ((b_, g, d_, d_) for b_, g, d_ in product(b, gates, d)),
        "Expire": product(b, gates),
        "Fork": product(b, range(length + 1), b),
    }
    return {action: tuple(of.get(action, ((r_,) for r_ in r))) for action in ACTIONS}


def instances(c: Config) -> dict[str, tuple[Instance, ...]]:
    """By action all parameters that it could have, whatever the state."""
    gates = tuple(g for g in c.gate_in if g)
    return _instances((c.R, c.B, c.S, c.V, c.D, c.L), gates)


def outcomes(
    function: Callable[..., bool], c: Config, state: bytes, parameters: tuple[Instance, ...]
) -> list[Outcome]:
    """For which of these parameters an action is enabled, and where it leads.

    An action that isn't enabled must leave the next state as it is; if it doesn't, that counts as a step of its own.
    """
    found = []
    after = bytearray(state)
    for p in parameters:
        if function(c, state, after, *p):
            found.append((p, bytes(after)))
            after[:] = state
        elif after != state:
            found.append(((-1, *p), bytes(after)))
            after[:] = state
    return found


class steps:
    """Next of a namespace, as a function from a state to its labelled successors, in a fixed order."""

    def __init__(self, judge: Judge) -> None:
        self._config = judge.config
        self._rows = [bytearray(len(judge.states[0])) for _ in range(judge.fanout)]
        self._labels = [[0] * LABEL_WIDTH for _ in range(judge.fanout)]

    def __call__(self, function: Callable[..., int], state: bytes) -> list[Outcome]:
        for row in self._labels:
            row[:] = [0] * LABEL_WIDTH
        count = function(self._config, state, self._rows, self._labels)
        return sorted((tuple(self._labels[i]), bytes(self._rows[i])) for i in range(count))
