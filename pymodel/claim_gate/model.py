"""``ClaimGate`` as a model for the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymodel.claim_gate import algorithm as at
from pymodel.constants import Constants, number, only, option, truth
from pymodel.engine import Label, Model
from pymodel.liveness import LeadsTo, Liveness
from tlc_runner.values import Value, function

__all__ = ["CONSTANTS", "LIVENESS", "build", "fair_process"]

CONSTANTS = ("K", "Variant", "TakeOver", "MaxCrashes", "MaxExpiries")

LIVENESS: dict[str, Liveness] = {
    "Consumed": LeadsTo(lambda state: bool(state["answered"]), lambda state: bool(state["consumed"]))
}
"""The temporal properties, by their names in the PlusCal module."""


def fair_process(label: Label) -> int | None:
    """The process that takes a step, if it is a fair one: all are but the person."""
    return None if label[0] in (at.ANSWER, at.TERMINATING) else label[1]


def build(constants: Constants) -> Model:
    """The algorithm with these constants, named as in the PlusCal module.

    Raises:
        ModelError: a constant is unknown, missing, impossible, or too large for the record.
    """
    name = "ClaimGate"
    only(name, constants, CONSTANTS)
    racers = number(name, constants, "K", 1, 8)
    crashes = number(name, constants, "MaxCrashes", 0, 8)
    expiries = number(name, constants, "MaxExpiries", 0, 8)
    take_over = truth(name, constants, "TakeOver")
    # one more than can be, so that reaching the last would show
    firing_levels = racers + 1
    applied_levels = racers + 2 * (crashes + expiries) + 2
    config = at.Config(
        K=racers,
        variant=option(name, constants, "Variant", at.VARIANTS),
        take_over=int(take_over),
        max_crashes=crashes,
        max_expiries=expiries,
        firing_levels=firing_levels,
        applied_levels=applied_levels,
    )
    width = at.FIRST_RACER + at.RACER_BYTES * racers
    initial = np.zeros((1, width), np.uint8)
    initial[0, at.PERSON_PC] = at.ANSWER
    initial[0, at.CLOCK_PC] = at.EXPIRE if take_over else at.DONE
    places = [at.racer_at(r) for r in range(1, racers + 1)]
    initial[0, places] = at.LOAD
    return Model(
        name=f"{name} of {racers} racers",
        module=at,
        config=config,
        width=width,
        fanout=2 * racers + 3,
        label_width=2,
        initial=initial,
        actions=at.ACTIONS,
        invariants=at.INVARIANTS,
        sometimes=(
            *(f"Firing >= {n}" for n in range(1, firing_levels + 1)),
            *(f"Applied >= {n}" for n in range(1, applied_levels + 1)),
        ),
        components=(0, *places),
        decode=lambda record: _decode(config, record),
        describe=lambda label: at.ACTIONS[label[0]] + (f"({label[1]})" if 0 < label[1] <= racers else ""),
    )


def _decode(c: at.Config, record: Any) -> dict[str, Value]:
    """The variables of the translation in a state, by name."""
    s = [int(byte) for byte in record]
    racers = range(1, c.K + 1)
    places = {r: _place(s[at.racer_at(r)]) for r in racers}
    places[0] = _place(s[at.PERSON_PC])
    if c.take_over:
        places[c.K + 1] = _place(s[at.CLOCK_PC])
    return {
        "answered": bool(s[at.ANSWERED]),
        "consumed": bool(s[at.CONSUMED]),
        "epoch": s[at.EPOCH],
        "by": s[at.BY],
        "expired": bool(s[at.EXPIRED]),
        "applied": s[at.APPLIED],
        "fired": frozenset(r for r in racers if s[at.FIRED] >> (r - 1) & 1),
        "crashes": s[at.CRASHES],
        "expiries": s[at.EXPIRIES],
        "mine": tuple(s[at.racer_at(r) + at.MINE] for r in racers),
        "right": tuple(s[at.racer_at(r) + at.RIGHT] for r in racers),
        "pc": function(places),
    }


def _place(code: int) -> str:
    return "Done" if code == at.DONE else at.ACTIONS[code]
