"""What every function of the sequencer's model is given."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Config"]


class Config(NamedTuple):
    """What every function of the model gets as ``c``.  Arrays are indexed from 1."""

    R: int
    """runners"""
    U: int
    """units"""
    S: int
    """steps"""
    D: int
    """deliveries"""
    V: int
    """values"""
    max_crashes: int
    max_overruns: int
    atomic_claim: int
    step_keys: int
    runners: int
    """where the runners begin in the record"""
    first: Any
    """first[u]: the first step of unit u; first[U + 1] is S + 1"""
    unit_of: Any
    kind: Any
    gate_in: Any
    """gate_in[u]: the gate of unit u, or 0"""
