"""A program as the methods of a CrewAI flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording.order import parts

__all__ = ["ASKING", "CrewAIPlan"]

ASKING: Final = "ask_"
"""The method that asks for a unit's answer is called so, followed by the unit's name."""


class CrewAIPlan:
    """Which methods a program has.

    Attributes:
        methods: for each method that runs steps, those steps in order, a gate left out.
        units: those methods -> their unit.
        waiting: methods that ask -> their gate.
        layers: the methods in the order in which one layer waits for all of the layer before.
    """

    def __init__(self, program: Sequence[ProgramUnit]) -> None:
        self.program = list(program)
        self.methods: dict[str, list[ProgramStep]] = {}
        self.units: dict[str, ProgramUnit] = {}
        self.waiting: dict[str, str] = {}
        self.layers: list[list[str]] = []
        for unit in program:
            gate = next((step.step for step in unit.steps if step.kind == "gate"), None)
            if gate is not None:
                self.waiting[ASKING + unit.name] = gate
                self.layers.append([ASKING + unit.name])
            found = parts(unit)
            layer = [unit.name if len(found) == 1 else f"{unit.name}_{part[0].step}" for part in found]
            for method, part in zip(layer, found, strict=True):
                self.methods[method] = part
                self.units[method] = unit
            self.layers.append(layer)

    def gate_of(self, method: str) -> str | None:
        """The gate that a method is behind."""
        return self.waiting.get(ASKING + method)

    def asking(self, gate: str) -> str:
        """The method that asks at a gate."""
        return next(method for method, at in self.waiting.items() if at == gate)

    def index(self, unit: str) -> int:
        """A unit's place in the program, from 0."""
        return [known.name for known in self.program].index(unit)

    def parts(self, unit: str) -> set[str]:
        """The methods that run a unit's steps: it is sealed when the state was stored after each of them."""
        return {method for method, of in self.units.items() if of.name == unit}

    def next_unit(self, unit: ProgramUnit) -> list[str]:
        """The units after one: one or none."""
        return [after.name for after in self.program[self.index(unit.name) + 1 :][:1]]
