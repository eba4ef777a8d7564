"""The names of the faults, by their bits in :mod:`pymodel.resume.faults`."""

from __future__ import annotations

from collections.abc import Iterable

from pymodel.errors import ModelError

__all__ = ["FAULTS", "fault_bits", "fault_names"]

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
