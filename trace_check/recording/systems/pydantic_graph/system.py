"""pydantic-graph 1.x with its `FileStatePersistence`: one JSON file of snapshots for a run.

A unit is one node instance, its steps in order inside; a unit with a gate is two: `AwaitAnswer`, at which the
application stops, and `RunUnit`, which it puts in its place with the answer, as the framework's documentation does.
The snapshot after a node seals its unit, and parks the gate where the next node is an `AwaitAnswer`.  Nothing is
durable of a node before that, so `recorded` is never shown and always supposed.

How an application resumes is its own choice, and the two that are documented are two stores here: ``file`` goes on by
`Graph.iter_from_persistence`, which raises where nothing is left to run; ``file-load-or-start`` starts over there.
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
from trace_check.recording.systems.pydantic_graph.store import read_branch, snapshots_file
from trace_check.recording.tearing import cut_newest_file
from trace_check.recording.work import Work

__all__ = ["PydanticGraphSystem"]

_NO_PLACE = "a run is resumed where its file says, and no call names another snapshot"
_ONE_NODE = "nodes run one at a time, and none can wait in its middle"


class PydanticGraphSystem(System):
    """pydantic-graph's `Graph`, driven node by node; see the module."""

    name = "pydantic-graph"
    stores = ("file", "file-load-or-start")
    store_notes: ClassVar[Mapping[str, str]] = {
        "file": "`FileStatePersistence`, one JSON file of snapshots; a resume is"
        " `Graph.iter_from_persistence`, which raises where no node is left to be run.",
        "file-load-or-start": "The same file; the application calls `load_next` itself, and starts over where that"
        " finds nothing.",
    }
    extra = "pydantic-graph"
    distribution = "pydantic-graph"
    key = "snapshot and step"
    modules = ("asyncio", "trace_check.recording.systems.pydantic_graph.run")
    reads_here = True
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "memo_used",
        "parked",
        "answer",
        "gate_passed",
        "committed",
        "crashed",
        "forked",
    )

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        import asyncio

        from trace_check.recording.systems.pydantic_graph.run import Session, act

        session = Session(job, log, Work(job, log, sink, probe), probe)
        asyncio.run(act(job, session, starts_over=self.store == "file-load-or-start"))

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read the snapshots' file; see :meth:`System.read_store`."""
        return [read_branch(snapshots_file(folder, thread), program)]

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the file, which the framework writes in place, in its middle; see :meth:`System.tear`."""
        cut_newest_file([snapshots_file(folder, thread)])

    def not_applicable(self) -> Mapping[str, str]:
        """See :meth:`System.not_applicable`."""
        return {
            "second-answer-at-old-checkpoint": _NO_PLACE,
            "recovery-at-named-checkpoint": _NO_PLACE,
            "fork-undeclared": _NO_PLACE,
            "fork-declared": "there is no call that forks a run",
            "two-interrupts-in-one-node": _ONE_NODE,
            "parallel-interrupts": _ONE_NODE,
            "kill-beside-durable-sibling": _ONE_NODE,
            "kill-beside-durable-sibling-named": _ONE_NODE,
            "kill-after-record": "a node's outcome becomes durable with the snapshot of the next node, not before",
        }
