"""Random small programs and bounds, which the trials use as well."""

from __future__ import annotations

from trace_check.trials.programs import random_bounds, random_program

__all__ = ["random_bounds", "random_program"]
