"""Savers that tell what they store: LangGraph's own, with a line before and after each durable call.

Imported only when LangGraph is installed.
"""

# The base class is Any where LangGraph is not installed, and typed where it is.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.log import Operation
from trace_check.recording.systems.langgraph.plan import OUTCOMES, Part, Plan, Sealed
from trace_check.recording.systems.langgraph.session import INPUT_STORED, Session
from trace_check.recording.systems.langgraph.store import INTERRUPT, NULL_TASK, RESUME, parts_of, walk
from trace_check.recording.work import is_valid, told

__all__ = ["RecordingCalls"]


class RecordingCalls(BaseCheckpointSaver[Any]):
    """Brackets the three durable calls of the saver that comes after it among a class's bases.

    Attributes:
        session: set right after it is made.
    """

    session: Session

    def line(self, thread: str, checkpoint_id: str | None) -> list[Any]:
        """A checkpoint and its ancestors as the store has them, oldest first; no events.

        Args:
            thread: the thread's id.
            checkpoint_id: the newest of the line, None for the thread's newest.
        """
        return list(walk(super(), thread, checkpoint_id))[::-1]

    def get_tuple(self, config: Any) -> Any:
        """Read a checkpoint: a run's first reading is its load, any later one only looks at what is newer."""
        session = self.session
        if not session.watched or session.has_loaded:
            return super().get_tuple(config)
        session.has_loaded = True
        thread, wanted = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_id")
        line = self._enter_branch(thread, wanted)
        operations = {name: session.log.begin("loaded", thread=name) for name in session.plan.threads}
        found = super().get_tuple(config)
        name = found.checkpoint["id"] if found is not None else None
        if name != (line[-1].checkpoint["id"] if line else None):
            # Somebody stored a checkpoint since the look that told the branch.
            line = self.line(thread, name)
            session.log.branch = session.branches.of_head(line)
        session.sealed = {each.unit for each in self._seals(line)}
        for own, operation in operations.items():
            sealed = self._sealed(line, own)
            operation.end(
                branch=session.log.branch, checkpoint=sealed[-1] if sealed else None, index=len(sealed)
            )
        session.probe.reach(points.LOADED)
        return found

    def _enter_branch(self, thread: str, wanted: str | None) -> list[Any]:
        """Find the branch that a load will be on, and its line; a load at no head starts a branch."""
        session = self.session
        line = self.line(thread, wanted)
        branch = session.branches.of_head(line)
        if wanted is not None and line:
            config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
            known = sorted(item.checkpoint["id"] for item in super().list(config))
            if session.branches.heads(known)[branch] != wanted:
                sealed = {own: self._sealed(line, own) for own in session.plan.threads}
                branch = session.branches.fork_unasked(session.log, branch, wanted, sealed)
        session.log.branch = branch
        return line

    def sealed_before(self, thread: str, checkpoint_id: str, own: str) -> list[str]:
        """The checkpoints of an instance that seal a unit, up to one that is stored; no events."""
        return self._sealed(self.line(thread, checkpoint_id), own)

    def _sealed(self, line: Sequence[Any], own: str) -> list[str]:
        """The checkpoints of a line that seal a unit of an instance."""
        return [each.checkpoint for each in self._seals(line) if each.thread == own]

    def _seals(self, line: Sequence[Any]) -> Iterator[Sealed]:
        """The units that the checkpoints of a line seal."""
        plan, parent = self.session.plan, None
        for item in line:
            yield from plan.sealed(item.checkpoint, plan.ran(item, parent))
            parent = item

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote: an answer, an interrupt, or the outcomes of a node that has ended."""
        session = self.session
        if not session.watched:
            super().put_writes(config, writes, task_id, task_path)
        elif task_id == NULL_TASK:
            self._put_answer(config, writes, task_id, task_path)
        else:
            self._put_outcomes(config, writes, task_id, task_path)

    def _put_answer(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        session = self.session
        action = session.answering()
        if action is None or all(channel != RESUME for channel, _ in writes):
            super().put_writes(config, writes, task_id, task_path)
            return
        gate = action.gate
        session.probe.reach(points.answering(gate))
        try:
            super().put_writes(config, writes, task_id, task_path)
            session.end_answer(accepted=True)
            session.probe.reach(points.answered(gate))
        finally:
            session.writes.done(points.answering(gate))

    def _put_outcomes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        session = self.session
        parked, outcomes = _parts_of_writes(session.plan, writes)
        for gate in parked:
            session.probe.reach(points.parking(gate.step.step))
        for part, _ in outcomes:
            session.probe.reach(points.recording(part.step.step))
        operations: list[tuple[Operation, Part]] = [
            (session.log.begin("parked", thread=gate.thread, gate=gate.step.step), gate) for gate in parked
        ]
        operations += [
            (
                session.log.begin("recorded", thread=part.thread, step=part.step.step, outcome=told(value)),
                part,
            )
            for part, value in outcomes
        ]
        try:
            try:
                super().put_writes(config, writes, task_id, task_path)
            except (TypeError, ValueError) as error:
                # The codec does not take what a step yielded.
                session.refused.update(part.key for part, _ in outcomes)
                for operation, part in operations:
                    operation.refuse(
                        "outcome", error=type(error).__name__, step=part.step.step, thread=part.thread
                    )
                raise
            for operation, _ in operations:
                operation.end()
            if any(channel == RESUME for channel, _ in writes):
                # An answer by interrupt id is stored only here, with what its node came to.
                action = session.answering()
                if action is not None and action.thread in {part.thread for _, part in operations}:
                    session.end_answer(accepted=True)
            for gate in parked:
                session.probe.reach(points.parked(gate.step.step))
            for part, _ in outcomes:
                session.probe.reach(points.recorded(part.step.step))
        finally:
            for key in (key for channel, value in writes if channel == OUTCOMES for key in value):
                session.writes.done(points.recording(key))

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Store a checkpoint; only one that seals a unit is an event."""
        session = self.session
        session.branches.note(checkpoint["id"], session.log.branch)
        thread, parent_id = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_id")
        line = self.line(thread, parent_id) if parent_id else []
        ran = session.plan.ran_before(checkpoint, metadata, line[-1] if line else None)
        if not session.watched or not ran:
            if metadata.get("source") == "input":
                return super().put(config, checkpoint, metadata, new_versions)
            session.probe.reach(INPUT_STORED)
            try:
                return super().put(config, checkpoint, metadata, new_versions)
            finally:
                session.writes.done(INPUT_STORED)
        parts = [part for node in ran for part in session.plan.nodes[node]]
        sealed = list(session.plan.sealed(checkpoint, ran))
        units = list(dict.fromkeys(each.unit for each in sealed))
        try:
            session.writes.wait([points.recording(part.key) for part in parts])
            for unit in units:
                session.probe.reach(points.committing(unit))
            self._tell_taken_over(checkpoint, parts)
            # What has an outcome that was refused is refused with it, and is no event of its own.
            operations = [] if session.refused else self._begin_commits(sealed, line)
            try:
                stored = super().put(config, checkpoint, metadata, new_versions)
            except (TypeError, ValueError) as error:
                for operation, each in zip(operations, sealed, strict=False):
                    self._refuse_commit(operation, each, parts, checkpoint["channel_values"][OUTCOMES], error)
                raise
            if session.refused:
                raise RecordingError(
                    f"LangGraph stored a checkpoint with {', '.join(sorted(session.refused))}, which it had refused",
                    "mend the recorder",
                )
            for operation in operations:
                operation.end()
            for unit in units:
                session.probe.reach(points.committed(unit))
        finally:
            for unit in units:
                session.writes.done(points.committing(unit))
        return stored

    def _tell_taken_over(self, checkpoint: Any, parts: Sequence[Part]) -> None:
        """Gates that another process passed and whose node's stored outcomes this one takes as they are.

        No code behind them runs here, and still it is this process that goes on with them.
        """
        session = self.session
        state = checkpoint["channel_values"].get(OUTCOMES, {})
        for part in parts:
            if part.step.kind == "gate" and part.key not in session.passed and part.key in state:
                value = told(state[part.key])
                session.log.emit(
                    "gate_passed", thread=part.thread, gate=part.step.step, value=value, inferred=True
                )

    def _refuse_commit(
        self, operation: Operation, sealed: Sealed, parts: Sequence[Part], state: Any, error: Exception
    ) -> None:
        """The codec did not take an outcome of the unit; the first that breaks the schema, if one does, is named."""
        wrong = [
            part.step.step
            for part in parts
            if (part.thread, part.unit, part.step.kind) == (sealed.thread, sealed.unit, "pure")
            and not is_valid(state.get(part.key))
        ]
        about = {"what": "outcome", "step": wrong[0]} if wrong else {"what": "commit", "unit": sealed.unit}
        operation.refuse(**about, error=type(error).__name__, thread=sealed.thread)

    def _begin_commits(self, sealed: Sequence[Sealed], line: Sequence[Any]) -> list[Operation]:
        """Begin one operation for each unit that is sealed; each comes after the one before."""
        last = {thread: self._sealed(line, thread)[-1:] for thread in self.session.plan.threads}
        operations = []
        for each in sealed:
            operations.append(
                self.session.log.begin(
                    "committed",
                    thread=each.thread,
                    unit=each.unit,
                    steps=each.steps,
                    outcomes=each.outcomes,
                    checkpoint=each.checkpoint,
                    parent=next(iter(last[each.thread]), None),
                    valid=each.valid,
                    next=each.next,
                )
            )
            last[each.thread] = [each.checkpoint]
        return operations


def _parts_of_writes(
    plan: Plan, writes: Sequence[tuple[str, Any]]
) -> tuple[list[Part], list[tuple[Part, Any]]]:
    """What a task's writes stand for: gates that park; effects and pure steps that are recorded, with their outcomes.

    A gate's outcome is its answer, which the store has from elsewhere.
    """
    parked: list[Part] = []
    outcomes: list[tuple[Part, Any]] = []
    for channel, value in writes:
        if channel == INTERRUPT:
            parked += parts_of(plan, value)
        elif channel == OUTCOMES:
            outcomes += [
                (plan.parts[key], outcome)
                for key, outcome in value.items()
                if plan.parts[key].step.kind != "gate"
            ]
    return parked, outcomes
