"""A program as nodes, for systems that keep it all in snapshots: what runs together, and what a snapshot seals.

A system's own code says what a snapshot holds (:class:`Progress`); which units that seals is found out here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording.order import parts, rounds
from trace_check.recording.work import is_valid, told

__all__ = ["Item", "Layout", "Node", "Progress", "sealing"]


@dataclass(frozen=True)
class Item:
    """A step, of which unit and instance."""

    thread: str
    unit: str
    step: ProgramStep

    @property
    def mark(self) -> str:
        """Names the unit of that instance in a snapshot."""
        return f"{self.thread}/{self.unit}"


@dataclass(frozen=True)
class Node:
    """A node: its name and its steps in order."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Progress:
    """What a snapshot holds.

    Attributes:
        runs: (node, mark of a unit) -> how often the node ran its part of it.
        outcomes: instance -> step -> outcome.
    """

    runs: Mapping[tuple[str, str], int]
    outcomes: Mapping[str, Mapping[str, Any]]


class Layout:
    """The program as layers of nodes; those of one layer run together.

    Args:
        program: the units.
        threads: the instances of the program.
        joined: how several of them are joined; see :class:`trace_check.recording.scenarios.Scenario`.

    Attributes:
        program: the units.
        threads: the instances.
        layers: the nodes.
        steps: each step by name.
    """

    def __init__(self, program: list[ProgramUnit], threads: Sequence[str], joined: str) -> None:
        self.program = program
        self.threads = list(threads)
        self.steps: dict[str, ProgramStep] = {step.step: step for unit in program for step in unit.steps}
        whole = {
            thread: [
                Item(thread, unit.name, step)
                for unit in program
                for together in rounds(unit)
                for step in together
            ]
            for thread in threads
        }
        if joined == "one-node":
            self.layers = [[Node("all", tuple(item for items in whole.values() for item in items))]]
        elif joined == "parallel":
            self.layers = [[Node(thread, tuple(items)) for thread, items in whole.items()]]
        else:
            self.layers = [_layer(threads[0], unit) for unit in program]

    def nodes(self) -> Iterator[Node]:
        """Every node."""
        for layer in self.layers:
            yield from layer

    def before(self, step: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """Of the outcomes of a step's own unit, those of the steps that come before it."""
        earlier: dict[str, Any] = {}
        for name in self.steps[step].after:
            earlier |= {name: own[name]} | self.before(name, own)
        return earlier

    def sealed_by(self, now: Progress, before: Progress | None, thread: str) -> list[ProgramUnit]:
        """The units of an instance that are whole in a snapshot and ran since the one before."""
        earlier = before.runs if before is not None else {}
        found = []
        for unit in self.program:
            mark = f"{thread}/{unit.name}"
            shares = [(node.name, mark) for node in self.nodes() if any(i.mark == mark for i in node.items)]
            if all(share in now.runs for share in shares) and any(
                now.runs[share] != earlier.get(share) for share in shares
            ):
                found.append(unit)
        return found

    def sealed(self, now: Progress, unit: ProgramUnit, thread: str) -> dict[str, Any]:
        """What a snapshot holds of a unit that it seals, as fields of an event."""
        stored = now.outcomes.get(thread, {})
        steps = [step.step for step in unit.steps]
        outcomes = {step: stored[step] for step in steps if step in stored}
        valid = all(
            step in outcomes and (self.steps[step].kind == "gate" or is_valid(outcomes[step]))
            for step in steps
        )
        told_outcomes = {step: told(outcome) for step, outcome in outcomes.items()}
        return {"unit": unit.name, "steps": steps, "outcomes": told_outcomes, "valid": valid}

    def after(self, unit: ProgramUnit) -> list[str]:
        """The unit that comes after one, in a list that is empty after the last."""
        names = [other.name for other in self.program]
        place = names.index(unit.name) + 1
        return names[place : place + 1]


def sealing(layout: Layout, line: Sequence[tuple[str, Progress]], thread: str) -> list[str]:
    """The snapshots of a line, the oldest first, that seal a unit of an instance."""
    found = []
    before: Progress | None = None
    for name, now in line:
        if layout.sealed_by(now, before, thread):
            found.append(name)
        before = now
    return found


def _layer(thread: str, unit: ProgramUnit) -> list[Node]:
    """A unit's nodes: one for each part of it that has no order with the others."""
    found = parts(unit)
    return [
        Node(
            unit.name if len(found) == 1 else f"{unit.name}-{part[0].step}",
            tuple(Item(thread, unit.name, step) for step in part),
        )
        for part in found
    ]
