"""A CrewAI flow that tells what it does: a persistence that brackets its calls, and methods that speak.

Imported only where CrewAI is installed.
"""

# The base classes are Any where CrewAI is not installed, and typed where it is.
# mypy: disable-error-code="misc"

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from crewai.flow.async_feedback.types import HumanFeedbackPending
from crewai.flow.flow import Flow, and_, listen, start
from crewai.flow.human_feedback import human_feedback
from crewai.flow.persistence import persist
from crewai.flow.persistence.sqlite import SQLiteFlowPersistence
from crewai.memory.storage.factory import set_memory_storage_factory
from pydantic import BaseModel, PrivateAttr, ValidationError

from trace_check.recording import points
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.order import content_before
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering
from trace_check.recording.system import Job
from trace_check.recording.systems.crewai.plan import ASKING, CrewAIPlan
from trace_check.recording.systems.crewai.store import checkpoint_name, checkpoints, database, was_asked
from trace_check.recording.work import Work, is_valid, told

__all__ = ["FlowContent", "RecordingPersistence", "Session", "act", "flow_class"]


class NoMemory:
    """The storage of the memory that every flow makes: it is never asked, as no method remembers anything."""


# The storage that the framework would choose takes three seconds of every process to import.
set_memory_storage_factory(lambda spec: NoMemory())


class FlowContent(BaseModel):
    """The flow's state: its id, the outcome of every step so far, and which process ran each method last."""

    id: str = ""
    outcomes: dict[str, str] = {}
    runs: dict[str, str] = {}


class Sealing:
    """Which of a unit's methods have had their state stored in this process; they run in threads of their own.

    Attributes:
        commits: units -> the operation of the commit that has begun.
    """

    def __init__(self, plan: CrewAIPlan) -> None:
        self.commits: dict[str, Operation] = {}
        self._plan = plan
        self._begun: dict[str, set[str]] = {}
        self._ended: dict[str, set[str]] = {}
        self._lock = threading.Lock()

    def begin(self, unit: str, method: str) -> bool:
        """Note that storing begins; is it the last of the unit's methods?"""
        return self._note(self._begun, unit, method)

    def end(self, unit: str, method: str) -> bool:
        """Note that it has ended; is it the last of the unit's methods?"""
        return self._note(self._ended, unit, method)

    def _note(self, noted: dict[str, set[str]], unit: str, method: str) -> bool:
        with self._lock:
            noted.setdefault(unit, set()).add(method)
            return noted[unit] == self._plan.parts(unit)


class Session:
    """What the persistence and the methods of one process share."""

    def __init__(self, job: Job, plan: CrewAIPlan, log: EventLog, work: Work, probe: Probe) -> None:
        self.plan = plan
        self.log = log
        self.work = work
        self.probe = probe
        self.thread = job.thread
        self.asking = plan.asking(job.action.gate) if isinstance(job.action, Answering) else ""
        self.sealing = Sealing(plan)
        self.content = FlowContent
        self.answer: Operation | None = None
        self.newest: str | None = None  # the checkpoint that this process goes on from

    def end_answer(self, *, accepted: bool, inferred: bool = False) -> None:
        """End the answer's bracket, if it is open."""
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.end(accepted=accepted, inferred=inferred)


