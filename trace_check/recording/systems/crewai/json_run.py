"""A CrewAI flow with automatic checkpoints (`CheckpointConfig`, JSON provider) that tells what it does.

Imported only where CrewAI is installed.
"""

# The base classes are Any where CrewAI is not installed, and typed where it is.
# mypy: disable-error-code="misc"

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crewai.events.event_bus import crewai_event_bus
from crewai.flow.async_feedback.types import HumanFeedbackPending
from crewai.state.checkpoint_config import CheckpointConfig
from crewai.state.provider.json_provider import JsonProvider
from pydantic import PrivateAttr

from trace_check.errors import RecordingError
from trace_check.events import ROOT_BRANCH, CheckpointRead
from trace_check.recording import points
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.probe import HOLD_SECONDS, Probe
from trace_check.recording.scenarios import Answering, Forking
from trace_check.recording.system import Job
from trace_check.recording.systems.crewai.json_store import (
    Seals,
    Snapshot,
    checkpoints_folder,
    line_to,
    parse_snapshot,
    pending_mark,
    read_snapshots,
    sealed_line,
)
from trace_check.recording.systems.crewai.plan import ASKING, CrewAIPlan
from trace_check.recording.systems.crewai.run import FlowContent, RecordingPersistence, Session, flow_class
from trace_check.recording.systems.crewai.store import database
from trace_check.recording.work import Work, is_valid, told

__all__ = ["CheckpointingSession", "act"]


class CheckpointingSession(Session):
    """What the provider and the methods of one process share.

    Attributes:
        seals: which units the checkpoints that are known here seal.
        stored: (method, process) pairs whose outcomes some checkpoint holds.
    """

    def __init__(self, job: Job, plan: CrewAIPlan, log: EventLog, work: Work, probe: Probe) -> None:
        super().__init__(job, plan, log, work, probe)
        self.content = _content(self)
        self.folder = Path(job.folder)
        self.branches = Branches(self.folder)
        self.lock = threading.Lock()
        self.seals = Seals(plan)
        self.stored: set[tuple[str, str]] = set()
        self._held = [
            plan.parts(unit.name) for unit in job.program if points.committing(unit.name) in job.hold
        ]
        for snapshot in read_snapshots(self.folder):
            self.seals.of(snapshot)
            self.stored.update(snapshot.runs.items())

    def settle(self, runs: Mapping[str, str]) -> None:
        """Wait until the checkpoints before are written: the framework leaves them to a pool of threads and goes on.

        One that this process is to hold back is not waited for.
        """
        own = {method for method, by in runs.items() if by == self.log.actor}
        if any(held <= own for held in self._held):
            return
        if not crewai_event_bus.flush(HOLD_SECONDS):
            raise RecordingError("a checkpoint was not written in time", "record again")


def _content(session: CheckpointingSession) -> type[FlowContent]:
    """The flow's state, which is copied for each event that the framework is about to send.

    A checkpoint is dumped by another thread from what the flow holds by then, its events included; if one more comes in
    between, the serializer panics and there is no checkpoint. So the copy waits until nothing is being dumped.
    """

    class Content(FlowContent):
        def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Any:
            if threading.current_thread() is threading.main_thread():
                session.settle(self.runs)
            return super().model_copy(update=update, deep=deep)

    return Content


class RecordingProvider(JsonProvider):
    """The JSON provider, with an event before and after each file."""

    _session: CheckpointingSession = PrivateAttr()

    def __init__(self, session: CheckpointingSession) -> None:
        super().__init__()
        self._session = session

    def checkpoint(
        self, data: str, location: str, *, parent_id: str | None = None, branch: str = ROOT_BRANCH
    ) -> str:
        """Write a checkpoint's file."""
        session = self._session
        snapshot = parse_snapshot(data.encode())
        with session.lock:
            sealed = session.seals.of(snapshot)
            new = [method for method, by in snapshot.runs.items() if (method, by) not in session.stored]
            session.stored.update(snapshot.runs.items())
        # The only method of a unit is durable with what seals the unit.
        steps = [
            step.step
            for method in new
            if method != session.plan.units[method].name
            for step in session.plan.methods[method]
        ]
        session.branches.note(snapshot.id, session.log.branch)
        for step in steps:
            session.probe.reach(points.recording(step))
        for unit in sealed:
            session.probe.reach(points.committing(unit))
        operations = [
            session.log.begin("recorded", step=step, outcome=told(snapshot.outcomes[step])) for step in steps
        ]
        operations += [self._begin_commit(unit, snapshot) for unit in sealed]
        path: str = super().checkpoint(data, location, parent_id=parent_id, branch=branch)
        for operation in operations:
            operation.end()
        if session.asking in snapshot.answers:
            # It is durable from here on; the caller is told when the flow has ended or paused.
            session.end_answer(accepted=True, inferred=True)
        for step in steps:
            session.probe.reach(points.recorded(step))
        for unit in sealed:
            session.probe.reach(points.committed(unit))
        return path

    def _begin_commit(self, name: str, snapshot: Snapshot) -> Operation:
        session = self._session
        unit = session.plan.program[session.plan.index(name)]
        held = snapshot.outcomes
        parent, session.newest = session.newest, snapshot.id
        return session.log.begin(
            "committed",
            unit=name,
            steps=[step.step for step in unit.steps],
            outcomes={step.step: told(held[step.step]) for step in unit.steps},
            checkpoint=snapshot.id,
            parent=parent,
            valid=all(step.kind == "gate" or is_valid(held[step.step]) for step in unit.steps),
            next=session.plan.next_unit(unit),
        )


