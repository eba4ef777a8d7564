"""A pydantic-graph run that tells what it does: a persistence that brackets its durable calls, and nodes that speak.

Imported only where pydantic-graph is installed.
"""

# The base classes are Any where pydantic-graph is not installed, and typed where it is.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError
from pydantic_graph import BaseNode, End, Graph, GraphRunContext
from pydantic_graph.exceptions import GraphRuntimeError
from pydantic_graph.persistence.file import FileStatePersistence

from trace_check.events import ProgramUnit
from trace_check.recording import points
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.order import content_before, rounds
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Action, Answering, Start
from trace_check.recording.system import Job
from trace_check.recording.systems.pydantic_graph.store import (
    gate_of,
    sealed_unit,
    snapshots_file,
    unit_index,
)
from trace_check.recording.work import Work, is_valid, told

__all__ = ["RecordingPersistence", "Session", "act"]


@dataclass
class State:
    """The graph's state: the outcome of every step so far."""

    outcomes: dict[str, str] = field(default_factory=dict)


class Session:
    """What the persistence and the nodes of one process share; the graph's `deps`."""

    def __init__(self, job: Job, log: EventLog, work: Work, probe: Probe) -> None:
        self.program = job.program
        self.file = snapshots_file(Path(job.folder), job.thread)
        self.log = log
        self.work = work
        self.probe = probe
        self.answers = job.action.gate if isinstance(job.action, Answering) else None
        self.answer: Operation | None = None
        self.passing: Operation | None = (
            None  # open from the load, which claims, until the code behind the gate runs
        )
        self.newest: str | None = None  # the checkpoint that this process goes on from

    def unit(self, name: str) -> ProgramUnit:
        """The unit of that name."""
        return self.program[unit_index(self.program, name)]

    def node_of(self, index: int) -> Any:
        """The node at which the program's unit with that index begins; the end after the last."""
        if index == len(self.program):
            return End("done")
        unit = self.program[index]
        return AwaitAnswer(unit.name) if gate_of(unit) is not None else RunUnit(unit.name)

    def end_answer(self, *, accepted: bool) -> None:
        """End the answer's bracket, if it is open."""
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.end(accepted=accepted)


@dataclass
class RunUnit(BaseNode[State, Session, str]):
    """Runs a unit's steps, one after another; `answer` is what its gate is given."""

    unit: str
    answer: str | int | bool | None = None

    async def run(self, ctx: GraphRunContext[State, Session]) -> BaseNode[State, Session, str] | End[str]:
        """Run; returns the node of the next unit."""
        session, outcomes = ctx.deps, ctx.state.outcomes
        for step in chain(*rounds(session.unit(self.unit))):
            content = content_before(session.program, step.step, outcomes)
            if step.kind == "gate":
                passing, session.passing = session.passing, None
                outcomes[step.step] = session.work.passed(step.step, self.answer, operation=passing)
            elif step.kind == "effect":
                key = f"{self.get_snapshot_id()}:{step.step}"
                outcomes[step.step] = session.work.fire(step.step, key, content)
            else:
                outcomes[step.step] = session.work.compute(step.step, content)
        following: BaseNode[State, Session, str] | End[str] = session.node_of(
            unit_index(session.program, self.unit) + 1
        )
        return following


@dataclass
class AwaitAnswer(BaseNode[State, Session, str]):
    """Stands for a gate: the application stops here and puts a `RunUnit` with the answer in its place."""

    unit: str

    async def run(self, ctx: GraphRunContext[State, Session]) -> RunUnit:
        """Never run."""
        raise AssertionError("the application stops before this node")


