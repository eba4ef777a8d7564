"""Microsoft Agent Framework with its file checkpoint storage.

A unit is one executor, or one for each part of it that has no order with the others; they run in one superstep, at
whose end the framework stores one checkpoint. A gate is `ctx.request_info`, the steps behind it are in the response
handler of the same executor: the superstep that asks stores a checkpoint with the request (`parked`), a run that
brings the response stores it in one of its own before any code sees it (`answer`), and the superstep that
handles it stores the checkpoint that seals the unit (`committed`). No outcome is durable before its superstep's end,
so nothing is `recorded`.

The recorder subclasses the storage and brackets its `save` and `load`. The framework names no branches: a run from a
checkpoint that is not its branch's newest starts a sibling line, to which the recorder gives a name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from trace_check.events import ProgramUnit
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog
from trace_check.recording.nodes import Layout
from trace_check.recording.probe import Probe
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.tearing import cut_newest_file
from trace_check.recording.work import Work

__all__ = ["AgentFrameworkSystem"]

_NOT_BEFORE = "no outcome is durable before the checkpoint of its superstep, which seals the unit"


class AgentFrameworkSystem(System):
    """A graph workflow whose application goes on from the newest checkpoint of its name."""

    name = "agent-framework"
    stores = ("file",)
    store_notes: ClassVar[Mapping[str, str]] = {
        "file": "The framework's `FileCheckpointStorage`: a JSON file for each checkpoint; a resume takes"
        " the newest of the workflow's name.",
    }
    extra = "agent-framework"
    distribution = "agent-framework-core"
    key = "workflow name, executor and step"
    modules = ("trace_check.recording.systems.agent_framework.run",)
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "parked",
        "answer",
        "gate_passed",
        "committed",
        "crashed",
        "forked",
    )

    def not_applicable(self) -> Mapping[str, str]:
        """See :meth:`System.not_applicable`."""
        return {
            "kill-after-record": _NOT_BEFORE,
            "kill-beside-durable-sibling": _NOT_BEFORE,
            "kill-beside-durable-sibling-named": _NOT_BEFORE,
            "fork-declared": "it has no call that declares a fork: a run just goes on from a checkpoint",
        }

    def environment(self) -> dict[str, str]:
        """Nothing is sent anywhere."""
        return {"AGENT_FRAMEWORK_USER_AGENT_DISABLED": "true", "OTEL_SDK_DISABLED": "true"}

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.agent_framework.run import Session, act

        layout = Layout(job.program, job.threads, job.joined)
        session = Session(job, layout, log, Work(job, log, sink, probe), probe, Branches(Path(job.folder)))
        asyncio.run(act(session, str(_checkpoints(Path(job.folder)))))

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read every branch; see :meth:`System.read_store`."""
        return self.read_threads(folder, [thread], "", program)

    def read_threads(
        self, folder: Path, threads: Sequence[str], joined: str, program: list[ProgramUnit]
    ) -> list[BranchRead]:
        """Read every branch of every instance; see :meth:`System.read_threads`."""
        from trace_check.recording.systems.agent_framework.run import open_storage
        from trace_check.recording.systems.agent_framework.store import read_branches

        kept = _checkpoints(folder)
        layout = Layout(program, threads, joined)
        return read_branches(open_storage(str(kept)), kept, layout, Branches(folder), threads[0])

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the newest checkpoint's file; see :meth:`System.tear`."""
        cut_newest_file(_checkpoints(folder).glob("*.json"))


def _checkpoints(folder: Path) -> Path:
    return folder / "checkpoints"
