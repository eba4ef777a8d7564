"""A program as the executors of an Agent Framework workflow, and what one of its checkpoints says about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording.work import is_valid

__all__ = ["Ask", "Handoff", "Item", "Node", "Plan", "ancestry", "asked", "delivered"]

_EXECUTOR_STATE = "_executor_state"
"""Where a checkpoint keeps what its executors saved; its documentation names the key."""


@dataclass
class Handoff:
    """The message from one executor to the next: each instance's outcomes so far, by step."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class Ask:
    """What an executor asks for: the gate, its place among the executor's steps, and the outcomes before it."""

    thread: str
    gate: str
    position: int
    outcomes: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Item:
    """A step, of which unit and instance."""

    thread: str
    unit: str
    step: ProgramStep

    @property
    def mark(self) -> str:
        """Names the unit of that instance in an executor's state."""
        return f"{self.thread}/{self.unit}"


@dataclass(frozen=True)
class Node:
    """An executor: its id and its steps in order."""

    name: str
    items: tuple[Item, ...]


class Plan:
    """The program as layers of executors; those of one layer run in one superstep.

    Args:
        program: the units.
        threads: the instances of the program.
        joined: how several of them are joined; see :class:`trace_check.recording.scenarios.Scenario`.

    Attributes:
        program: the units.
        threads: the instances.
        layers: the executors.
        steps: each step by name.
    """

    def __init__(self, program: list[ProgramUnit], threads: Sequence[str], joined: str) -> None:
        self.program = program
        self.threads = list(threads)
        self.steps: dict[str, ProgramStep] = {step.step: step for unit in program for step in unit.steps}
        whole = {
            thread: [Item(thread, unit.name, step) for unit in program for step in _in_order(unit.steps)]
            for thread in threads
        }
        if joined == "one-node":
            self.layers = [[Node("all", tuple(item for items in whole.values() for item in items))]]
        elif joined == "parallel":
            self.layers = [[Node(thread, tuple(items)) for thread, items in whole.items()]]
        else:
            self.layers = [_layer(threads[0], unit) for unit in program]

    def nodes(self) -> Iterator[Node]:
        """Every executor."""
        for layer in self.layers:
            yield from layer

    def before(self, step: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """Of the outcomes of a step's own unit, those of the steps that come before it."""
        earlier: dict[str, Any] = {}
        for name in self.steps[step].after:
            earlier |= {name: own[name]} | self.before(name, own)
        return earlier

    def sealed_by(self, checkpoint: Any, parent: Any | None, thread: str) -> list[ProgramUnit]:
        """The units of an instance that are whole in a checkpoint and ran since its parent."""
        runs = _runs(checkpoint)
        before = _runs(parent) if parent is not None else {}
        found = []
        for unit in self.program:
            mark = f"{thread}/{unit.name}"
            parts = [(node.name, mark) for node in self.nodes() if any(i.mark == mark for i in node.items)]
            if all(part in runs for part in parts) and any(runs[p] != before.get(p) for p in parts):
                found.append(unit)
        return found

    def sealed(self, checkpoint: Any, unit: ProgramUnit, thread: str) -> dict[str, Any]:
        """What a checkpoint holds of a unit that it seals, as fields of an event, with outcomes as they are stored."""
        stored: dict[str, Any] = {}
        for state in _states(checkpoint).values():
            stored |= state.get("outcomes", {}).get(thread, {})
        steps = [step.step for step in unit.steps]
        outcomes = {step: stored[step] for step in steps if step in stored}
        valid = all(
            step in outcomes and (self.steps[step].kind == "gate" or is_valid(outcomes[step]))
            for step in steps
        )
        return {"unit": unit.name, "steps": steps, "outcomes": outcomes, "valid": valid}

    def after(self, unit: ProgramUnit) -> list[str]:
        """The unit that comes after one, in a list that is empty after the last."""
        names = [other.name for other in self.program]
        place = names.index(unit.name) + 1
        return names[place : place + 1]


def asked(checkpoint: Any) -> dict[tuple[str, str], str]:
    """The requests that a checkpoint holds open: (thread, gate) -> the request's id."""
    pending = checkpoint.pending_request_info_events
    return {(event.data.thread, event.data.gate): request for request, event in pending.items()}


def delivered(checkpoint: Any) -> list[tuple[str, str, Any]]:
    """The answers that a checkpoint holds and nobody took yet: (thread, gate, value)."""
    return [
        (
            message.original_request_info_event.data.thread,
            message.original_request_info_event.data.gate,
            message.data,
        )
        for messages in checkpoint.messages.values()
        for message in messages
        if message.original_request_info_event is not None
    ]


def ancestry(known: Mapping[str, Any], name: str | None) -> list[Any]:
    """A checkpoint and its ancestors among those known, the oldest first."""
    line = []
    while name is not None and name in known:
        line.append(known[name])
        name = known[name].previous_checkpoint_id
    return line[::-1]


def _states(checkpoint: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = checkpoint.state.get(_EXECUTOR_STATE, {})
    return found


def _runs(checkpoint: Any) -> dict[tuple[str, str], int]:
    """(executor, instance and unit) -> how often the executor ran its part of it."""
    return {
        (executor, mark): times
        for executor, state in _states(checkpoint).items()
        for mark, times in state.get("runs", {}).items()
    }


def _in_order(steps: Sequence[ProgramStep]) -> list[ProgramStep]:
    """Steps in an order that they allow."""
    by_name = {step.step: step for step in steps}
    return [by_name[name] for name in TopologicalSorter({s.step: s.after for s in steps}).static_order()]


def _layer(thread: str, unit: ProgramUnit) -> list[Node]:
    """A unit's executors: one for each part of it that has no order with the others."""
    parts: list[list[ProgramStep]] = []
    for step in _in_order(unit.steps):
        touched = [part for part in parts if any(other.step in step.after for other in part)]
        parts = [part for part in parts if part not in touched]
        parts.append([*(other for part in touched for other in part), step])
    return [
        Node(
            unit.name if len(parts) == 1 else f"{unit.name}-{part[0].step}",
            tuple(Item(thread, unit.name, step) for step in part),
        )
        for part in parts
    ]
