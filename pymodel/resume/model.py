"""The resume contract as a model for the engine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pymodel.engine import Model, ModelError
from pymodel.resume import actions, clauses, faults, reading, transitions
from pymodel.resume.decoding import decoder, describe
from pymodel.resume.layout import OVERFLOWS, Bounds, Config, lay_out
from pymodel.resume.program import Program

__all__ = ["FAULTS", "build", "fault_bits", "fault_names", "initial_record"]

FAULTS = (
    "restart_from_earlier",
    "skip_uncommitted",
    "unkeyed_effect",
    "ledger_ignored",
    "record_before_fire",
    "fork_nondeterminism",
    "fork_aliases_parent",
    "invalid_persisted",
    "torn_checkpoint",
    "late_answer_recorded",
    "check_then_claim",
    "recompute_differs",
    "implicit_fork",
    "answer_replaced",
    "fork_inherits_answer",
    "lost_answer",
    "lost_commit",
    "unstable_key",
    "orphaned_claim",
    "stuck_running",
)
"""Names of the faults, by bit."""


def fault_bits(names: Iterable[str]) -> int:
    """The bits of faults by name.

    Raises:
        ModelError: a name that no fault has; lists those that there are.
    """
    bits = 0
    for name in names:
        if name not in FAULTS:
            raise ModelError(f"fault {name} is unknown: one of {', '.join(FAULTS)}")
        bits |= 1 << FAULTS.index(name)
    return bits


def fault_names(bits: int) -> tuple[str, ...]:
    """The names of faults by bits."""
    return tuple(name for i, name in enumerate(FAULTS) if bits >> i & 1)


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
