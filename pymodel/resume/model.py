"""The resume contract as a model for the engine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pymodel.engine import Model
from pymodel.resume import actions, clauses, faults, reading, transitions
from pymodel.resume.decoding import decoder, describe
from pymodel.resume.fault_names import FAULTS, fault_bits, fault_names
from pymodel.resume.layout import OVERFLOWS, Bounds, Config, lay_out
from pymodel.resume.program import Program

__all__ = ["FAULTS", "build", "fault_bits", "fault_names", "initial_record"]


def initial_record(config: Config, width: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Init: the root runs, nothing else is there."""
    record = np.zeros(width, np.uint8)
    root = reading.branch_at(config, 1)
    record[root + reading.STATUS] = reading.RUNNING
    record[root + reading.DECLARED] = 1
    return record


def build(
    program: Program, bounds: Bounds, fault_set: Iterable[str] = (), name: str = "ResumeContract"
) -> Model:
    """The model of a program within bounds, with the named faults switched on.

    Raises:
        ModelError: an unknown fault, or what doesn't fit the record.
    """
    layout = lay_out(program, bounds, fault_bits(fault_set))
    return Model(
        name=name,
        module=(transitions, clauses, faults, actions, reading),
        config=layout.config,
        width=layout.width,
        fanout=layout.fanout,
        label_width=transitions.LABEL_WIDTH,
        initial=initial_record(layout.config, layout.width).reshape(1, -1),
        actions=transitions.ACTIONS,
        invariants=clauses.INVARIANTS,
        sometimes=clauses.SOMETIMES,
        components=layout.components,
        overflow=OVERFLOWS,
        decode=decoder(layout.config),
        describe=describe,
    )
