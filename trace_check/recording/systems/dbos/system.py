"""DBOS with its SQLite system database.

A step of the program is a step of DBOS, a gate is a ``recv`` with a topic of its own, an answer a ``send``.  DBOS
stores one row for each call of a workflow and no checkpoint besides: a step's row is its `recorded`, and the row of
a unit's last step seals the unit, which therefore needs no line of its own (the checker supposes the commit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from trace_check.events import ProgramUnit
from trace_check.recording.catalogue import SCENARIOS
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.dbos.layout import SHUT_DOWN, Layout
from trace_check.recording.systems.dbos.store import read_branches
from trace_check.recording.work import Work

__all__ = ["DBOSSystem"]

_NO_CHECKPOINT: Final = "a workflow goes on from its own rows, and naming one is a fork (see fork-declared)"

_AS_WITHOUT: Final = (
    "see store sqlite; this one differs only in shutting DBOS down, which park-and-resume shows"
)


class DBOSSystem(System):
    """DBOS's asynchronous workflows, recovered at launch under the default executor id."""

    name = "dbos"
    stores = ("sqlite", SHUT_DOWN)
    store_notes: ClassVar[Mapping[str, str]] = {
        "sqlite": "DBOS's system database in SQLite, a row for each step; processes end without shutting"
        " DBOS down.",
        SHUT_DOWN: "The same database; each process shuts DBOS down in order, by `DBOS.destroy()`, before it"
        " ends.",
    }
    extra = "dbos"
    distribution = "dbos"
    key = "workflow id and step id"
    modules = ("trace_check.recording.systems.dbos.run",)
    reads_here = True
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "recorded",
        "parked",
        "answer",
        "gate_passed",
        "crashed",
        "forked",
    )

    def __init__(self, store: str | None = None) -> None:
        super().__init__(store)
        # DBOS's threads would keep the process for as long as its workflow waits.
        self.ends_at_once = self.store != SHUT_DOWN

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.dbos.run import act
        from trace_check.recording.systems.dbos.session import Session

        layout = Layout(job.program, job.threads, job.joined)
        act(Session(job, layout, log, Work(job, log, sink, probe), probe))

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read every workflow; see :meth:`System.read_store`."""
        return read_branches(folder, Layout(program, [thread], ""))

    def read_threads(
        self, folder: Path, threads: Sequence[str], joined: str, program: list[ProgramUnit]
    ) -> list[BranchRead]:
        """Read every workflow of every instance; see :meth:`System.read_threads`."""
        return read_branches(folder, Layout(program, threads, joined))

    def not_planned(self) -> Mapping[str, str]:
        """See :meth:`System.not_planned`."""
        if self.store != SHUT_DOWN:
            return {}
        without = {*self.not_applicable(), "park-and-resume"}
        return {name: _AS_WITHOUT for name in SCENARIOS if name not in without}

    def not_applicable(self) -> Mapping[str, str]:
        """See :meth:`System.not_applicable`."""
        return {
            "second-answer-at-old-checkpoint": "an answer is sent to a workflow and cannot name a place in it",
            "kill-after-record": "a step's row is all that is stored: nothing lies between it and a checkpoint",
            "kill-beside-durable-sibling-named": _NO_CHECKPOINT,
            "recovery-at-named-checkpoint": _NO_CHECKPOINT,
            "fork-undeclared": _NO_CHECKPOINT,
            "torn-store": "SQLite's rollback journal, which DBOS keeps, is gone once a write is done: none is left",
        }
