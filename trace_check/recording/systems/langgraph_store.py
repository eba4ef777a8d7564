"""What a LangGraph SQLite store holds, read through a saver's public methods."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trace_check.events import CheckpointRead, Value
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.langgraph_branches import Branches
from trace_check.recording.systems.langgraph_plan import Plan

__all__ = ["INTERRUPT", "NULL_TASK", "RESUME", "read_branches", "sealing_nodes", "walk"]

INTERRUPT: Final = "__interrupt__"
"""The channel of a pending write that parks a gate."""

RESUME: Final = "__resume__"
"""The channel of a pending write that holds an answer, or those that a task consumed."""

NULL_TASK: Final = "00000000-0000-0000-0000-000000000000"
"""The task in whose name the caller's own writes are stored."""


def read_branches(saver: Any, thread: str, plan: Plan, branches: Branches) -> list[BranchRead]:
    """Every branch of a thread, the root first.

    Args:
        saver: LangGraph's SQLite saver, on a store that nobody writes to now.
        thread: the thread's id.
        plan: the program that ran.
        branches: which checkpoint belongs to which branch.
    """
    rows = _stored_rows(saver, thread)
    return [
        _read_branch(saver, thread, plan, rows, branch, head)
        for branch, head in branches.heads(sorted(rows)).items()
    ]


@dataclass(frozen=True, slots=True)
class _Row:
    """What the store's row of a checkpoint says before anything of it is decoded."""

    parent: str | None
    digest: str


def _stored_rows(saver: Any, thread: str) -> dict[str, _Row]:
    """Checkpoint id -> its row, with a digest of the bytes that the store holds."""
    query = (
        "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns = ''"
    )
    with saver.cursor(transaction=False) as cursor:
        return {
            name: _Row(parent, hashlib.sha256(f"{kind}\0".encode() + (blob or b"")).hexdigest()[:16])
            for name, parent, kind, blob in cursor.execute(query, (thread,))
        }


def _read_branch(
    saver: Any, thread: str, plan: Plan, rows: dict[str, _Row], branch: str, head: str | None
) -> BranchRead:
    checkpoints: list[CheckpointRead] = []
    answers: dict[str, list[Value]] = {}
    gate: str | None = None
    before: Any = None
    item: Any = None
    for name in _line_of(rows, head):
        parent = checkpoints[-1].id if checkpoints else None
        item = _read_whole(saver, thread, name)
        if item is None:
            checkpoints.append(_torn(name, parent, rows[name].digest))
            continue
        if ran := plan.sealed_by(item.checkpoint, before):
            sealed = plan.sealed(item.checkpoint, ran)
            checkpoints.append(
                CheckpointRead(
                    id=name,
                    parent=parent,
                    digest=rows[name].digest,
                    valid=plan.is_valid(sealed["steps"], sealed["outcomes"]),
                    complete=True,
                    next=plan.next_units(item.checkpoint),
                    unit=sealed["unit"],
                    outcomes=sealed["outcomes"],
                )
            )
        before = item.checkpoint
        gate = _gate_at(plan, item) or gate
        stored = _answers_at(item)
        if gate is not None and stored:
            kept = answers.setdefault(gate, [])
            kept += [value for value in dict.fromkeys(stored) if value not in kept]
    return BranchRead(
        branch=branch,
        checkpoints=checkpoints,
        answers=answers,
        open_interrupts=_open_gates(item) if item is not None else [],
        token=head,
    )


def _line_of(rows: dict[str, _Row], head: str | None) -> list[str]:
    """A checkpoint and its ancestors in the store, oldest first."""
    line = []
    while head is not None and head in rows:
        line.append(head)
        head = rows[head].parent
    return line[::-1]


def _read_whole(saver: Any, thread: str, checkpoint: str) -> Any:
    """The checkpoint as the framework reads it; None where it cannot be decoded."""
    configurable = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": checkpoint}
    try:
        return saver.get_tuple({"configurable": configurable})
    except Exception:
        # Whatever its codec raises on bytes that it did not write in whole.
        return None


def _torn(checkpoint: str, parent: str | None, digest: str) -> CheckpointRead:
    return CheckpointRead(
        id=checkpoint,
        parent=parent,
        unit=None,
        outcomes={},
        digest=digest,
        valid=False,
        complete=False,
        next=[],
    )


def _gate_at(plan: Plan, item: Any) -> str | None:
    """The gate that the checkpoint's pending writes are about, or that is in the unit to come."""
    for _, channel, value in item.pending_writes or []:
        if channel == INTERRUPT:
            return str(value[0].value["gate"])
    coming = plan.next_units(item.checkpoint)
    gates = [
        step.step
        for unit in plan.program
        if unit.name in coming
        for step in unit.steps
        if step.kind == "gate"
    ]
    return gates[0] if gates else None


def _answers_at(item: Any) -> list[Value]:
    """The answers stored at a checkpoint: those that a task consumed, then the last one delivered."""
    consumed: list[Value] = []
    delivered: list[Value] = []
    for task, channel, value in item.pending_writes or []:
        if channel == RESUME:
            if task == NULL_TASK:
                delivered.append(value)
            else:
                consumed += value
    return consumed + delivered


def _open_gates(item: Any) -> list[str]:
    """The gates of interrupts whose task has neither an answer nor an outcome at this checkpoint."""
    writes = item.pending_writes or []
    answered = {task for task, channel, _ in writes if channel != INTERRUPT}
    if NULL_TASK in answered:
        return []
    return [
        str(raised.value["gate"])
        for task, channel, value in writes
        if channel == INTERRUPT and task not in answered
        for raised in value
    ]


def walk(saver: Any, thread: str, checkpoint_id: str | None) -> Iterator[Any]:
    """A checkpoint and its ancestors, newest first."""
    configurable = {"thread_id": thread, "checkpoint_ns": ""}
    config: Any = {"configurable": configurable | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}
    while config is not None and (item := saver.get_tuple(config)) is not None:
        yield item
        config = item.parent_config


def sealing_nodes(plan: Plan, line: Sequence[Any]) -> Iterator[tuple[Any, list[str]]]:
    """Each checkpoint of a line, oldest first, with the nodes whose unit it seals."""
    parent = None
    for item in line:
        yield item, plan.sealed_by(item.checkpoint, parent)
        parent = item.checkpoint
