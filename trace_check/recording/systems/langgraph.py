"""LangGraph with its SQLite saver, durability ``sync``.

The recorder subclasses the saver and brackets its three durable calls (``get_tuple``, ``put_writes``,
``put``); the nodes tell what only they know: a pure step's outcome, that a gate let them through. Nothing of
the framework is changed. LangGraph does not name branches: a resume at a checkpoint that is not its branch's
newest starts a sibling line, to which the recorder gives a name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from trace_check.events import ROOT_BRANCH, ProgramUnit
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.langgraph_branches import Branches
from trace_check.recording.systems.langgraph_plan import Plan
from trace_check.recording.systems.langgraph_store import INTERRUPT, read_branches
from trace_check.recording.work import Work

__all__ = ["LangGraphSystem"]


class LangGraphSystem(System):
    """LangGraph's StateGraph with durability ``sync``; one node for each unordered part of a unit."""

    name = "langgraph"
    stores = ("sqlite",)
    extra = "langgraph"
    distribution = "langgraph"
    key = "thread, node and step"
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "recorded",
        "parked",
        "answer",
        "gate_passed",
        "committed",
        "crashed",
        "forked",
    )

    def environment(self) -> dict[str, str]:
        """Tracing services are not called."""
        return {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.langgraph_run import RecordingSaver, Session, act, build_graph

        plan = Plan(job.program)
        session = Session(plan, log, Work(job, log, sink, probe), probe, Branches(Path(job.folder)))
        with _connection(_database(Path(job.folder))) as connection:
            saver = RecordingSaver(connection, session)
            result = act(job, build_graph(session, saver), session, saver)
        if INTERRUPT not in result and all(step in result["outcomes"] for step in plan.steps):
            log.emit("completed", outcome=result["outcomes"][plan.last_step])

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read each line of checkpoints; see :meth:`System.read_store`."""
        from langgraph.checkpoint.sqlite import SqliteSaver

        if not _database(folder).exists():
            return [BranchRead(branch=ROOT_BRANCH)]
        with _connection(_database(folder)) as connection:
            return read_branches(SqliteSaver(connection), thread, Plan(program), Branches(folder))


def _database(folder: Path) -> Path:
    return folder / "checkpoints.sqlite"


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that waits for other writers and may be used from the framework's threads."""
    with closing(sqlite3.connect(path, timeout=30, check_same_thread=False)) as connection:
        yield connection
