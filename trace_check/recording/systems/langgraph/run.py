"""A LangGraph run: the program as a graph, and a process's one action on it.

Imported only when LangGraph is installed.
"""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from trace_check.events import ROOT_BRANCH
from trace_check.recording import points
from trace_check.recording.scenarios import Answering, Continue, Forking, Start
from trace_check.recording.system import Job
from trace_check.recording.systems.langgraph.plan import OUTCOMES, Part
from trace_check.recording.systems.langgraph.saver import RecordingCalls
from trace_check.recording.systems.langgraph.session import INPUT_STORED, Session

__all__ = ["act", "build_graph"]


def act(job: Job, graph: Any, session: Session, saver: RecordingCalls) -> dict[str, Any]:
    """Take the job's action on the graph; returns what the framework gave the caller."""
    config: dict[str, Any] = {"configurable": {"thread_id": job.thread}}
    match job.action:
        case Start():
            session.writes.expect(INPUT_STORED)
            return _invoke(graph, {OUTCOMES: {}}, config, session)
        case Continue():
            return _invoke(graph, None, _at(config, job.token), session)
        case Forking() as action:
            return _fork(job, action, graph, config, session, saver)
        case Answering() as action:
            return _answer(job, action, graph, config, session, saver)


def _at(config: dict[str, Any], token: str | None) -> dict[str, Any]:
    """The configuration that names a checkpoint, as a state's snapshot has it."""
    named = {"checkpoint_ns": "", "checkpoint_id": token} if token is not None else {}
    return {"configurable": config["configurable"] | named}


def _answer(
    job: Job, action: Answering, graph: Any, config: dict[str, Any], session: Session, saver: RecordingCalls
) -> dict[str, Any]:
    """Answer by the interrupt's id where several may wait at once, else as the only one that waits."""
    branch = job.branch or session.branches.of_head(saver.line(job.thread, None))
    resume: Any = action.value
    if job.joined == "parallel":
        resume = {_interrupt_id(graph, config, session, action): action.value}
    else:
        session.writes.expect(points.answering(action.gate))
    session.begin_answer(action, branch)
    try:
        result = _invoke(graph, Command(resume=resume), _at(config, job.token), session)
    except Exception:
        session.end_answer(accepted=False)
        raise
    # No error reached the caller: to the caller the answer was taken, stored or not.
    session.end_answer(accepted=True)
    return result


def _interrupt_id(graph: Any, config: dict[str, Any], session: Session, action: Answering) -> str:
    """The id of the interrupt at which that gate waits, as the state's snapshot shows it to any caller."""
    parts = session.plan.parts
    for raised in graph.get_state(config).interrupts:
        gate = parts[raised.value["key"]]
        if (gate.thread, gate.step.step) == (action.thread, action.gate):
            return str(raised.id)
    raise LookupError(f"no interrupt of gate {action.gate!r} waits")


def _fork(
    job: Job, action: Forking, graph: Any, config: dict[str, Any], session: Session, saver: RecordingCalls
) -> dict[str, Any]:
    """Fork as the documentation says: update the state at an old checkpoint, then run from what that gives."""
    assert job.token is not None
    parent = job.branch or ROOT_BRANCH
    sealed = saver.sealed_before(job.thread, job.token, job.thread)
    operation = session.log.begin(
        "forked",
        branch=parent,
        checkpoint=sealed[-1] if sealed else None,
        index=len(sealed),
        child=action.child,
        declared=True,
    )
    session.log.branch = session.branches.fork(parent, job.token, action.child)
    forked = graph.update_state(_at(config, job.token), {OUTCOMES: {}})
    operation.end()
    return _invoke(graph, None, forked, session)


def _invoke(graph: Any, given: Any, config: dict[str, Any], session: Session) -> dict[str, Any]:
    with session.watching():
        return dict(graph.invoke(given, config, durability=session.durability))


def _merge(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {**left, **right}


class _State(TypedDict):
    """The graph's state: the outcome of every part so far."""

    outcomes: Annotated[dict[str, Any], _merge]


def build_graph(session: Session, saver: Any) -> Any:
    """The program as a compiled graph."""
    builder = StateGraph(_State)
    for node in session.plan.nodes:
        builder.add_node(node, _node(session, node))
    layers = session.plan.layers
    for before, after in zip([[START], *layers], [*layers, [END]], strict=True):
        for source in before:
            for target in after:
                builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


def _node(session: Session, node: str) -> Any:
    """The code of a node: its parts one after another."""
    parts = session.plan.nodes[node]
    order = [unit.name for unit in session.plan.program]
    units = order[: order.index(parts[0].unit)]
    recorded = {points.recording(part.key) for part in session.plan.parts.values() if part.unit in units}

    def run(state: _State) -> _State:
        # What a dead process had recorded of them is sealed by this one, which does not run them.
        sealing = [points.committing(unit) for unit in units if unit not in session.sealed]
        for point in sealing:
            session.writes.expect(point)
        session.writes.wait([INPUT_STORED, *recorded, *sealing])
        own: dict[str, Any] = {}
        for part in parts:
            own[part.key] = _do(session, node, part, state[OUTCOMES], own)
        for part in parts:
            session.writes.expect(points.recording(part.key))
            session.writes.expect(points.committing(part.unit))
        return {OUTCOMES: own}

    return run


def _do(session: Session, node: str, part: Part, state: dict[str, Any], own: dict[str, Any]) -> Any:
    """Run one part of a node and return its outcome."""
    name, work = part.step.step, session.work
    if part.step.kind == "gate":
        # Raises the first time round; it returns only once there is an answer.
        value = interrupt({"key": part.key})
        session.writes.wait([points.answering(name)])
        session.passed.add(part.key)
        return work.passed(name, value, thread=part.thread)
    content = session.plan.content(part, state, own)
    if part.step.kind == "pure":
        return work.compute(name, content, thread=part.thread)
    return work.fire(name, f"{session.log.thread}:{node}:{part.key}", content, thread=part.thread)
