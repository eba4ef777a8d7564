"""What a snapshots' file of pydantic-graph holds; read as JSON, so that also what the framework refuses is seen."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trace_check.events import ROOT_BRANCH, CheckpointRead, ProgramUnit, Value
from trace_check.recording.system import BranchRead
from trace_check.recording.work import is_valid, told

__all__ = [
    "AWAIT_ANSWER",
    "RUN_UNIT",
    "gate_of",
    "read_branch",
    "sealed_unit",
    "snapshots_file",
    "unit_index",
]

RUN_UNIT = "RunUnit"
"""The class of the nodes that do a unit's work."""

AWAIT_ANSWER = "AwaitAnswer"
"""The class of the nodes at which the application stops for an answer."""


class _Node(Struct):
    """The node of a snapshot: the fields that it has in the recorded programs."""

    unit: str
    answer: Value = None


class _Snapshot(Struct):
    """One entry of the file: that a node is to be run, or, without a node, the end."""

    id: str
    state: msgspec.Raw
    node: _Node | None = None
    status: str = ""

    @property
    def node_class(self) -> str:
        """The node's class, by which the framework begins the id; the node itself lacks it if its state is invalid."""
        return self.id.partition(":")[0]


def snapshots_file(folder: Path, thread: str) -> Path:
    """The file of a run; the framework wants one for each."""
    return folder / f"{thread}.json"


def gate_of(unit: ProgramUnit) -> str | None:
    """The name of a unit's gate, None if it has none."""
    return next((step.step for step in unit.steps if step.kind == "gate"), None)


def unit_index(program: Sequence[ProgramUnit], name: str) -> int:
    """A unit's place in the program, from 0."""
    return [unit.name for unit in program].index(name)


def sealed_unit(program: Sequence[ProgramUnit], node_class: str, unit: str | None) -> ProgramUnit | None:
    """The unit that a snapshot seals, by the node that it says is next.

    Args:
        program: the units in order.
        node_class: the next node's class.
        unit: the next node's unit; None at the end.

    Returns:
        The unit before; None for the program's first node, and for a node that an answer put in the place of another.
    """
    if unit is None:
        return program[-1]
    index = unit_index(program, unit)
    if index == 0 or (node_class == RUN_UNIT and gate_of(program[index]) is not None):
        return None
    return program[index - 1]


def read_branch(file: Path, program: list[ProgramUnit]) -> BranchRead:
    """Read a run's snapshots; a file that is no JSON is one checkpoint that is not complete.

    Args:
        file: the snapshots' file, which nobody writes now.
        program: the units of the run.
    """
    if not file.exists():
        return BranchRead(branch=ROOT_BRANCH)
    content = file.read_bytes()
    try:
        snapshots = msgspec.json.decode(content, type=list[_Snapshot])
    except msgspec.DecodeError:
        torn = CheckpointRead(
            id=file.name,
            parent=None,
            unit=None,
            outcomes={},
            digest=_digest(content),
            valid=False,
            complete=False,
            next=[],
        )
        return BranchRead(branch=ROOT_BRANCH, checkpoints=[torn])
    checkpoints: list[CheckpointRead] = []
    answers: dict[str, list[Value]] = {}
    waiting: list[str] = []
    for snapshot in snapshots:
        node = snapshot.node
        sealed = sealed_unit(program, snapshot.node_class, node.unit if node is not None else None)
        if sealed is not None:
            parent = checkpoints[-1].id if checkpoints else None
            checkpoints.append(_checkpoint(snapshot, sealed, parent))
        if node is None:
            continue
        gate = gate_of(program[unit_index(program, node.unit)])
        if gate is None:
            continue
        if snapshot.node_class == AWAIT_ANSWER and snapshot.status == "created":
            waiting.append(gate)
        elif snapshot.node_class == RUN_UNIT and node.answer not in answers.setdefault(gate, []):
            answers[gate].append(node.answer)
    return BranchRead(
        branch=ROOT_BRANCH,
        checkpoints=checkpoints,
        answers=answers,
        open_interrupts=list(dict.fromkeys(waiting)),
        token=checkpoints[-1].id if checkpoints else None,
    )


def _checkpoint(snapshot: _Snapshot, sealed: ProgramUnit, parent: str | None) -> CheckpointRead:
    stored: dict[str, Any] = msgspec.json.decode(snapshot.state)["outcomes"]
    outcomes = {step.step: told(stored[step.step]) for step in sealed.steps if step.step in stored}
    kinds = {step.step: step.kind for step in sealed.steps}
    return CheckpointRead(
        id=snapshot.id,
        parent=parent,
        unit=sealed.name,
        outcomes=outcomes,
        digest=_digest(bytes(snapshot.state)),
        valid=all(name in outcomes and (kinds[name] == "gate" or is_valid(outcomes[name])) for name in kinds),
        complete=True,
        next=[snapshot.node.unit] if snapshot.node is not None else [],
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
