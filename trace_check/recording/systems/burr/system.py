"""Burr with its `SQLitePersister`: a row for each action that ended.

A unit is one action, whose row seals it; the gate's answer is an input of the action (``sqlite``), or of an action of
its own before it that puts it into the state (``sqlite-gate-action``): then the unit is both, and the second's row
seals it.  A gate is parked by the row after which the action that needs the answer is next: nothing else says that
somebody is waited for, so `parked` is inferred.  Parts of a unit with no order between them are a `MapActions`, whose
parts are applications of their own and persisted too: their rows are `recorded`, and no other step has such a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from trace_check.events import ProgramUnit
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.burr.plan import BurrPlan
from trace_check.recording.systems.burr.store import read_branches
from trace_check.recording.work import Work

__all__ = ["BurrSystem"]

_NO_WAITING = "an action gets its answer before it begins, and none can wait in its middle"


class BurrSystem(System):
    """Burr's `Application`, built by its `ApplicationBuilder`; see the module."""

    name = "burr"
    stores = ("sqlite", "sqlite-gate-action")
    store_notes: ClassVar[Mapping[str, str]] = {
        "sqlite": "Burr's `SQLitePersister`, a row for each action; the action that takes an answer as its"
        " input also fires the effect behind the gate.",
        "sqlite-gate-action": "The same persister; an action of its own takes the answer and puts it into the state,"
        " and the action after it fires.",
    }
    extra = "burr"
    distribution = "burr"
    key = "application, sequence id and step"
    modules = ("trace_check.recording.systems.burr.run",)
    reads_here = True
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "answer",
        "gate_passed",
        "committed",
        "crashed",
        "forked",
    )

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.burr.run import act
        from trace_check.recording.systems.burr.session import Session

        act(job, Session(job, self._plan(job.program), log, Work(job, log, sink, probe), probe))

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read the persister's table; see :meth:`System.read_store`."""
        return read_branches(folder, thread, self._plan(program))

    def not_applicable(self) -> Mapping[str, str]:
        """See :meth:`System.not_applicable`."""
        return {
            "two-interrupts-in-one-node": _NO_WAITING,
            "parallel-interrupts": _NO_WAITING,
            "kill-after-record": "an action that runs alone is durable with its own row, and nothing of it before",
            "torn-store": "SQLite's rollback journal is gone before a save returns: no part of a row can be missing",
        }

    def _plan(self, program: list[ProgramUnit]) -> BurrPlan:
        return BurrPlan(program, asks_apart=self.store == "sqlite-gate-action")
