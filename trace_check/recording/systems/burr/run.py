"""A Burr application that tells what it does: a persister that brackets its calls, and actions that speak.

Imported only where Burr is installed.
"""

# The base classes are Any where Burr is not installed, and typed where it is.
# mypy: disable-error-code="misc"

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from burr.core import ApplicationBuilder
from burr.core.persistence import SQLitePersister

from trace_check.events import ProgramStep
from trace_check.recording import points
from trace_check.recording.order import parts
from trace_check.recording.scenarios import Answering, Forking
from trace_check.recording.system import Job
from trace_check.recording.systems.burr.actions import Ask, RunSteps
from trace_check.recording.systems.burr.plan import ASKING, BurrPlan
from trace_check.recording.systems.burr.session import Session
from trace_check.recording.systems.burr.store import PARTITION, Fork, Line, database, stored_value
from trace_check.recording.work import is_valid, told

__all__ = ["RecordingPersister", "act"]


class RecordingPersister(SQLitePersister):
    """The SQLite persister, with an event before and after each durable call.

    Rows of another application than the session's are those of a parallel action's parts.
    """

    def __init__(self, path: Path, session: Session) -> None:
        # Parts of a parallel action run in threads of their own, each with a copy.
        super().__init__(str(path), connect_kwargs={"check_same_thread": False, "timeout": 30})
        self._path = path
        self._session = session

    def copy(self) -> RecordingPersister:
        """Another connection to the same database."""
        return RecordingPersister(self._path, self._session)

    def load(self, partition_key: Any, app_id: Any, sequence_id: Any = None, **kwargs: Any) -> Any:
        """Read an application's newest row, or the one with that number: the framework does so when it is built."""
        session = self._session
        if session.fork is not None and app_id == session.fork.parent:
            return self._load_fork(session.fork, partition_key, sequence_id)
        if app_id != session.application:
            # A part: one that is found has ended before and is not run again, which the load of the whole knew.
            return super().load(partition_key, app_id, sequence_id, **kwargs)
        operation = session.log.begin("loaded")
        found = super().load(partition_key, app_id, sequence_id, **kwargs)
        index = self._sealed(app_id, found["sequence_id"] if found is not None else -1)
        operation.end(checkpoint=session.newest, index=index)
        session.probe.reach(points.LOADED)
        return found

    def _load_fork(self, fork: Fork, partition_key: Any, sequence_id: Any) -> Any:
        session = self._session
        index = self._sealed(fork.parent, fork.sequence)
        operation = session.log.begin(
            "forked", checkpoint=session.newest, index=index, child=fork.child, declared=True
        )
        found = super().load(partition_key, fork.parent, sequence_id)
        session.forks.add(fork)
        operation.end()
        session.log.branch = fork.child
        session.log.emit("loaded", checkpoint=session.newest, index=index)
        session.probe.reach(points.LOADED)
        return found

    def _sealed(self, app_id: str, until: int) -> int:
        """How many units are sealed up to a row; the newest checkpoint is the session's from now on."""
        sealing = Line.read(self.connection, app_id, until).sealing(self._session.plan)
        self._session.newest = sealing[-1].id if sealing else None
        return len(sealing)

    def save(
        self,
        partition_key: Any,
        app_id: str,
        sequence_id: int,
        position: str,
        state: Any,
        status: Any,
        **kwargs: Any,
    ) -> None:
        """Store that an action has ended."""
        if status != "completed":
            super().save(partition_key, app_id, sequence_id, position, state, status)
        elif app_id != self._session.application:
            with self._recording(_part_named(self._session.plan, position), state["outcomes"]):
                super().save(partition_key, app_id, sequence_id, position, state, status)
        elif position.startswith(ASKING):
            with self._asking(position):
                super().save(partition_key, app_id, sequence_id, position, state, status)
        else:
            with self._sealing(f"{app_id}:{sequence_id}:{position}", position, state["outcomes"]):
                super().save(partition_key, app_id, sequence_id, position, state, status)

    @contextmanager
    def _recording(self, steps: list[ProgramStep], outcomes: dict[str, Any]) -> Iterator[None]:
        """The events around storing that a part has ended."""
        session = self._session
        for step in steps:
            session.probe.reach(points.recording(step.step))
        operations = [
            session.log.begin("recorded", step=step.step, outcome=stored_value(told(outcomes[step.step])))
            for step in steps
        ]
        try:
            yield
        except sqlite3.Error as error:
            for operation, step in zip(operations, steps, strict=True):
                operation.refuse("record", error=type(error).__name__, step=step.step)
            raise
        for operation in operations:
            operation.end()
        for step in steps:
            session.probe.reach(points.recorded(step.step))

    @contextmanager
    def _asking(self, position: str) -> Iterator[None]:
        """The events around storing the answer of a gate that is an action of its own."""
        session = self._session
        try:
            yield
        except sqlite3.Error as error:
            session.log.emit(
                "refused", what="gate", gate=session.plan.waiting[position], error=type(error).__name__
            )
            raise
        session.end_answer(accepted=True)

    @contextmanager
    def _sealing(self, checkpoint: str, position: str, outcomes: dict[str, Any]) -> Iterator[None]:
        """The events around storing that a unit's action has ended."""
        session, plan = self._session, self._session.plan
        unit = plan.units[position]
        gate = plan.waiting.get(plan.following(position) or "")
        kinds = {step.step: step.kind for step in unit.steps}
        session.probe.reach(points.committing(unit.name))
        commit = session.log.begin(
            "committed",
            unit=unit.name,
            steps=list(kinds),
            outcomes={step: told(outcomes[step]) for step in kinds},
            checkpoint=checkpoint,
            parent=session.newest,
            valid=all(kind == "gate" or is_valid(outcomes[step]) for step, kind in kinds.items()),
            next=plan.next_unit(position),
        )
        park = None
        if gate is not None:
            session.probe.reach(points.parking(gate))
            # The row says so only in that the action after it needs an input.
            park = session.log.begin("parked", gate=gate, inferred=True)
        try:
            yield
        except sqlite3.Error as error:
            commit.refuse("commit", error=type(error).__name__, unit=unit.name)
            raise
        commit.end()
        if park is not None:
            park.end()
        session.newest = checkpoint
        session.probe.reach(points.committed(unit.name))
        if gate is not None:
            session.probe.reach(points.parked(gate))


