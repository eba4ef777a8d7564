"""CrewAI flows with `@human_feedback`, kept by `@persist` on SQLite or by automatic checkpoints in JSON files.

A unit is one method (one for each part that has no order with the others), after which the state is stored: that
seals it. A unit with a gate is two methods: one that asks, whose provider pauses the flow, and one that listens to it and
has the answer; the second seals it. `recorded` is shown only where a unit has several methods.

With `@persist`, `kickoff(inputs={"id": …})` loads the newest state and then runs every method from the first on: that is
a load at index 0, which is inferred, as the call itself reads the newest row. With checkpoints, the methods that the
restored flow takes for finished are not run: the index is that of the units behind which it goes on.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from trace_check.events import ProgramUnit
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Scenario
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.crewai.json_store import checkpoints_folder, read_branches
from trace_check.recording.systems.crewai.plan import CrewAIPlan
from trace_check.recording.systems.crewai.scenarios import of_checkpoints
from trace_check.recording.systems.crewai.store import read_branch
from trace_check.recording.tearing import cut_newest_file
from trace_check.recording.work import Work

__all__ = ["CrewAISystem"]

_NO_PLACE = "a flow is resumed by its id, and no call names an older row"
_ONE_PENDING = "a flow has one pending feedback at most, and a method asks only when it has ended"


class CrewAISystem(System):
    """CrewAI's `Flow`; see the module."""

    name = "crewai"
    stores = ("sqlite", "json")
    store_notes: ClassVar[Mapping[str, str]] = {
        "sqlite": "`@persist` with `SQLiteFlowPersistence`: the flow's state after each method; `kickoff`"
        " with the flow's id goes on.",
        "json": "`CheckpointConfig` with the JSON provider: state and finished methods in a file after"
        " each method; `from_checkpoint` of the newest goes on.",
    }
    extra = "crewai"
    distribution = "crewai"
    key = "flow id, method and step"
    modules = ("trace_check.recording.systems.crewai.json_run",)
    reads_here = True
    ends_at_once = True
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

    def environment(self) -> dict[str, str]:
        """Nothing is sent anywhere, and nobody is asked anything."""
        return {
            "CREWAI_DISABLE_TELEMETRY": "true",
            "OTEL_SDK_DISABLED": "true",
            "CREWAI_DISABLE_VERSION_CHECK": "true",
            "CREWAI_TRACING_ENABLED": "false",
        }

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        # The framework keeps a file on its user and one for each lock: in the recording's folder, not in the user's.
        os.environ["HOME"] = tempfile.tempdir = job.folder
        plan, work = CrewAIPlan(job.program), Work(job, log, sink, probe)
        if self.store == "json":
            from trace_check.recording.systems.crewai import json_run

            session = json_run.CheckpointingSession(job, plan, log, work, probe)
            json_run.act(job, session)
        else:
            from trace_check.recording.systems.crewai import run

            run.act(job, run.Session(job, plan, log, work, probe))

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read the persistence's tables or the checkpoints' files; see :meth:`System.read_store`."""
        if self.store == "json":
            return read_branches(folder, CrewAIPlan(program))
        return [read_branch(folder, thread, CrewAIPlan(program))]

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the newest checkpoint's file; see :meth:`System.tear`."""
        if self.store != "json":
            super().tear(folder, thread)
        cut_newest_file(checkpoints_folder(folder).glob("**/*.json"))

    def not_applicable(self) -> Mapping[str, str]:
        """See :meth:`System.not_applicable`."""
        always = {
            "second-answer-at-old-checkpoint": "feedback goes to what is pending, and no call names an older place",
            "two-interrupts-in-one-node": _ONE_PENDING,
            "parallel-interrupts": _ONE_PENDING,
            "kill-after-record": "a method that runs alone is durable with what seals its unit, and nothing of it before",
        }
        if self.store == "json":
            return always
        return always | {
            "recovery-at-named-checkpoint": _NO_PLACE,
            "kill-beside-durable-sibling-named": _NO_PLACE,
            "fork-undeclared": _NO_PLACE,
            "fork-declared": "`restore_from_state_id` copies the newest state, and no earlier one",
            "torn-store": "a row is in SQLite's log with a checksum or not at all; nothing of it can be half there",
        }

    def scenarios(self) -> Mapping[str, Scenario]:
        """The usual ones, and those of checkpoints; see :meth:`System.scenarios`."""
        return {**super().scenarios(), **(of_checkpoints() if self.store == "json" else {})}
