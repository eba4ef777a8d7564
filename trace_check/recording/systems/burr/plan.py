"""A program as the actions of a Burr application."""

from __future__ import annotations

from collections.abc import Sequence

from trace_check.events import ProgramUnit

__all__ = ["ASKING", "BurrPlan"]

ASKING = "ask_"
"""An action of its own for a unit's gate is called so, followed by the unit's name."""


class BurrPlan:
    """Which actions a program has.

    Args:
        program: the units in order.
        asks_apart: a gate is an action of its own, before that of its unit.

    Attributes:
        actions: the names of the actions, in order.
        units: actions that end a unit -> that unit.
        waiting: actions that need a gate's answer as an input -> the gate.
    """

    def __init__(self, program: Sequence[ProgramUnit], *, asks_apart: bool) -> None:
        self.program = list(program)
        self.actions: list[str] = []
        self.units: dict[str, ProgramUnit] = {}
        self.waiting: dict[str, str] = {}
        for unit in program:
            gate = next((step.step for step in unit.steps if step.kind == "gate"), None)
            if gate is not None and asks_apart:
                self.actions.append(ASKING + unit.name)
            self.actions.append(unit.name)
            self.units[unit.name] = unit
            if gate is not None:
                self.waiting[ASKING + unit.name if asks_apart else unit.name] = gate

    def following(self, action: str) -> str | None:
        """The action after one; None after the last."""
        place = self.actions.index(action) + 1
        return self.actions[place] if place < len(self.actions) else None

    def next_unit(self, action: str) -> list[str]:
        """The units that come next once an action is done: one or none."""
        following = self.following(action)
        return [] if following is None else [following.removeprefix(ASKING)]
