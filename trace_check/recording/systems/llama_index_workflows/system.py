"""LlamaIndex Workflows with a context that the application keeps as JSON files.

The framework hands over its whole state (``Context.to_dict``) and takes it back (``Context.from_dict``); what is
kept, and when, is the application's business.  This one does what the framework's guides show: inside a step it keeps a
snapshot after each effect and skips what the snapshot says is done, and it keeps one when the workflow asks for input.
So a snapshot after a step is that step's `recorded`; the one after a unit's last step seals the unit, without a line
of its own (the checker supposes the commit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from trace_check.events import ProgramUnit
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.llama_index_workflows.store import Snapshots, read_branches
from trace_check.recording.tearing import cut_newest_file
from trace_check.recording.work import Work

__all__ = ["LlamaIndexWorkflowsSystem"]


class LlamaIndexWorkflowsSystem(System):
    """LlamaIndex's Workflow; one run of a step for each unordered part of a unit."""

    name = "llama-index-workflows"
    stores = ("json",)
    store_notes: ClassVar[Mapping[str, str]] = {
        "json": "Snapshots of the context (`Context.to_dict`), which the application writes to a JSON"
        " file each after every step; the newest is the state.",
    }
    extra = "llama-index-workflows"
    distribution = "llama-index-workflows"
    key = None
    kept_by = "application"
    modules = ("trace_check.recording.systems.llama_index_workflows.run",)
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

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.llama_index_workflows.run import act

        act(job, log, Work(job, log, sink, probe), probe)

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read the newest snapshot of each line; see :meth:`System.read_store`."""
        return read_branches(folder, [thread], program)

    def read_threads(
        self, folder: Path, threads: Sequence[str], joined: str, program: list[ProgramUnit]
    ) -> list[BranchRead]:
        """The same for every instance: all of them are in one snapshot."""
        return read_branches(folder, threads, program)

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the newest snapshot to half of its length."""
        snapshots = Snapshots(folder)
        cut_newest_file([snapshots.path(name) for name in snapshots.names()])

    def not_applicable(self) -> Mapping[str, str]:
        """See :meth:`System.not_applicable`."""
        return {
            "kill-after-record": "a snapshot after a step is all that is kept: no checkpoint comes after it",
            "fork-declared": "the framework has no call that forks: a context is a value that can be loaded twice",
        }