class RecordingPersistence(FileStatePersistence[State, str]):
    """The file persistence, with an event before and after each durable call.

    Args:
        session: what the process shares.
        starts_over: the application starts over where nothing is left to be run.
    """

    def __init__(self, session: Session, *, starts_over: bool) -> None:
        super().__init__(session.file)
        self._session = session
        self._starts_over = starts_over
        self._seen: list[Any] = []

    async def load_all(self) -> list[Any]:
        """Read all snapshots; the framework does so under the file's lock before each change."""
        self._seen = await super().load_all()
        return self._seen

    async def load_next(self) -> Any:
        """Find the next node to be run and claim its snapshot: the framework's load."""
        session = self._session
        operation = session.log.begin("loaded")
        passing = None if session.answers is None else session.log.begin("gate_passed", gate=session.answers)
        try:
            found = await super().load_next()
        except Exception as error:
            operation.refuse("load", error=type(error).__name__)
            raise
        if found is not None:
            session.newest, index = self._place_of(found.node.unit)
            operation.end(checkpoint=session.newest, index=index)
            if gate_of(session.unit(found.node.unit)) == session.answers:
                session.passing = passing
            session.probe.reach(points.LOADED)
        elif self._starts_over:
            # What the application makes of it: it goes on from nothing.
            operation.end(checkpoint=None, index=0, inferred=True)
            session.probe.reach(points.LOADED)
        elif (gate := self._taken_gate()) is not None:
            checkpoint, index = self._place_of(self._seen[-1].node.unit)
            operation.end(checkpoint=checkpoint, index=index)
            if passing is not None:
                passing.refuse("gate", gate=gate, error=GraphRuntimeError.__name__)
        else:
            operation.refuse("load", error=GraphRuntimeError.__name__)
        return found

    def _taken_gate(self) -> str | None:
        """The gate that this process has an answer for, if the run stands there and another process has loaded it."""
        last = self._seen[-1].node if self._seen else None
        gate = None if last is None or isinstance(last, End) else gate_of(self._session.unit(last.unit))
        return gate if gate is not None and gate == self._session.answers else None

    def _place_of(self, unit: str) -> tuple[str | None, int]:
        """Where in the line of checkpoints a run stands for which that unit is next.

        Returns:
            The newest checkpoint that seals the unit before, and its number in the line (another than the unit's
            where the run was started over); None and 0 where it is the first.
        """
        program = self._session.program
        line = [(s.id, sealed) for s in self._seen if (sealed := sealed_by(program, s.node)) is not None]
        before = unit_index(program, unit) - 1
        for number in range(len(line), 0, -1):
            if before >= 0 and line[number - 1][1] is program[before]:
                return line[number - 1][0], number
        return None, 0

    async def snapshot_node_if_new(self, snapshot_id: str, state: State, next_node: Any) -> None:
        """Store the node that the application begins with; with an answer in it, the answer is durable then."""
        await super().snapshot_node_if_new(snapshot_id, state, next_node)
        self._session.end_answer(accepted=True)

    async def snapshot_node(self, state: State, next_node: Any) -> None:
        """Store that a node is next, which seals the unit before it and parks its gate."""
        gate = gate_of(self._session.unit(next_node.unit))
        with self._sealing(state, next_node, gate):
            await super().snapshot_node(state, next_node)

    async def snapshot_end(self, state: State, end: Any) -> None:
        """Store the end, which seals the last unit."""
        with self._sealing(state, end, None):
            await super().snapshot_end(state, end)

    @contextmanager
    def _sealing(self, state: State, following: Any, gate: str | None) -> Iterator[None]:
        """The events around the one call that stores a snapshot."""
        session = self._session
        sealed = sealed_by(session.program, following)
        operations = []
        if sealed is not None:
            session.probe.reach(points.committing(sealed.name))
            operations.append(session.log.begin("committed", **self._commit(state, following, sealed)))
        if gate is not None:
            session.probe.reach(points.parking(gate))
            operations.append(session.log.begin("parked", gate=gate))
        try:
            yield
        except PydanticSerializationError as error:
            # Raised before the file is touched: the outcome was not taken, and nothing is parked.
            if sealed is not None:
                operations[0].refuse("outcome", error=type(error).__name__, unit=sealed.name)
            raise
        except Exception as error:
            if sealed is not None:
                operations[0].refuse("commit", error=type(error).__name__, unit=sealed.name)
            raise
        for operation in operations:
            operation.end()
        if sealed is not None:
            session.newest = following.get_snapshot_id()
            session.probe.reach(points.committed(sealed.name))
        if gate is not None:
            session.probe.reach(points.parked(gate))

    def _commit(self, state: State, following: Any, sealed: ProgramUnit) -> dict[str, Any]:
        """The fields of the event of a commit."""
        session = self._session
        steps = [step.step for step in sealed.steps]
        kinds = {step.step: step.kind for step in sealed.steps}
        return {
            "unit": sealed.name,
            "steps": steps,
            "outcomes": {step: told(state.outcomes[step]) for step in steps},
            "checkpoint": following.get_snapshot_id(),
            "parent": session.newest,
            "valid": all(kinds[step] == "gate" or is_valid(state.outcomes[step]) for step in steps),
            "next": [following.unit] if hasattr(following, "unit") else [],
        }