class RecordingPersistence(SQLiteFlowPersistence):
    """The SQLite persistence, with an event before and after each durable call."""

    _session: Session = PrivateAttr()

    def __init__(self, session: Session, path: Path) -> None:
        super().__init__(str(path))
        self._session = session

    def load_state(self, flow_uuid: str) -> Any:
        """Read the newest state of a flow: `kickoff` does so, and then runs every method from the first on."""
        session = self._session
        operation = session.log.begin("loaded")
        found = super().load_state(flow_uuid)
        if found is not None and (error := _rejection(found)):
            operation.refuse("load", error=error, inferred=True)
            return found
        operation.end(checkpoint=None, index=0, inferred=found is not None)
        session.probe.reach(points.LOADED)
        return found

    def load_pending_feedback(self, flow_uuid: str) -> Any:
        """Read where a flow waits: `from_pending` does so, and raises where it does not."""
        session = self._session
        operation = session.log.begin("loaded")
        found = super().load_pending_feedback(flow_uuid)
        if found is None:
            self._refuse(operation)
            return None
        index = self._place(found[1].method_name)
        operation.end(checkpoint=session.newest, index=index)
        session.probe.reach(points.LOADED)
        return found

    def _refuse(self, loading: Operation) -> None:
        """Nobody waits: another process has taken the gate and not sealed its unit, or there is nothing to be resumed."""
        session = self._session
        asking = session.asking
        with closing(sqlite3.connect(self.db_path, timeout=30)) as connection:
            asked = was_asked(connection, session.thread, asking)
        if asked and all(sealing.unit != asking.removeprefix(ASKING) for sealing in self._line()):
            index = self._place(asking)
            loading.end(checkpoint=session.newest, index=index)
            session.log.emit(
                "refused", what="gate", gate=session.plan.waiting[asking], error=ValueError.__name__
            )
        else:
            loading.refuse("load", error=ValueError.__name__)

    def _place(self, asking: str) -> int:
        """How many checkpoints come before a method that asks; notes the last of them."""
        session = self._session
        index = session.plan.index(asking.removeprefix(ASKING))
        before = session.plan.program[index - 1].name if index else None
        line = self._line()
        place = max((n for n, sealing in enumerate(line, 1) if sealing.unit == before), default=0)
        session.newest = line[place - 1].id if place else None
        return place

    def _line(self) -> Any:
        with closing(sqlite3.connect(self.db_path, timeout=30)) as connection:
            return checkpoints(connection, self._session.thread, self._session.plan)

    def save_pending_feedback(self, flow_uuid: str, context: Any, state_data: Any) -> None:
        """Store that a flow waits for an answer."""
        session = self._session
        gate = session.plan.waiting[context.method_name]
        session.probe.reach(points.parking(gate))
        operation = session.log.begin("parked", gate=gate)
        try:
            super().save_pending_feedback(flow_uuid, context, state_data)
        except (TypeError, ValueError) as error:
            # What cannot be encoded is refused before anything is written: the gate is not parked.
            session.log.emit("refused", what="outcome", error=type(error).__name__)
            raise
        operation.end()
        session.probe.reach(points.parked(gate))

    def clear_pending_feedback(self, flow_uuid: str) -> None:
        """Store that a flow waits no more: from here on nobody else's answer is taken, and this one is nowhere."""
        self._clear(flow_uuid)
        self._session.end_answer(accepted=True, inferred=True)

    def _clear(self, flow_uuid: str) -> None:
        super().clear_pending_feedback(flow_uuid)

    def save_state(self, flow_uuid: str, method_name: str, state_data: Any) -> None:
        """Store the state after a method."""
        if method_name not in self._session.plan.methods:
            super().save_state(flow_uuid, method_name, state_data)
            return
        with self._storing(method_name, state_data):
            super().save_state(flow_uuid, method_name, state_data)

    @contextmanager
    def _storing(self, method: str, state: FlowContent) -> Iterator[None]:
        """The events around storing the state after a method that runs steps.

        The commit begins with the last of its unit's methods whose state is stored, and ends when all of them are.
        """
        session, plan = self._session, self._session.plan
        unit = plan.units[method]
        steps = [] if method == unit.name else [step.step for step in plan.methods[method]]
        for step in steps:
            session.probe.reach(points.recording(step))
        is_last = session.sealing.begin(unit.name, method)
        if is_last:
            session.probe.reach(points.committing(unit.name))
        operations = [
            session.log.begin("recorded", step=step, outcome=told(state.outcomes[step])) for step in steps
        ]
        if is_last:
            session.sealing.commits[unit.name] = session.log.begin("committed", **self._commit(method, state))
        try:
            yield
        except Exception as error:
            # What cannot be encoded is refused before anything is written.
            what = "outcome" if isinstance(error, TypeError | ValueError) else "commit"
            if is_last:
                session.sealing.commits[unit.name].refuse(what, error=type(error).__name__, unit=unit.name)
            raise
        for operation in operations:
            operation.end()
        for step in steps:
            session.probe.reach(points.recorded(step))
        if session.sealing.end(unit.name, method):
            session.sealing.commits.pop(unit.name).end()
            session.newest = checkpoint_name(unit, state.outcomes)
            session.probe.reach(points.committed(unit.name))

    def _commit(self, method: str, state: FlowContent) -> dict[str, Any]:
        """The fields of the event of a commit."""
        plan, outcomes = self._session.plan, state.outcomes
        unit = plan.units[method]
        return {
            "unit": unit.name,
            "steps": [step.step for step in unit.steps],
            "outcomes": {step.step: told(outcomes[step.step]) for step in unit.steps},
            "checkpoint": checkpoint_name(unit, outcomes),
            "parent": self._session.newest,
            "valid": all(step.kind == "gate" or is_valid(outcomes[step.step]) for step in unit.steps),
            "next": plan.next_unit(unit),
        }


