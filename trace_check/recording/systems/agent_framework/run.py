"""An Agent Framework workflow that tells what it does: a storage that brackets its calls, and executors that speak.

Imported only where the framework is installed.
"""

# The framework is not installed where types are checked, so its classes are Any there.
# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from itertools import pairwise
from typing import Any

from agent_framework import (
    Executor,
    FileCheckpointStorage,
    WorkflowBuilder,
    WorkflowContext,
    WorkflowRunState,
    handler,
    response_handler,
)

from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.nodes import Layout, Node, Progress, sealing
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering, Forking
from trace_check.recording.system import Job
from trace_check.recording.systems.agent_framework.plan import Ask, Handoff, ancestry, asked, progress
from trace_check.recording.work import Work, told

__all__ = ["RecordingStorage", "Session", "act", "open_storage"]

_STORED_TYPES = [f"{kind.__module__}:{kind.__qualname__}" for kind in (Ask, Handoff)]


def open_storage(folder: str) -> Any:
    """The framework's file storage, for the types of messages that the executors send."""
    return FileCheckpointStorage(folder, allowed_checkpoint_types=_STORED_TYPES)


class Session:
    """What the storage and the executors of one process share."""

    def __init__(
        self, job: Job, layout: Layout, log: EventLog, work: Work, probe: Probe, branches: Branches
    ) -> None:
        self.job = job
        self.layout = layout
        self.log = log
        self.work = work
        self.probe = probe
        self.branches = branches
        self.answer: Operation | None = None
        self.loads: dict[str, Operation] = {}

    def begin_loads(self) -> None:
        """Begin the reading of every instance."""
        self.loads = {thread: self.log.begin("loaded", thread=thread) for thread in self.layout.threads}

    def end_loads(self, line: list[Any]) -> None:
        """End it.

        Args:
            line: the checkpoint that was read, and its ancestors before it; empty where there is none.
        """
        for thread, operation in self.loads.items():
            ids = sealing(self.layout, _told(line), thread)
            operation.end(branch=self.log.branch, checkpoint=ids[-1] if ids else None, index=len(ids))
        if self.loads:
            self.loads = {}
            self.probe.reach(points.LOADED)

    def end_answer(self, *, accepted: bool) -> None:
        """End the answer's bracket, if it is open."""
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.end(accepted=accepted)


def _told(line: list[Any]) -> list[tuple[str, Progress]]:
    return [(str(checkpoint.checkpoint_id), progress(checkpoint)) for checkpoint in line]


class RecordingStorage(FileCheckpointStorage):
    """The framework's file storage, with an event before and after each call that a run makes."""

    def __init__(self, folder: str, session: Session) -> None:
        super().__init__(folder, allowed_checkpoint_types=_STORED_TYPES)
        self._session = session
        self._line: list[Any] = []

    async def load(self, checkpoint_id: str) -> Any:
        """Read a checkpoint: a run does so once, when it is told to go on from there."""
        session = self._session
        found = await super().load(checkpoint_id)
        session.end_loads(self._line)
        return found

    async def enter(self, checkpoint_id: str | None, *, named: bool) -> None:
        """Learn where a run is about to go on, and whether that makes a branch."""
        session = self._session
        known = {c.checkpoint_id: c for c in await self.list_checkpoints(workflow_name=session.job.thread)}
        self._line = ancestry(known, checkpoint_id)
        if checkpoint_id is None:
            return
        branch = session.branches.of(checkpoint_id)
        by_time = sorted(known, key=lambda name: known[name].timestamp)
        if named and session.branches.heads(by_time)[branch] != checkpoint_id:
            told = _told(self._line)
            sealed = {thread: sealing(session.layout, told, thread) for thread in session.layout.threads}
            branch = session.branches.fork_unasked(session.log, branch, checkpoint_id, sealed)
        session.log.branch = branch
        if branch == session.job.branch or not named:
            return
        for (thread, gate), _ in asked(self._line[-1]).items():
            # Where a gate waits, the new line begins with it waiting.
            ids = sealing(session.layout, _told(self._line), thread)
            session.log.emit(
                "loaded", thread=thread, checkpoint=ids[-1] if ids else None, index=len(ids), inferred=True
            )
            session.log.begin("parked", thread=thread, gate=gate, inferred=True).end()

    async def save(self, checkpoint: Any) -> Any:
        """Store a checkpoint: it seals what ran since its parent, and holds the requests that are open."""
        session, layout = self._session, self._session.layout
        session.branches.note(checkpoint.checkpoint_id, session.log.branch)
        parent = self._line[-1] if self._line else None
        now, before = progress(checkpoint), progress(parent) if parent is not None else None
        operations: list[Operation] = []
        after: list[str] = []
        for thread in layout.threads:
            ids = sealing(layout, _told(self._line), thread)
            for unit in layout.sealed_by(now, before, thread):
                sealed = layout.sealed(now, unit, thread)
                session.probe.reach(points.committing(unit.name))
                operation = session.log.begin(
                    "committed",
                    thread=thread,
                    checkpoint=checkpoint.checkpoint_id,
                    parent=ids[-1] if ids else None,
                    next=layout.after(unit),
                    **sealed,
                )
                operations.append(operation)
                after.append(points.committed(unit.name))
        open_before = asked(parent) if parent is not None else {}
        for (thread, gate), request in asked(checkpoint).items():
            if open_before.get((thread, gate)) != request:
                session.probe.reach(points.parking(gate))
                operations.append(session.log.begin("parked", thread=thread, gate=gate))
                after.append(points.parked(gate))
        stored = await super().save(checkpoint)
        for operation in operations:
            operation.end()
        session.end_answer(accepted=True)
        self._line.append(checkpoint)
        for point in after:
            session.probe.reach(point)
        return stored


