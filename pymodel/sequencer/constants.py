"""The sequencer by the constants of its PlusCal module, and the temporal property that the mirror can judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymodel.constants import Constants, number, only, option, truth
from pymodel.engine import Label, Model
from pymodel.liveness import LeadsTo, Liveness
from pymodel.resume.program import PROGRAMS
from pymodel.sequencer import model, steps
from pymodel.sequencer.model import Bounds

__all__ = ["CONSTANTS", "LIVENESS", "build", "fair_process"]

CONSTANTS = (
    *("Runners", "UnitCount", "UnitOf", "Kind", "Deliveries", "Values", "F"),
    *("MaxCrashes", "MaxOverruns", "AtomicClaim", "StepKeys"),
)

_NAME = "Sequencer"
_CLOCK = -1
_PROGRAMS = ("Linear", "Sandwich", "Gated")
_SETS = tuple("{" + ",".join(map(str, range(1, n + 1))) + "}" for n in range(1, 9))


def build(constants: Constants) -> Model:
    """The algorithm with these constants, named as in a configuration of ``MCSequencer.tla``.

    Raises:
        ModelError: a constant is unknown, missing or impossible.
    """
    only(_NAME, constants, CONSTANTS)
    option(_NAME, constants, "F", ("MCF",))
    chosen = option(_NAME, constants, "UnitOf", tuple(f"{name}UnitOf" for name in _PROGRAMS))
    program = PROGRAMS[_PROGRAMS[chosen]]
    option(_NAME, constants, "Kind", (f"{program.name}Kind",))
    number(_NAME, constants, "UnitCount", len(program.units), len(program.units))
    runners, answers, values = (
        option(_NAME, constants, name, _SETS) + 1 for name in ("Runners", "Deliveries", "Values")
    )
    bounds = Bounds(
        runners=runners,
        answers=answers,
        values=values,
        crashes=number(_NAME, constants, "MaxCrashes", 0, 255),
        overruns=number(_NAME, constants, "MaxOverruns", 0, 255),
        atomic_claim=truth(_NAME, constants, "AtomicClaim"),
        step_keys=truth(_NAME, constants, "StepKeys"),
    )
    return model.build(program, bounds)


def _ended_or_waits(state: Mapping[str, Any]) -> bool:
    """What LV wants again and again: all is committed, or a question has no answer yet.

    A process asks only when all before the gate is recorded, so that the gate is then all that is available.
    """
    answers = state["answers"]
    if isinstance(answers, tuple):
        answers = dict(enumerate(answers, 1))
    ended = sum(len(outcomes) for outcomes in state["log"]) == len(state["writes"])
    return ended or any(answers[g] == 0 for g in state["asked"])


LIVENESS: dict[str, Liveness] = {"LV": LeadsTo(lambda state: True, _ended_or_waits)}
"""The temporal property, by its name in the PlusCal module, that is one of states alone."""


def fair_process(label: Label) -> int | None:
    """The process that takes a step, if it is a fair one: the runners and the clock are."""
    if label[0] < steps.ANSWERING:
        return label[1]
    return _CLOCK if label[0] == steps.EXPIRE else None
