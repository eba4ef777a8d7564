"""OpenAI Agents SDK with a scripted model; the application keeps the RunState as JSON.

A unit is a turn: the model asks for one tool call, or for one for each part of the unit that has no order with the
others, and the tools' code does the steps. A gate is a tool call that needs approval, with the steps behind it in
the tool. An approval is yes or no; the answer's value rides along in the run's context, which the RunState
holds as well, and every answer approves.

The SDK stores nothing. The application does what its documentation shows: it writes `RunState.to_json()` to a file when
a run comes back, and goes on with `RunState.from_json()`. To have every turn durable it stops each streamed run behind
its turn (`cancel(mode="after_turn")`). It keeps all snapshots, and goes on from the newest. So `committed` and
`parked` are around the write of a snapshot, `loaded` around its reading, and `answer` around `RunState.approve`,
which is in memory only until the next snapshot.
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
from trace_check.recording.systems.openai_agents.snapshots import Snapshots, read_branches
from trace_check.recording.tearing import cut_newest_file
from trace_check.recording.work import Work

__all__ = ["OpenAIAgentsSystem"]

_NOT_BEFORE = "no outcome is durable before the snapshot after its turn, which seals the unit"


class OpenAIAgentsSystem(System):
    """An agent whose tools are the program, and an application that keeps its RunState."""

    name = "openai-agents"
    stores = ("json",)
    store_notes: ClassVar[Mapping[str, str]] = {
        "json": "`RunState.to_json()`, which the application writes to a file of its own after each turn;"
        " the newest is the state.",
    }
    extra = "openai-agents"
    distribution = "openai-agents"
    key = "tool call id and step; a call that the model makes again has another id"
    modules = ("trace_check.recording.systems.openai_agents.run",)
    kept_by = "application"
    reads_here = True
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
            "two-interrupts-in-one-node": "a tool call is approved once, before its code runs, and cannot ask again",
            "kill-after-record": _NOT_BEFORE,
            "kill-beside-durable-sibling": _NOT_BEFORE,
            "kill-beside-durable-sibling-named": _NOT_BEFORE,
            "fork-declared": "no call declares a fork: an application just goes on from an older RunState",
        }

    def environment(self) -> dict[str, str]:
        """Nothing is sent anywhere."""
        return {"OPENAI_AGENTS_DISABLE_TRACING": "1", "OPENAI_API_KEY": "none"}

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        from trace_check.recording.systems.openai_agents.run import Application

        folder = Path(job.folder)
        layout = Layout(job.program, job.threads, job.joined)
        work = Work(job, log, sink, probe)
        application = Application(job, layout, log, work, probe, Branches(folder), Snapshots(folder))
        asyncio.run(application.act())

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read every branch; see :meth:`System.read_store`."""
        return self.read_threads(folder, [thread], "", program)

    def read_threads(
        self, folder: Path, threads: Sequence[str], joined: str, program: list[ProgramUnit]
    ) -> list[BranchRead]:
        """Read every branch of every instance; see :meth:`System.read_threads`."""
        return read_branches(Snapshots(folder), Layout(program, threads, joined), Branches(folder))

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the newest snapshot's file; see :meth:`System.tear`."""
        cut_newest_file(Snapshots(folder).files())