def _rejection(stored: Any) -> str | None:
    """The error with which the flow will refuse a state that it has just read; None if it won't."""
    try:
        FlowContent.model_validate(stored)
    except ValidationError as error:
        return type(error).__name__
    return None


class Later:
    """A feedback provider that has no answer yet: it pauses the flow."""

    def request_feedback(self, context: Any, flow: Any) -> str:
        """Pause, as a provider does that asks somewhere else."""
        raise HumanFeedbackPending(context=context)


def flow_class(session: Session) -> Any:
    """The program as a flow: one method for each part of a unit, and one before it that asks where it has a gate."""
    body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    before: list[str] = []
    for layer in session.plan.layers:
        for name in layer:
            method = _asking(name) if name in session.plan.waiting else _running(session, name)
            if name in session.plan.waiting:
                method = human_feedback(message="go on?", provider=Later())(method)
            condition: Any = and_(*before) if len(before) > 1 else before[0] if before else None
            body[name] = start()(method) if condition is None else listen(condition)(method)
        before = layer
    return type("RecordedFlow", (Flow[session.content],), body)


def _asking(name: str) -> Callable[..., Any]:
    def ask(self: Any) -> str:
        return "go on?"

    ask.__name__ = ask.__qualname__ = name
    return ask


def _running(session: Session, name: str) -> Callable[..., Any]:
    def run(self: Any, given: Any = None) -> str:
        outcomes = self.state.outcomes
        for step in session.plan.methods[name]:
            # Not all of the state: where methods run again it has what they left there the first time.
            content = content_before(session.plan.program, step.step, outcomes)
            if step.kind == "gate":
                # A flow that was restored behind its gate calls this with nothing.
                session.work.passed(step.step, None if given is None else given.feedback)
                outcomes[step.step] = given.feedback
            elif step.kind == "effect":
                outcomes[step.step] = session.work.fire(
                    step.step, f"{self.flow_id}:{name}:{step.step}", content
                )
            else:
                outcomes[step.step] = session.work.compute(step.step, content)
        self.state.runs[name] = session.log.actor
        return name

    run.__name__ = run.__qualname__ = name
    return run


def act(job: Job, session: Session) -> None:
    """Take the job's action on the flow, as the framework's documentation starts and resumes one."""
    action, plan = job.action, session.plan
    persistence = RecordingPersistence(session, database(Path(job.folder)))
    recorded = persist(persistence)(flow_class(session))
    try:
        if isinstance(action, Answering):
            session.answer = session.log.begin(
                "answer", gate=action.gate, delivery=action.delivery, value=action.value
            )
            flow = recorded.from_pending(job.thread, persistence)
            result = flow.resume(str(action.value))
        else:
            flow = recorded(persistence=persistence)
            result = flow.kickoff(inputs={"id": job.thread})
    except Exception:
        session.end_answer(accepted=False)
        raise
    session.end_answer(accepted=True)
    if not isinstance(result, HumanFeedbackPending):
        last = plan.program[-1].steps[-1].step
        session.log.emit("completed", outcome=told(flow.state.outcomes[last]))