def act(job: Job, session: Session) -> None:
    """Take the job's action on an application, as the framework's documentation builds and runs it."""
    plan = session.plan
    with RecordingPersister(database(Path(job.folder)), session) as persister:
        persister.initialize()
        app = _build(job, session, persister)
        following = app.get_next_action()
        asked = plan.waiting.get(following.name) if following is not None else None
        inputs: dict[str, Any] = {}
        if isinstance(job.action, Answering):
            inputs[job.action.gate] = job.action.value
            session.answer = session.log.begin(
                "answer", gate=job.action.gate, delivery=job.action.delivery, value=job.action.value
            )
        elif asked is not None:
            return  # it waits, and there is no answer
        try:
            app.run(halt_before=list(plan.waiting), halt_after=plan.actions[-1:], inputs=inputs)
        except Exception:
            session.end_answer(accepted=False)
            raise
        # No error reached the caller: to the caller the answer was taken, used or not.
        session.end_answer(accepted=True)
        if not app.has_next_action():
            last = plan.program[-1].steps[-1].step
            session.log.emit("completed", outcome=stored_value(app.state["outcomes"][last]))


def _build(job: Job, session: Session, persister: RecordingPersister) -> Any:
    plan = session.plan
    forking: dict[str, Any] = {}
    sequence = int(job.token) if job.token is not None else None
    if isinstance(job.action, Forking) and sequence is not None:
        application = f"{job.thread}-{job.action.child}"
        session.fork = Fork(job.action.child, application, job.thread, sequence)
        session.application = application
        forking = {
            "fork_from_app_id": job.thread,
            "fork_from_partition_key": PARTITION,
            "fork_from_sequence_id": sequence,
        }
        sequence = None
    actions = {name: _action(session, name) for name in plan.actions}
    return (
        ApplicationBuilder()
        .with_actions(**actions)
        .with_transitions(*zip(plan.actions, plan.actions[1:], strict=False))
        .with_identifiers(app_id=session.application, partition_key=PARTITION, sequence_id=sequence)
        .initialize_from(
            persister,
            resume_at_next_action=True,
            default_state={"outcomes": {}},
            default_entrypoint=plan.actions[0],
            **forking,
        )
        .with_state_persister(persister)
        .build()
    )


def _action(session: Session, name: str) -> Any:
    plan = session.plan
    asked = plan.waiting.get(name)
    if name.startswith(ASKING):
        return Ask(session, plan.units[name.removeprefix(ASKING)].steps, asked)
    found = parts(plan.units[name])
    if len(found) == 1:
        return RunSteps(session, found[0], asked)
    from trace_check.recording.systems.burr.parts import RunParts

    return RunParts(session, found)


def _part_named(plan: BurrPlan, name: str) -> list[ProgramStep]:
    """The part of some unit that begins with that step."""
    return next(part for unit in plan.program for part in parts(unit) if part[0].step == name)