class _Steps(Executor):
    """The code of one part of a unit: its steps one after another, up to a gate and on from there."""

    def __init__(self, node: Node, session: Session, *, last: bool) -> None:
        super().__init__(id=node.name)
        self._node = node
        self._session = session
        self._last = last
        self._runs: dict[str, int] = {}
        self._outcomes: dict[str, dict[str, Any]] = {}

    async def on_checkpoint_save(self) -> dict[str, Any]:
        """What this executor keeps in a checkpoint."""
        return {"runs": self._runs, "outcomes": self._outcomes}

    async def on_checkpoint_restore(self, state: dict[str, Any]) -> None:
        """Take it back."""
        self._runs = state["runs"]
        self._outcomes = state["outcomes"]

    @handler
    async def begin(self, message: Handoff, ctx: WorkflowContext[Handoff, dict[str, Any]]) -> None:
        """Go from the first step."""
        await self._run(0, message.outcomes, ctx)

    @handler
    async def join(self, messages: list[Handoff], ctx: WorkflowContext[Handoff, dict[str, Any]]) -> None:
        """Go from the first step with what several executors before this one handed on."""
        content: dict[str, dict[str, Any]] = {}
        for message in messages:
            for thread, outcomes in message.outcomes.items():
                content.setdefault(thread, {}).update(outcomes)
        await self._run(0, content, ctx)

    @response_handler
    async def answered(
        self, question: Ask, answer: str, ctx: WorkflowContext[Handoff, dict[str, Any]]
    ) -> None:
        """Go on behind a gate."""
        await self._session.work.passed_async(question.gate, answer, thread=question.thread)
        self._did(question.position, answer)
        await self._run(question.position + 1, question.outcomes, ctx)

    async def _run(self, position: int, content: dict[str, dict[str, Any]], ctx: Any) -> None:
        session, items = self._session, self._node.items
        for place in range(position, len(items)):
            step, thread = items[place].step, items[place].thread
            if step.kind == "gate":
                await ctx.request_info(Ask(thread, step.step, place, content), str)
                return
            own = self._outcomes.get(thread, {})
            before = content.get(thread, {}) | session.layout.before(step.step, own)
            if step.kind == "effect":
                key = f"{session.job.thread}:{self.id}:{_named(thread, step.step, session)}"
                self._did(place, await session.work.fire_async(step.step, key, before, thread))
            else:
                self._did(place, session.work.compute(step.step, before, thread=thread))
        done = {thread: dict(outcomes) for thread, outcomes in content.items()}
        for thread, outcomes in self._outcomes.items():
            done.setdefault(thread, {}).update(outcomes)
        if self._last:
            await ctx.yield_output({item.thread: told(done[item.thread][item.step.step]) for item in items})
        else:
            await ctx.send_message(Handoff(done))

    def _did(self, place: int, outcome: Any) -> None:
        """Keep a step's outcome; its unit's part is through if none of its steps is left."""
        item = self._node.items[place]
        self._outcomes.setdefault(item.thread, {})[item.step.step] = outcome
        if all(later.mark != item.mark for later in self._node.items[place + 1 :]):
            self._runs[item.mark] = self._runs.get(item.mark, 0) + 1


