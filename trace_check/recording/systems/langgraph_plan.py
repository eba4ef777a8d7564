"""A program as the nodes of a graph, and what a LangGraph checkpoint says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trace_check.events import ProgramStep, ProgramUnit

__all__ = ["Plan"]

_BRANCH_TO: Final = "branch:to:"
"""The channel that triggers a node is called so, followed by the node's name."""


class Plan:
    """The program as nodes of a graph."""

    def __init__(self, program: list[ProgramUnit]) -> None:
        self.program = program
        self.units: dict[str, str] = {}
        self.nodes: dict[str, list[ProgramStep]] = {}
        self.layers: list[list[str]] = []
        self.steps: dict[str, ProgramStep] = {step.step: step for unit in program for step in unit.steps}
        for unit in program:
            parts = _parts(unit)
            layer = []
            for part in parts:
                node = unit.name if len(parts) == 1 else f"{unit.name}/{part[0].step}"
                self.nodes[node] = part
                self.units[node] = unit.name
                layer.append(node)
            self.layers.append(layer)
        self.last_step = self.nodes[self.layers[-1][-1]][-1].step

    def before(self, step: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """Of the outcomes in a step's own unit, those of the steps that come before it.

        Args:
            step: the step.
            own: outcomes of steps of its unit.
        """
        earlier: dict[str, Any] = {}
        for name in self.steps[step].after:
            earlier |= {name: own[name]} | self.before(name, own)
        return earlier

    def sealed_by(self, checkpoint: Mapping[str, Any], parent: Mapping[str, Any] | None) -> list[str]:
        """The nodes that ran between two checkpoints, by the versions of the channels that each has seen."""
        before = parent["versions_seen"] if parent is not None else {}
        seen = checkpoint["versions_seen"]
        return [node for node in self.nodes if node in seen and seen[node] != before.get(node)]

    def next_units(self, checkpoint: Mapping[str, Any]) -> list[str]:
        """The units whose nodes the checkpoint's own channels trigger."""
        channels = checkpoint["channel_values"]
        units = [self.units[node] for node in self.nodes if f"{_BRANCH_TO}{node}" in channels]
        return list(dict.fromkeys(units))

    def sealed(self, checkpoint: Mapping[str, Any], ran: Sequence[str]) -> dict[str, Any]:
        """The unit that a checkpoint seals, as the fields of an event."""
        steps = [step.step for node in ran for step in self.nodes[node]]
        stored = checkpoint["channel_values"].get("outcomes", {})
        outcomes = {step: stored[step] for step in steps if step in stored}
        return {"unit": self.units[ran[0]], "steps": steps, "outcomes": outcomes}

    def is_valid(self, steps: Sequence[str], outcomes: Mapping[str, object]) -> bool:
        """Whether each step has an outcome, text where it is no gate's: the schema of the nodes' code."""
        return all(
            step in outcomes and (self.steps[step].kind == "gate" or isinstance(outcomes[step], str))
            for step in steps
        )


def _parts(unit: ProgramUnit) -> list[list[ProgramStep]]:
    """The unit's steps in an order that it allows, split into parts with no order between them."""
    order: list[ProgramStep] = []
    while len(order) < len(unit.steps):
        done = {step.step for step in order}
        order += [
            step
            for step in unit.steps
            if step.step not in done and all(before in done for before in step.after)
        ][:1]
    parts: list[list[ProgramStep]] = []
    for step in order:
        touched = [part for part in parts if any(other.step in step.after for other in part)]
        parts = [part for part in parts if part not in touched]
        parts.append([*(other for part in touched for other in part), step])
    return parts
