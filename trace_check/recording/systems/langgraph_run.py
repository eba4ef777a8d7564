"""A LangGraph run that tells what it does: a saver that brackets its durable calls, and nodes that speak.

Imported only when LangGraph is installed.
"""

# The base class is Any where LangGraph is not installed, and typed where it is.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Continue, Forking, Start
from trace_check.recording.system import Job
from trace_check.recording.systems.langgraph_branches import Branches
from trace_check.recording.systems.langgraph_plan import Plan
from trace_check.recording.systems.langgraph_store import INTERRUPT, NULL_TASK, RESUME, sealing_nodes, walk
from trace_check.recording.work import Work

__all__ = ["RecordingSaver", "Session", "act", "build_graph"]


def act(job: Job, graph: Any, session: Session, saver: RecordingSaver) -> dict[str, Any]:
    """Take the job's action on the graph; returns what the framework gave the caller."""
    config: dict[str, Any] = {"configurable": {"thread_id": job.thread}}
    action = job.action
    if isinstance(action, Start):
        return _invoke(graph, {"outcomes": {}}, config, session)
    if isinstance(action, Continue):
        return _invoke(graph, None, config, session)
    if isinstance(action, Forking):
        raise RecordingError("LangGraph declares no forks", "leave the fork out of the scenario")
    branch = job.branch or session.branches.of_head(saver.line(job.thread, None))
    if job.token is not None:
        config["configurable"]["checkpoint_id"] = job.token
    session.answer = session.log.begin(
        "answer", branch=branch, gate=action.gate, delivery=action.delivery, value=action.value
    )
    try:
        result = _invoke(graph, Command(resume=action.value), config, session)
    except Exception:
        session.end_answer(accepted=False)
        raise
    # No error reached the caller: to the caller the answer was taken, stored or not.
    session.end_answer(accepted=True)
    return result


def _invoke(graph: Any, given: Any, config: dict[str, Any], session: Session) -> dict[str, Any]:
    with session.watching():
        return dict(graph.invoke(given, config, durability="sync"))


class Session:
    """What the saver and the nodes of one process share."""

    def __init__(self, plan: Plan, log: EventLog, work: Work, probe: Probe, branches: Branches) -> None:
        self.plan = plan
        self.log = log
        self.work = work
        self.probe = probe
        self.branches = branches
        self.answer: Operation | None = None
        self.watched = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While the framework runs: its calls of the saver are events, the recorder's own are not."""
        self.watched = True
        try:
            yield
        finally:
            self.watched = False

    def end_answer(self, *, accepted: bool) -> None:
        """End the answer's bracket, if it is open."""
        answer, self.answer = self.answer, None
        if answer is not None:
            answer.end(accepted=accepted)


