"""A program as the nodes of a graph, and what a LangGraph checkpoint says about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trace_check.events import ProgramStep, ProgramUnit, Value
from trace_check.recording.order import parts
from trace_check.recording.work import told

__all__ = ["OUTCOMES", "Part", "Plan", "Sealed"]

OUTCOMES: Final = "outcomes"
"""The channel of the graph's state: the outcome of every part so far."""

_BRANCH_TO: Final = "branch:to:"
"""The channel that triggers a node is called so, followed by the node's name."""

_COPIES: Final = ("input", "update", "fork")
"""Where checkpoints come from that no node ran for: the input, a declared fork, the copy at which a replay begins."""


@dataclass(frozen=True, slots=True)
class Part:
    """A step of one instance of the program; `key` is its name in the graph's state."""

    thread: str
    unit: str
    step: ProgramStep
    key: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """A unit of one instance that a checkpoint seals.

    A checkpoint that seals several units of an instance (durability ``exit``) stands for several checkpoints: the
    last is called what it is called, the others by its name and theirs.
    """

    checkpoint: str
    thread: str
    unit: str
    steps: list[str]
    outcomes: dict[str, Value]
    valid: bool
    next: list[str]


class Plan:
    """The program as nodes of a graph.

    Args:
        program: the units.
        threads: the instances of the program; several are parts of one step of the graph.
        joined: ``one-node``: each instance's part of a unit comes after another's in one node; ``parallel``: they
            are nodes of one superstep.

    Attributes:
        nodes: each node -> its parts, in the order in which it runs them.
        layers: the nodes of each superstep.
        parts: every part by its key.
    """

    def __init__(self, program: list[ProgramUnit], threads: Sequence[str], joined: str = "") -> None:
        self.program = program
        self.threads = list(threads)
        self.nodes: dict[str, list[Part]] = {}
        self.layers: list[list[str]] = []
        for unit in program:
            layer: dict[str, list[Part]] = {}
            for thread in self.threads:
                split = parts(unit)
                for steps in split:
                    name = unit.name if len(split) == 1 else f"{unit.name}/{steps[0].step}"
                    node = f"{name}@{thread}" if joined == "parallel" else name
                    layer.setdefault(node, []).extend(
                        Part(thread, unit.name, step, self._key(thread, step.step)) for step in steps
                    )
            self.nodes |= layer
            self.layers.append(list(layer))
        self.parts: dict[str, Part] = {part.key: part for parts in self.nodes.values() for part in parts}

    def _key(self, thread: str, step: str) -> str:
        return step if len(self.threads) == 1 else f"{step}@{thread}"

    def outcomes_of(self, thread: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """The outcomes of one instance in a state, by step."""
        return {
            part.step.step: state[part.key]
            for part in self.parts.values()
            if part.thread == thread and part.key in state
        }

    def last_outcome(self, thread: str, state: Mapping[str, Any]) -> tuple[bool, Any]:
        """Is every part of an instance done in a state, and what did its last one yield?"""
        own = [part for part in self.parts.values() if part.thread == thread]
        return all(part.key in state for part in own), state.get(own[-1].key)

    def content(self, part: Part, state: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """What is before a step: the outcomes of the units before its own, and in its own of those that it comes after.

        Args:
            part: the step.
            state: the outcomes that the graph's state has.
            own: those that its node has yielded, by key.
        """
        return self.outcomes_of(part.thread, state) | self._before(part, own)

    def _before(self, part: Part, own: Mapping[str, Any]) -> dict[str, Any]:
        earlier: dict[str, Any] = {}
        for name in part.step.after:
            key = self._key(part.thread, name)
            earlier |= {name: own[key]} | self._before(self.parts[key], own)
        return earlier

    def ran(self, item: Any, parent: Any) -> list[str]:
        """The nodes that ran between two stored checkpoints, by the versions of the channels that each has seen."""
        return self.ran_before(item.checkpoint, item.metadata, parent)

    def ran_before(
        self, checkpoint: Mapping[str, Any], metadata: Mapping[str, Any], parent: Any
    ) -> list[str]:
        """The same of a checkpoint that is about to be stored after `parent`."""
        if metadata.get("source") in _COPIES:
            return []
        before = parent.checkpoint["versions_seen"] if parent is not None else {}
        seen = checkpoint["versions_seen"]
        return [node for node in self.nodes if node in seen and seen[node] != before.get(node)]

    def sealed(self, checkpoint: Mapping[str, Any], ran: Sequence[str]) -> Iterator[Sealed]:
        """The units that a checkpoint seals, those of each instance in their order.

        Args:
            checkpoint: the checkpoint.
            ran: the nodes that ran since the one before.
        """
        stored = checkpoint["channel_values"].get(OUTCOMES, {})
        for thread in self.threads:
            units: dict[str, list[Part]] = {}
            for node in ran:
                for part in self.nodes[node]:
                    if part.thread == thread:
                        units.setdefault(part.unit, []).append(part)
            order = [unit.name for unit in self.program if unit.name in units]
            for unit in order:
                parts = units[unit]
                last = unit == order[-1]
                yield Sealed(
                    checkpoint=checkpoint["id"] if last else f"{checkpoint['id']}:{unit}",
                    thread=thread,
                    unit=unit,
                    steps=[part.step.step for part in parts],
                    outcomes={part.step.step: told(stored[part.key]) for part in parts if part.key in stored},
                    valid=all(
                        part.key in stored and (part.step.kind == "gate" or isinstance(stored[part.key], str))
                        for part in parts
                    ),
                    next=self.next_units(checkpoint) if last else [order[order.index(unit) + 1]],
                )

    def next_units(self, checkpoint: Mapping[str, Any]) -> list[str]:
        """The units whose nodes the checkpoint's own channels trigger."""
        channels = checkpoint["channel_values"]
        units = [parts[0].unit for node, parts in self.nodes.items() if f"{_BRANCH_TO}{node}" in channels]
        return list(dict.fromkeys(units))

    def coming_gates(self, checkpoint: Mapping[str, Any]) -> list[Part]:
        """The gates in the nodes that the checkpoint's own channels trigger."""
        channels = checkpoint["channel_values"]
        return [
            part
            for node, parts in self.nodes.items()
            if f"{_BRANCH_TO}{node}" in channels
            for part in parts
            if part.step.kind == "gate"
        ]
