"""The order of a program's steps, for systems that leave it to the application's code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trace_check.events import ProgramStep, ProgramUnit

__all__ = ["content_before", "parts", "rounds", "sealed_units"]


def rounds(unit: ProgramUnit) -> list[list[ProgramStep]]:
    """The steps of a unit in groups: those of a group may run at once, each as early as the steps before it allow."""
    found: list[list[ProgramStep]] = []
    done: set[str] = set()
    while len(done) < len(unit.steps):
        found.append([step for step in unit.steps if step.step not in done and done.issuperset(step.after)])
        done |= {step.step for step in found[-1]}
    return found


def parts(unit: ProgramUnit) -> list[list[ProgramStep]]:
    """The steps of a unit in groups that have no order with each other, each in an order that it allows."""
    found: list[list[ProgramStep]] = []
    for step in (step for together in rounds(unit) for step in together):
        touched = [part for part in found if any(other.step in step.after for other in part)]
        found = [part for part in found if part not in touched]
        found.append([*(other for part in touched for other in part), step])
    return found


def content_before(program: Sequence[ProgramUnit], step: str, outcomes: Mapping[str, Any]) -> dict[str, Any]:
    """What a step is a function of: the outcomes of earlier units, and of its own unit's steps that come before it.

    Args:
        program: the units in order.
        step: a step of one of them.
        outcomes: by step; those of the steps before it are needed.

    Raises:
        KeyError: one of them is missing, or the program has no such step.
    """
    earlier: list[str] = []
    for unit in program:
        own = {other.step: other.after for other in unit.steps}
        if step in own:
            waiting = list(own[step])
            while waiting:
                name = waiting.pop()
                earlier.append(name)
                waiting += own[name]
            return {name: outcomes[name] for name in earlier}
        earlier += own
    raise KeyError(step)


def sealed_units(program: Sequence[ProgramUnit], outcomes: Mapping[str, Any]) -> int:
    """How many units, from the first on, have the outcome of each of their steps."""
    for number, unit in enumerate(program):
        if any(step.step not in outcomes for step in unit.steps):
            return number
    return len(program)
