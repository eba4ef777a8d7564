"""The resume contract as a model for the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pymodel.engine import Model
from pymodel.resume import actions, clauses, faults, faulty, reading, transitions
from pymodel.resume.decoding import decoder, describe
from pymodel.resume.fault_names import FAULTS, fault_bits, fault_names
from pymodel.resume.initial import initial_state
from pymodel.resume.layout import OVERFLOWS, Bounds, Config, lay_out
from pymodel.resume.program import Program

__all__ = ["FAULTS", "build", "fault_bits", "fault_names", "with_arrays"]


def with_arrays(config: Config) -> Config:
    """The same configuration with arrays for lists and bytes, which is what compiled functions take."""
    fields: dict[str, Any] = config._asdict()
    arrays = {name: np.array(value, np.int64) for name, value in fields.items() if isinstance(value, list)}
    octets = {
        name: np.frombuffer(value, np.uint8) for name, value in fields.items() if isinstance(value, bytes)
    }
    return Config(**(fields | arrays | octets))


def build(
    program: Program,
    bounds: Bounds,
    fault_set: Iterable[str] = (),
    name: str = "ResumeContract",
    sought: Iterable[str] = (),
    deviating: bool = False,
) -> Model:
    """The model of a program within bounds, with the named faults switched on.

    With `sought`, clauses of safety by name, a state also holds which of them were broken by now, and nothing is judged
    but the invariant `NotSought`: not all of them were.
    Without a fault it is the reference, which is judged by `NeverStuck` too; with `deviating` it is the model with faults
    then as well, none of which is on.

    Raises:
        ModelError: an unknown fault, or what doesn't fit the record.
    """
    bits = sum(1 << clauses.CLAUSES.index(clause) for clause in sought)
    layout = lay_out(program, bounds, fault_bits(fault_set), sought=bits)
    deviating = deviating or layout.config.faults != 0
    reference = (transitions, clauses, actions, reading)
    return Model(
        name=name,
        module=(faulty, *reference, faults) if deviating else reference,
        config=with_arrays(layout.config),
        width=layout.width,
        fanout=layout.fanout,
        label_width=transitions.LABEL_WIDTH,
        initial=np.frombuffer(initial_state(layout), np.uint8).reshape(1, -1),
        actions=transitions.ACTIONS,
        invariants=faulty.INVARIANTS if deviating else clauses.INVARIANTS,
        sometimes=clauses.SOMETIMES,
        components=layout.components,
        overflow=OVERFLOWS,
        marks=FAULTS,
        decode=decoder(layout.config),
        describe=describe,
    )