class RecordingSaver(SqliteSaver):
    """The SQLite saver, with an event before and after each durable call."""

    def __init__(self, connection: sqlite3.Connection, session: Session) -> None:
        super().__init__(connection)
        self._session = session

    def line(self, thread: str, checkpoint_id: str | None) -> list[Any]:
        """A checkpoint and its ancestors as the store has them, oldest first; no events.

        Args:
            thread: the thread's id.
            checkpoint_id: the newest of the line, None for the thread's newest.
        """
        return list(walk(super(), thread, checkpoint_id))[::-1]

    def get_tuple(self, config: Any) -> Any:
        """Read a checkpoint: the framework does so once a run, when it loads."""
        session = self._session
        if not session.watched:
            return super().get_tuple(config)
        thread, wanted = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_id")
        line = self._enter_branch(thread, wanted)
        operation = session.log.begin("loaded")
        found = super().get_tuple(config)
        name = found.checkpoint["id"] if found is not None else None
        if name != (line[-1].checkpoint["id"] if line else None):
            # Somebody stored a checkpoint since the look that told the branch.
            line = self.line(thread, name)
            session.log.branch = session.branches.of_head(line)
        sealed = self._sealed_ids(line)
        operation.end(branch=session.log.branch, checkpoint=sealed[-1] if sealed else None, index=len(sealed))
        session.probe.reach(points.LOADED)
        return found

    def _enter_branch(self, thread: str, wanted: str | None) -> list[Any]:
        """Find the branch that a load will be on, and its line; a load at no head starts a branch."""
        session = self._session
        line = self.line(thread, wanted)
        branch = session.branches.of_head(line)
        if wanted is not None and line:
            config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
            known = sorted(item.checkpoint["id"] for item in super().list(config))
            if session.branches.heads(known)[branch] != wanted:
                sealed = self._sealed_ids(line)
                child = session.branches.fork(branch, wanted)
                session.log.emit(
                    "forked",
                    branch=branch,
                    checkpoint=sealed[-1] if sealed else None,
                    index=len(sealed),
                    child=child,
                    declared=False,
                    inferred=True,
                )
                branch = child
        session.log.branch = branch
        return line

    def _sealed_ids(self, line: Sequence[Any]) -> list[str]:
        """The checkpoints of a line that seal a unit."""
        return [item.checkpoint["id"] for item, ran in sealing_nodes(self._session.plan, line) if ran]

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote: an answer, an interrupt, or the outcomes of a node that has ended."""
        session = self._session
        if task_id == NULL_TASK:
            super().put_writes(config, writes, task_id, task_path)
            if any(channel == RESUME for channel, _ in writes):
                session.end_answer(accepted=True)
            return
        about = _events_of_writes(session.plan, writes)
        for _, _, before, _ in about:
            session.probe.reach(before)
        operations = [session.log.begin(kind, **fields) for kind, fields, _, _ in about]
        super().put_writes(config, writes, task_id, task_path)
        for operation in operations:
            operation.end()
        for _, _, _, after in about:
            session.probe.reach(after)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Store a checkpoint; only one that seals a unit is an event."""
        session = self._session
        session.branches.note(checkpoint["id"], session.log.branch)
        thread, parent_id = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_id")
        line = self.line(thread, parent_id) if parent_id else []
        ran = session.plan.sealed_by(checkpoint, line[-1].checkpoint if line else None)
        if not ran:
            return super().put(config, checkpoint, metadata, new_versions)
        sealed = session.plan.sealed(checkpoint, ran)
        before = self._sealed_ids(line)
        session.probe.reach(points.committing(sealed["unit"]))
        operation = session.log.begin(
            "committed",
            **sealed,
            checkpoint=checkpoint["id"],
            parent=before[-1] if before else None,
            valid=session.plan.is_valid(sealed["steps"], sealed["outcomes"]),
            next=session.plan.next_units(checkpoint),
        )
        stored = super().put(config, checkpoint, metadata, new_versions)
        operation.end()
        session.probe.reach(points.committed(sealed["unit"]))
        return stored


def _events_of_writes(
    plan: Plan, writes: Sequence[tuple[str, Any]]
) -> list[tuple[str, dict[str, Any], str, str]]:
    """What a task's writes stand for: (kind, fields, the point before, the point after) of each event."""
    about: list[tuple[str, dict[str, Any], str, str]] = []
    for channel, value in writes:
        if channel == INTERRUPT:
            for raised in value:
                gate = raised.value["gate"]
                about.append(("parked", {"gate": gate}, points.parking(gate), points.parked(gate)))
        elif channel == "outcomes":
            for step, outcome in value.items():
                # A gate's outcome is its answer, which the store has from elsewhere.
                if plan.steps[step].kind != "gate":
                    fields = {"step": step, "outcome": outcome}
                    about.append(("recorded", fields, points.recording(step), points.recorded(step)))
    return about


def _merge(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {**left, **right}


class _State(TypedDict):
    """The graph's state: the outcome of every step so far."""

    outcomes: Annotated[dict[str, Any], _merge]


def build_graph(session: Session, saver: Any) -> Any:
    """The program as a compiled graph."""
    builder = StateGraph(_State)
    for node in session.plan.nodes:
        builder.add_node(node, _node(session, node))
    for before, after in zip([[START], *session.plan.layers], [*session.plan.layers, [END]], strict=True):
        for source in before:
            for target in after:
                builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


def _node(session: Session, node: str) -> Any:
    """The code of a node: its steps one after another."""
    plan, work, thread = session.plan, session.work, session.log.thread

    def run(state: _State) -> _State:
        content = dict(state["outcomes"])
        own: dict[str, Any] = {}
        for step in plan.nodes[node]:
            name = step.step
            before = content | plan.before(name, own)
            if step.kind == "gate":
                # Raises the first time round; it returns only once there is an answer.
                own[name] = work.passed(name, interrupt({"gate": name}))
            elif step.kind == "effect":
                own[name] = work.fire(name, f"{thread}:{node}:{name}", before)
            else:
                own[name] = work.compute(name, before)
        return {"outcomes": own}

    return run