def sealed_by(program: list[ProgramUnit], following: Any) -> ProgramUnit | None:
    """The unit that the snapshot seals which says that this node, or the end, is next."""
    return sealed_unit(program, type(following).__name__, getattr(following, "unit", None))


def make_graph() -> Any:
    """The graph: which node follows is told by the program, not by the nodes' types."""
    return Graph(nodes=[RunUnit, AwaitAnswer])


async def act(job: Job, session: Session, *, starts_over: bool) -> None:
    """Take the job's action on the graph, as an application does.

    Args:
        job: what to do.
        session: what the process shares.
        starts_over: start over where nothing is left to be run; otherwise the framework raises there.
    """
    graph = make_graph()
    persistence = RecordingPersistence(session, starts_over=starts_over)
    action = job.action
    if isinstance(action, Answering):
        session.answer = session.log.begin(
            "answer", gate=action.gate, delivery=action.delivery, value=action.value
        )
    try:
        if starts_over:
            await _load_or_start(graph, persistence, session, action)
        elif isinstance(action, Start):
            session.log.emit("loaded", checkpoint=None, index=0, inferred=True)
            await _start(graph, persistence, session)
        else:
            async with graph.iter_from_persistence(persistence, deps=session) as run:
                await _drive(run, _answered(run.next_node, action, session), session)
    except Exception:
        session.end_answer(accepted=False)
        raise
    # No error reached the caller: to the caller the answer was taken, used or not.
    session.end_answer(accepted=True)


async def _load_or_start(
    graph: Any, persistence: RecordingPersistence, session: Session, action: Action
) -> None:
    """Go on if a node is left to be run, else start: as in the documentation's example of a person in the loop."""
    persistence.set_graph_types(graph)
    snapshot = await persistence.load_next()
    if snapshot is None:
        await _start(graph, persistence, session)
        return
    node = _answered(snapshot.node, action, session)
    if node is snapshot.node:
        node.set_snapshot_id(snapshot.id)
    async with graph.iter(node, state=snapshot.state, deps=session, persistence=persistence) as run:
        await _drive(run, node, session)


async def _start(graph: Any, persistence: RecordingPersistence, session: Session) -> None:
    first = session.node_of(0)
    if isinstance(first, AwaitAnswer):
        await graph.initialize(first, persistence, state=State())
        return
    async with graph.iter(first, state=State(), deps=session, persistence=persistence) as run:
        await _drive(run, first, session)


async def _drive(run: Any, node: Any, session: Session) -> None:
    """Run nodes until one waits for an answer, or the end."""
    while not isinstance(node, AwaitAnswer | End):
        node = await run.next(node)
    if isinstance(node, End):
        last = session.program[-1].steps[-1].step
        session.log.emit("completed", outcome=told(run.state.outcomes[last]))


def _answered(node: Any, action: Action, session: Session) -> Any:
    """The node to go on with: what waits for this answer gives way to the node that has it."""
    if (
        isinstance(node, AwaitAnswer)
        and isinstance(action, Answering)
        and gate_of(session.unit(node.unit)) == action.gate
    ):
        return RunUnit(node.unit, answer=action.value)
    return node
