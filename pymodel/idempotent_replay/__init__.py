"""A step run at least once whose effect happens once: the mirror of ``specs/pluscal/IdempotentReplay.tla``."""

from __future__ import annotations

from pymodel.idempotent_replay.model import CONSTANTS, LIVENESS, build, fair_process

__all__ = ["CONSTANTS", "LIVENESS", "build", "fair_process"]