class PendingPersistence(RecordingPersistence):
    """The persistence of a flow that is not persisted: it keeps nothing but where the flow waits."""

    _checkpointing: CheckpointingSession = PrivateAttr()

    def __init__(self, session: CheckpointingSession, path: Path) -> None:
        super().__init__(session, path)
        self._checkpointing = session

    def _line(self) -> list[CheckpointRead]:
        session = self._checkpointing
        return sealed_line(session.plan, _of_branch(session, session.log.branch))

    def save_pending_feedback(self, flow_uuid: str, context: Any, state_data: Any) -> None:
        """Store that a flow waits for an answer."""
        session = self._checkpointing
        session.branches.note(pending_mark(flow_uuid), session.log.branch)
        super().save_pending_feedback(flow_uuid, context, state_data)

    def clear_pending_feedback(self, flow_uuid: str) -> None:
        """Store that a flow waits no more; its answer comes with the next checkpoint."""
        self._clear(flow_uuid)


def _of_branch(session: CheckpointingSession, branch: str) -> list[Snapshot]:
    return [s for s in read_snapshots(session.folder) if session.branches.of(s.id) == branch]


def act(job: Job, session: CheckpointingSession) -> None:
    """Take the job's action on the flow, as the framework's documentation starts, restores and resumes one."""
    action = job.action
    persistence = PendingPersistence(session, database(session.folder))
    recorded = flow_class(session)
    config = CheckpointConfig(
        location=str(checkpoints_folder(session.folder)),
        on_events=["method_execution_finished"],
        provider=RecordingProvider(session),
    )
    snapshots = _of_branch(session, ROOT_BRANCH)
    try:
        if isinstance(action, Answering):
            session.answer = session.log.begin(
                "answer", gate=action.gate, delivery=action.delivery, value=action.value
            )
            flow = recorded.from_pending(job.thread, persistence, checkpoint=config)
            result = flow.resume(str(action.value))
        elif job.token is None and not snapshots:
            flow = recorded(persistence=persistence, checkpoint=config)
            result = flow.kickoff(inputs={"id": job.thread})
        else:
            chosen = next((s for s in snapshots if s.path == job.token), None) or snapshots[-1]
            flow = _restore(job, session, recorded, config, snapshots, chosen)
            flow.checkpoint, flow.persistence = config, persistence
            result = flow.kickoff()
    except Exception:
        session.end_answer(accepted=False)
        raise
    session.end_answer(accepted=True)
    if not isinstance(result, HumanFeedbackPending):
        last = session.plan.program[-1].steps[-1].step
        session.log.emit("completed", outcome=told(flow.state.outcomes[last]))


def _restore(
    job: Job,
    session: CheckpointingSession,
    recorded: Any,
    config: CheckpointConfig,
    snapshots: list[Snapshot],
    chosen: Snapshot,
) -> Any:
    """A flow from a checkpoint, which is said to be loaded, and before that to be forked where it is not the newest."""
    action, log = job.action, session.log
    source = config.model_copy(update={"restore_from": chosen.path})
    line = snapshots if chosen is snapshots[-1] else line_to(snapshots, chosen)
    sealed = sealed_line(session.plan, line)
    forked = {"branch": log.branch, "checkpoint": sealed[-1].id if sealed else None, "index": len(sealed)}
    if isinstance(action, Forking):
        child = session.branches.fork(log.branch, chosen.id, action.child)
        operation = log.begin("forked", child=child, declared=True, **forked)
        flow = recorded.fork(source, branch=child)
        operation.end()
        log.branch = child
        loading = log.begin("loaded")
    else:
        if chosen is not snapshots[-1]:
            child = session.branches.fork(log.branch, chosen.id)
            log.emit("forked", child=child, declared=False, inferred=True, **forked)
            log.branch = child
        loading = log.begin("loaded")
        try:
            flow = recorded.from_checkpoint(source)
        except Exception as error:
            loading.refuse("load", error=type(error).__name__)
            raise
    index = _completed(session.plan, flow, sealed)
    session.newest = sealed[index - 1].id if index else None
    loading.end(
        checkpoint=session.newest, index=index, inferred=isinstance(action, Forking) or index < len(sealed)
    )
    session.probe.reach(points.LOADED)
    return flow


def _completed(plan: CrewAIPlan, flow: Any, sealed: list[CheckpointRead]) -> int:
    """How many checkpoints of the line a restored flow has behind it: those of units all of whose methods it skips."""
    done = {str(method) for method in flow.checkpoint_completed_methods or ()}
    index = 0
    for unit in plan.program:
        gate = [ASKING + unit.name] if ASKING + unit.name in plan.waiting else []
        if not done.issuperset([*gate, *plan.parts(unit.name)]):
            break
        index = max((n for n, read in enumerate(sealed, 1) if read.unit == unit.name), default=index)
    return index