class _Fan(Executor):
    """Hands the start on to several executors."""

    @handler
    async def begin(self, message: Handoff, ctx: WorkflowContext[Handoff]) -> None:
        """Pass the message on."""
        await ctx.send_message(message)


def _named(thread: str, step: str, session: Session) -> str:
    """A step's name in its key: with its instance, where there are several in one executor."""
    return step if len(session.layout.threads) == 1 else f"{thread}.{step}"


def _build(session: Session, storage: Any) -> Any:
    """The program as a workflow."""
    layers = session.layout.layers
    executors: list[list[Any]] = [
        [_Steps(node, session, last=layer is layers[-1]) for node in layer] for layer in layers
    ]
    if len(executors[0]) > 1:
        executors.insert(0, [_Fan(id="start")])
    builder = WorkflowBuilder(
        name=session.job.thread, start_executor=executors[0][0], checkpoint_storage=storage
    )
    for sources, targets in pairwise(executors):
        if len(sources) > 1:
            for target in targets:
                builder.add_fan_in_edges(sources, target)
        elif len(targets) > 1:
            builder.add_fan_out_edges(sources[0], targets)
        else:
            builder.add_edge(sources[0], targets[0])
    return builder.build()


async def act(session: Session, folder: str) -> None:
    """Take the job's action."""
    action = session.job.action
    if isinstance(action, Forking):
        raise RecordingError("the Agent Framework declares no forks", "leave the fork out of the scenario")
    storage = RecordingStorage(folder, session)
    if isinstance(action, Answering):
        await _answer(session, storage, action)
    else:
        await _go_on(session, storage, session.job.token)


async def _go_on(session: Session, storage: RecordingStorage, token: str | None) -> None:
    """Go on from a checkpoint, or from the newest; where there is none, from the start."""
    name = await _enter(session, storage, token)
    if name is None:
        session.end_loads([])
        await _run(session, storage, message=Handoff())
    else:
        await _run(session, storage, checkpoint_id=name)


async def _answer(session: Session, storage: RecordingStorage, action: Answering) -> None:
    """Hand an answer over and go on; if it is refused, go on without it if there is something to do."""
    job = session.job
    known = await storage.list_checkpoints(workflow_name=job.thread)
    requests = [
        request
        for checkpoint in sorted(known, key=lambda c: c.timestamp)
        if (request := asked(checkpoint).get((action.thread, action.gate))) is not None
    ]
    if not requests:
        raise RecordingError(f"nobody ever asked for {action.gate!r}", "call the scenario not applicable")
    name = await _enter(session, storage, job.token)
    session.answer = session.log.begin(
        "answer",
        thread=action.thread,
        branch=session.log.branch,
        gate=action.gate,
        delivery=action.delivery,
        value=action.value,
    )
    # What the caller knows of a gate is the request that the framework told it of last.
    try:
        await _run(session, storage, checkpoint_id=name, responses={requests[-1]: action.value})
    except (RuntimeError, ValueError):
        if session.answer is None or session.loads:
            raise
        session.end_answer(accepted=False)
    except BaseException:
        session.end_answer(accepted=False)
        raise
    else:
        # Stored or not, no error reached the caller.
        session.end_answer(accepted=True)
        return
    head = await storage.get_latest(workflow_name=job.thread)
    if head is not None and head.messages:
        await _go_on(session, storage, None)


async def _enter(session: Session, storage: RecordingStorage, token: str | None) -> str | None:
    """Choose the checkpoint to go on from. The reading begins here where it looks for the newest."""
    if token is not None:
        await storage.enter(token, named=True)
        session.begin_loads()
        return token
    session.begin_loads()
    newest = await storage.get_latest(workflow_name=session.job.thread)
    name = newest.checkpoint_id if newest is not None else None
    await storage.enter(name, named=False)
    return name


async def _run(session: Session, storage: RecordingStorage, **given: Any) -> None:
    """Run the workflow as far as it goes."""
    outputs: dict[str, Any] = {}
    ended = False
    async for event in _build(session, storage).run(stream=True, **given):
        if event.type == "output":
            outputs |= event.data
        elif event.type == "status":
            ended = event.state == WorkflowRunState.IDLE
    for thread in session.layout.threads if ended else []:
        if thread in outputs:
            session.log.emit("completed", thread=thread, outcome=outputs[thread])
