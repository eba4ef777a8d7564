"""Names of the points at which a harness can stop a process, the same for every system.

A process under test calls :meth:`trace_check.recording.probe.Probe.reach` with such a name. At a point named
``…ing`` the durable call has not been made yet, at one named ``…ed`` it has returned.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "LOADED",
    "STARTED",
    "answered",
    "answering",
    "committed",
    "committing",
    "fired",
    "firing",
    "parked",
    "parking",
    "passed",
    "recorded",
    "recording",
]

STARTED: Final = "started"
"""The process is up and is about to take its action."""

LOADED: Final = "loaded"
"""The process has read the branch."""


def firing(step: str) -> str:
    """The effect is about to be sent."""
    return f"{step}.firing"


def fired(step: str) -> str:
    """The effect reached the sink and its line is in the log."""
    return f"{step}.fired"


def passed(gate: str) -> str:
    """The code behind the gate runs."""
    return f"{gate}.passed"


def answering(gate: str) -> str:
    """About to store an answer."""
    return f"{gate}.answering"


def answered(gate: str) -> str:
    """The answer is durably stored."""
    return f"{gate}.answered"


def parking(gate: str) -> str:
    """About to park the gate durably."""
    return f"{gate}.parking"


def parked(gate: str) -> str:
    """The gate is durably parked."""
    return f"{gate}.parked"


def recording(step: str) -> str:
    """About to record the step's outcome."""
    return f"{step}.recording"


def recorded(step: str) -> str:
    """The step's outcome is recorded."""
    return f"{step}.recorded"


def committing(unit: str) -> str:
    """About to commit the unit's checkpoint."""
    return f"{unit}.committing"


def committed(unit: str) -> str:
    """The unit's checkpoint is committed."""
    return f"{unit}.committed"
