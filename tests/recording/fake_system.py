"""A tiny system of one JSON file, to test the harness with: no framework, and every way to misbehave."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from trace_check.errors import RecordingError
from trace_check.events import ROOT_BRANCH, CheckpointRead, ProgramStep, ProgramUnit
from trace_check.recording import points
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering, Scenario, Stage
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System

NAME = "fake_system:FakeSystem"

PROGRAM = [
    ProgramUnit(name="u1", steps=[ProgramStep(step="e1", kind="effect")]),
    ProgramUnit(name="u2", steps=[ProgramStep(step="g", kind="gate")]),
]


def scenario(*stages: Stage, **fields: Any) -> Scenario:
    """A scenario over the fake's program."""
    return Scenario(**({"name": "fake", "about": "-", "program": PROGRAM, "stages": list(stages)} | fields))


class FakeSystem(System):
    """One effect, then a gate. An answer's value says how to misbehave."""

    name = "fake"
    stores = ("json",)
    observes = ("effect_fired", "parked", "answer")

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        if isinstance(job.action, Answering):
            self._answer(job, log, probe)
            return
        store = Path(job.folder) / "store.json"
        sink.fire("e1", "k", None)
        probe.reach(points.fired("e1"))
        operation = log.begin("parked", gate="g")
        store.write_text("{}")
        operation.end()

    def _answer(self, job: Job, log: EventLog, probe: Probe) -> None:
        assert isinstance(job.action, Answering)
        answer = job.action
        operation = log.begin("answer", gate=answer.gate, delivery=answer.delivery, value=answer.value)
        match answer.value:
            case "hang":
                time.sleep(60)
            case "raise":
                raise LookupError("no such interrupt")
            case "fail":
                raise RecordingError("the fake lost its pen", "give it another")
            case "exit":
                os._exit(5)
            case "die silently":
                # As a process does that dies between the effect and its line in the log.
                effects = Path(job.folder) / "effects.jsonl"
                line = json.loads(effects.read_text().splitlines()[0])
                with effects.open("a") as file:
                    file.write(json.dumps(line | {"id": "x", "actor": job.actor}) + "\n")
                os.abort()
            case "tear":
                with open(job.log, "a") as file:
                    file.write('{"event":"answ')
                os.abort()
            case "unknown gate":
                log.emit("gate_passed", gate="nowhere", value=1)
        probe.reach(points.passed("g"))
        log.emit("gate_passed", gate="g", value=job.token)
        operation.end(accepted=True)

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        if not (folder / "store.json").exists():
            return [BranchRead(branch=ROOT_BRANCH)]
        checkpoint = CheckpointRead(
            id="c1", parent=None, unit="u1", outcomes={}, digest="d", valid=True, complete=True, next=["u2"]
        )
        read = BranchRead(branch=ROOT_BRANCH, checkpoints=[checkpoint], open_interrupts=["g"], token="c1")
        return [read]
