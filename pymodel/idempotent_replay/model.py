"""``IdempotentReplay`` as a model for the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymodel.constants import Constants, number, only, option
from pymodel.engine import Label, Model
from pymodel.idempotent_replay import algorithm as at
from pymodel.liveness import Liveness, Settles
from tlc_runner.values import Value

__all__ = ["CONSTANTS", "LIVENESS", "build", "fair_process"]

CONSTANTS = ("W", "Variant", "MaxCrashes", "MaxExpiries")

LIVENESS: dict[str, Liveness] = {
    "ExactlyOneEffect": Settles(lambda state: bool(state["recorded"]) and state["applied"] == 1)
}
"""The temporal properties, by their names in the PlusCal module."""


def fair_process(label: Label) -> int | None:
    """The process that takes a step: all are fair."""
    return None if label[0] == at.TERMINATING else label[1]


def build(constants: Constants) -> Model:
    """The algorithm with these constants, named as in the PlusCal module.

    Raises:
        ModelError: a constant is unknown, missing, impossible, or too large for the record.
    """
    name = "IdempotentReplay"
    only(name, constants, CONSTANTS)
    workers = number(name, constants, "W", 1, 8)
    crashes = number(name, constants, "MaxCrashes", 0, 8)
    expiries = number(name, constants, "MaxExpiries", 0, 8)
    # one more than can be, so that reaching the last would show
    applied_levels = workers + crashes + expiries + 1
    config = at.Config(
        W=workers,
        variant=option(name, constants, "Variant", at.VARIANTS),
        max_crashes=crashes,
        max_expiries=expiries,
        applied_levels=applied_levels,
    )
    width = at.FIRST_WORKER + at.WORKER_BYTES * workers
    places = [at.worker_at(w) for w in range(1, workers + 1)]
    initial = np.zeros((1, width), np.uint8)
    initial[0, places] = at.ACQUIRE
    initial[0, at.CLOCK_PC] = at.EXPIRE
    return Model(
        name=f"{name} of {workers} workers",
        module=at,
        config=config,
        width=width,
        fanout=2 * workers + 2,
        label_width=2,
        initial=initial,
        actions=at.ACTIONS,
        invariants=at.INVARIANTS,
        sometimes=(
            *(f"Applied >= {n}" for n in range(1, applied_levels + 1)),
            *(f"Executing >= {n}" for n in range(1, workers + 2)),
        ),
        components=(0, *places),
        decode=lambda record: _decode(config, record),
        describe=lambda label: at.ACTIONS[label[0]] + (f"({label[1]})" if 0 < label[1] <= workers else ""),
    )


def _decode(c: at.Config, record: Any) -> dict[str, Value]:
    """The variables of the translation in a state, by name."""
    s = [int(byte) for byte in record]
    workers = range(1, c.W + 1)
    places = [s[at.worker_at(w)] for w in workers] + [s[at.CLOCK_PC]]
    return {
        "intent": bool(s[at.INTENDED]),
        "recorded": bool(s[at.RECORDED]),
        "lease": s[at.LEASE],
        "applied": s[at.APPLIED],
        "crashes": s[at.CRASHES],
        "expiries": s[at.EXPIRIES],
        "owns": tuple(bool(s[at.worker_at(w) + at.OWNS]) for w in workers),
        "pc": tuple("Done" if place == at.DONE else at.ACTIONS[place] for place in places),
    }
