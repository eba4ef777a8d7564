"""LangGraph's StateGraph with its SQLite and PostgreSQL savers, in each durability.

The recorder subclasses the saver and brackets its three durable calls (``get_tuple``, ``put_writes``, ``put``); the
nodes tell what only they know: a pure step's outcome, that a gate let them through. Nothing of the framework is
changed. A node is a unit, or a part of one that has no order with its others. LangGraph does not name branches: a
resume at a checkpoint that is not its branch's newest starts a sibling line, to which the recorder gives a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from trace_check.events import ROOT_BRANCH, ProgramUnit
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Scenario
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.langgraph import postgres
from trace_check.recording.systems.langgraph.plan import OUTCOMES, Plan
from trace_check.recording.systems.langgraph.scenarios import excluded, in_flight
from trace_check.recording.systems.langgraph.session import Session, Writes
from trace_check.recording.systems.langgraph.store import INTERRUPT, read_branches
from trace_check.recording.tearing import cut_wal
from trace_check.recording.work import Work

__all__ = ["LangGraphNewestSystem", "LangGraphSystem"]

_DURABILITY: Final = {
    "sqlite": "sync",
    "sqlite-async": "async",
    "sqlite-exit": "exit",
    "postgres": "sync",
    "postgres-async": "async",
}


class LangGraphSystem(System):
    """LangGraph; its store's name has the durability where that is not ``sync``."""

    name = "langgraph"
    stores = tuple(_DURABILITY)
    store_notes: ClassVar[Mapping[str, str]] = {
        "sqlite": "`SqliteSaver` with durability `sync`: each checkpoint is written before the next"
        " superstep begins.",
        "sqlite-async": "`SqliteSaver` with durability `async`: a checkpoint is written while the next superstep"
        " runs.",
        "sqlite-exit": "`SqliteSaver` with durability `exit`: nothing is written before the run ends or parks.",
        "postgres": "`PostgresSaver` with durability `sync`: each checkpoint is written before the next"
        " superstep begins.",
        "postgres-async": "`PostgresSaver` with durability `async`: a checkpoint is written while the next"
        " superstep runs.",
    }
    extra = "langgraph"
    distribution = "langgraph"
    key = "thread, node and step"
    modules: Sequence[str] = (
        "langgraph.checkpoint.sqlite",
        "trace_check.recording.systems.langgraph.run",
        "trace_check.recording.systems.langgraph.opening",
    )
    observes: Sequence[str] = (
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

    def __init__(self, store: str | None = None) -> None:
        super().__init__(store)
        self.durability = _DURABILITY[self.store]
        self.is_served = self.store.startswith("postgres")
        if self.durability == "exit":
            # An outcome becomes durable with the checkpoint of its unit.
            self.observes = tuple(kind for kind in self.observes if kind != "recorded")
        if self.is_served:
            # PostgreSQL and its driver are in an extra of their own.
            self.extra = f"{self.extra}-postgres"
            self.modules = ("langgraph.checkpoint.postgres", *self.modules)

    def environment(self) -> dict[str, str]:
        """Tracing services are not called."""
        return {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}

    def not_applicable(self) -> Mapping[str, str]:
        """What this durability and this store can't show."""
        return excluded(self.durability, is_served=self.is_served)

    def scenarios(self) -> Mapping[str, Scenario]:
        """All that are applicable, and SIGKILL while the framework still has a write in hand."""
        return {**super().scenarios(), **in_flight(self.durability)}

    def prepare(self, folder: Path) -> None:
        """Start the database server."""
        if self.is_served:
            postgres.start(*self.python(), folder)

    def clean_up(self, folder: Path) -> None:
        """Stop it."""
        if self.is_served:
            postgres.stop(folder)

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the last frame of SQLite's write-ahead log."""
        if self.is_served:
            super().tear(folder, thread)
        cut_wal(folder / "checkpoints.sqlite")

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.langgraph.opening import recording_saver
        from trace_check.recording.systems.langgraph.run import act, build_graph

        plan = Plan(job.program, job.threads, job.joined)
        session = Session(
            plan,
            log,
            Work(job, log, sink, probe),
            probe,
            Branches(Path(job.folder)),
            self.durability,
            Writes(job.hold, at_exit=self.durability == "exit"),
        )
        with recording_saver(Path(job.folder), session, is_served=self.is_served) as saver:
            result = act(job, build_graph(session, saver), session, saver)
        if INTERRUPT in result:
            return
        for own in job.threads:
            done, outcome = plan.last_outcome(own, result[OUTCOMES])
            if done:
                log.emit("completed", thread=own, outcome=outcome)

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read each line of checkpoints; see :meth:`System.read_store`."""
        return self.read_threads(folder, [thread], "", program)

    def read_threads(
        self, folder: Path, threads: Sequence[str], joined: str, program: list[ProgramUnit]
    ) -> list[BranchRead]:
        """The same for several instances: they are parts of the checkpoints of one LangGraph thread."""
        from trace_check.recording.systems.langgraph.opening import reading_saver

        plan = Plan(program, threads, joined)
        with reading_saver(folder, threads[0], is_served=self.is_served) as (saver, rows):
            if saver is None:
                return [BranchRead(branch=ROOT_BRANCH, thread=own) for own in threads]
            return read_branches(saver, threads[0], plan, rows, Branches(folder))


class LangGraphNewestSystem(LangGraphSystem):
    """The same with the newest version that was seen."""

    extra = "langgraph-newest"
