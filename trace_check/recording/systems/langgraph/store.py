"""What a LangGraph store holds, read through a saver's public methods and the documented tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trace_check.events import CheckpointRead, Value
from trace_check.recording.branches import Branches
from trace_check.recording.system import BranchRead
from trace_check.recording.systems.langgraph.plan import OUTCOMES, Part, Plan
from trace_check.recording.work import told

__all__ = ["INTERRUPT", "NULL_TASK", "RESUME", "Row", "parts_of", "read_branches", "walk"]

INTERRUPT: Final = "__interrupt__"
"""The channel of a pending write that parks a gate."""

RESUME: Final = "__resume__"
"""The channel of a pending write that holds an answer, or those that a task consumed."""

NULL_TASK: Final = "00000000-0000-0000-0000-000000000000"
"""The task in whose name the caller's own writes are stored."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the store's row of a checkpoint says before anything of it is decoded, with a digest of its bytes."""

    parent: str | None
    digest: str


def read_branches(
    saver: Any, thread: str, plan: Plan, rows: Mapping[str, Row], branches: Branches
) -> list[BranchRead]:
    """Every branch of every instance, the root first.

    Args:
        saver: LangGraph's saver, on a store that nobody writes to now.
        thread: LangGraph's thread.
        plan: the program that ran.
        rows: the thread's checkpoints.
        branches: which checkpoint belongs to which branch.
    """
    return [
        read
        for branch, head in branches.heads(sorted(rows)).items()
        for read in _read_branch(saver, thread, plan, rows, branch, head)
    ]


@dataclass(slots=True)
class _Reading:
    """What is read of one instance on the way from the oldest checkpoint to the head."""

    checkpoints: list[CheckpointRead] = field(default_factory=list)
    answers: dict[str, list[Value]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def keep(self, gate: str, value: Value) -> None:
        """Another answer to a gate, unless it is known."""
        kept = self.answers.setdefault(gate, [])
        if value not in kept:
            kept.append(value)


def _read_branch(
    saver: Any, thread: str, plan: Plan, rows: Mapping[str, Row], branch: str, head: str | None
) -> Iterator[BranchRead]:
    readings = {own: _Reading() for own in plan.threads}
    gates: list[Part] = []
    before: Any = None
    item: Any = None
    for name in _line_of(rows, head):
        item = _read_whole(saver, thread, name)
        if item is None:
            for reading in readings.values():
                reading.checkpoints.append(_torn(name, _last(reading), rows[name].digest))
            continue
        for sealed in plan.sealed(item.checkpoint, plan.ran(item, before)):
            reading = readings[sealed.thread]
            reading.tokens[sealed.checkpoint] = name
            reading.checkpoints.append(
                CheckpointRead(
                    id=sealed.checkpoint,
                    parent=_last(reading),
                    digest=rows[name].digest,
                    valid=sealed.valid,
                    complete=True,
                    next=sealed.next,
                    unit=sealed.unit,
                    outcomes=sealed.outcomes,
                )
            )
            for step, value in sealed.outcomes.items():
                if any(p.step.step == step and p.step.kind == "gate" for p in plan.parts.values()):
                    reading.keep(step, value)
        before = item
        gates = _gates_at(plan, item) or gates
        for gate, value in _answers_at(plan, item, gates):
            readings[gate.thread].keep(gate.step.step, value)
    waiting = _open_gates(plan, item) if item is not None else []
    for own, reading in readings.items():
        yield BranchRead(
            thread=own,
            branch=branch,
            checkpoints=reading.checkpoints,
            answers=reading.answers,
            open_interrupts=[gate.step.step for gate in waiting if gate.thread == own],
            token=head,
            tokens=reading.tokens,
        )


def _last(reading: _Reading) -> str | None:
    return reading.checkpoints[-1].id if reading.checkpoints else None


def _line_of(rows: Mapping[str, Row], head: str | None) -> list[str]:
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


def parts_of(plan: Plan, raised: Iterable[Any]) -> list[Part]:
    """The gates of interrupts, by what the nodes gave them."""
    return [plan.parts[str(each.value["key"])] for each in raised]


def _gates_at(plan: Plan, item: Any) -> list[Part]:
    """The gates of the nodes to come."""
    return plan.coming_gates(item.checkpoint)


def _answers_at(plan: Plan, item: Any, gates: Sequence[Part]) -> Iterator[tuple[Part, Value]]:
    """The answers stored at a checkpoint, each with the gate that it is for.

    A task's own list has those that it consumed, in the order of its gates. The value that the caller handed over
    last says not for which; it is for the first gate without one, unless it is what was consumed last.
    """
    tasks: dict[str, list[Part]] = {}
    consumed: dict[str, list[Any]] = {}
    delivered: list[Any] = []
    for task, channel, value in item.pending_writes or []:
        if channel == INTERRUPT:
            (gate,) = parts_of(plan, value)
            node = next(parts for parts in plan.nodes.values() if gate in parts)
            tasks[task] = [part for part in node if part.step.kind == "gate"]
        elif channel == RESUME and task == NULL_TASK:
            delivered.append(value)
        elif channel == RESUME:
            consumed[task] = list(value)
    last: Any = None
    for task, values in consumed.items():
        for gate, value in zip(tasks.get(task, gates), values, strict=False):
            yield gate, told(value)
        last = values[-1] if values else None
    done = item.checkpoint["channel_values"].get(OUTCOMES, {})
    answered = len({gate.key for gate in gates if gate.key in done}) + sum(map(len, consumed.values()))
    for value in delivered:
        if gates and (not consumed or value != last):
            yield gates[min(answered, len(gates) - 1)], told(value)


def _open_gates(plan: Plan, item: Any) -> list[Part]:
    """The gates of interrupts whose task has neither an answer to it nor an outcome at this checkpoint."""
    writes = item.pending_writes or []
    ended = {task for task, channel, _ in writes if channel not in (INTERRUPT, RESUME)}
    consumed = {
        task: len(value) for task, channel, value in writes if channel == RESUME and task != NULL_TASK
    }
    delivered = [value for task, channel, value in writes if channel == RESUME and task == NULL_TASK]
    found = []
    for task, channel, value in writes:
        if channel != INTERRUPT or task in ended:
            continue
        for gate in parts_of(plan, value):
            node = next(parts for parts in plan.nodes.values() if gate in parts)
            place = [part for part in node if part.step.kind == "gate"].index(gate)
            # The value that the caller handed over may be one that was consumed already.
            answers = max(consumed.get(task, 0), len(delivered))
            if place >= answers:
                found.append(gate)
    return found


def walk(saver: Any, thread: str, checkpoint_id: str | None) -> Iterator[Any]:
    """A checkpoint and its ancestors, newest first."""
    configurable = {"thread_id": thread, "checkpoint_ns": ""}
    config: Any = {"configurable": configurable | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}
    while config is not None and (item := saver.get_tuple(config)) is not None:
        yield item
        config = item.parent_config
