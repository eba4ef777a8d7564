"""K racers at one parked interrupt, and four ways to claim it: the mirror of ``specs/pluscal/ClaimGate.tla``."""

from __future__ import annotations

from pymodel.claim_gate.model import CONSTANTS, LIVENESS, build, fair_process

__all__ = ["CONSTANTS", "LIVENESS", "build", "fair_process"]
