"""Records the journal engine: `resume-contract trace record journal_recorder:JournalSystem park-and-resume`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from journal_engine import Engine, Journal, Outcomes, Unit

from trace_check.errors import RecordingError
from trace_check.events import CheckpointRead, ProgramUnit
from trace_check.recording import points
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering, Forking
from trace_check.recording.sink import Sink
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.tearing import cut_newest_file
from trace_check.recording.work import Work, is_valid, told


class RecordingJournal(Journal):
    """The engine's journal, with an event before and after each durable call."""

    def __init__(self, folder: Path, program: list[ProgramUnit], log: EventLog, probe: Probe) -> None:
        super().__init__(folder / "journal.jsonl")
        self.program, self.log, self.probe = program, log, probe
        self.answer_open: Any = None

    def entries(self) -> list[dict[str, Any]]:
        """The engine reads its journal: that is the load, unless it is for an answer."""
        if self.answer_open is not None:
            return super().entries()
        operation = self.log.begin("loaded")
        found = super().entries()
        sealed = [entry["unit"] for entry in found if entry["what"] == "done"]
        operation.end(checkpoint=sealed[-1] if sealed else None, index=len(sealed))
        self.probe.reach(points.LOADED)
        return found

    def append(self, entry: dict[str, Any]) -> None:
        """The engine appends an entry; what it means is in `what`."""
        match entry["what"]:
            case "asked":
                gate = entry["question"]
                before, kind, fields, after = (
                    points.parking(gate),
                    "parked",
                    {"gate": gate},
                    points.parked(gate),
                )
            case "done":
                name = entry["unit"]
                before, kind, fields, after = points.committing(name), "committed", {}, points.committed(name)
                fields = seal(self.program, entry["unit"], entry["outcomes"])
            case _:  # an answer: its bracket is around the call that brought it
                super().append(entry)
                return
        self.probe.reach(before)
        operation = self.log.begin(kind, **fields)
        super().append(entry)
        operation.end()
        self.probe.reach(after)


def seal(program: list[ProgramUnit], name: str, outcomes: Outcomes) -> dict[str, Any]:
    """What a unit's entry says, as fields of an event. The unit's name is its checkpoint's, too."""
    names = [unit.name for unit in program]
    place = names.index(name)
    steps = program[place].steps
    return {
        "unit": name,
        "checkpoint": name,
        "parent": names[place - 1] if place else None,
        "steps": [step.step for step in steps],
        "outcomes": {step: told(outcome) for step, outcome in outcomes.items()},
        "valid": all(step.kind == "gate" or is_valid(outcomes[step.step]) for step in steps),
        "next": names[place + 1 : place + 2],
    }


class JournalSystem(System):
    """The journal engine. A unit of the program is a unit of the engine, and its gate is the unit's question."""

    name = "journal"
    stores = ("file",)
    store_notes: ClassVar[Mapping[str, str]] = {
        "file": "The engine's journal, a line of JSON for each sealed unit.",
    }
    key = "unit and step"
    reads_here = True
    # Not `recorded`: an outcome is durable only with its unit's entry.
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "parked",
        "answer",
        "gate_passed",
        "committed",
        "crashed",
    )

    def not_applicable(self) -> Mapping[str, str]:
        """What the engine has no way to do."""
        one = "a unit runs its steps one after another and has one question, before all of them"
        early = "no outcome is durable before its unit's entry"
        place = "it goes on from the end of its journal only"
        return {
            "two-interrupts-in-one-node": one,
            "parallel-interrupts": one,
            "kill-after-record": early,
            "kill-beside-durable-sibling": early,
            "kill-beside-durable-sibling-named": early,
            "recovery-at-named-checkpoint": place,
            "second-answer-at-old-checkpoint": place,
            "fork-undeclared": place,
            "fork-declared": place,
        }

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take one action, in a process that was started for it."""
        if isinstance(job.action, Forking):
            raise RecordingError("the journal engine has no forks", "leave the fork out of the scenario")
        work = Work(job, log, sink, probe)
        journal = RecordingJournal(Path(job.folder), job.program, log, probe)
        engine = Engine([self.unit(unit, work) for unit in job.program], journal)
        if isinstance(job.action, Answering):
            action = job.action
            journal.answer_open = log.begin(
                "answer", gate=action.gate, delivery=action.delivery, value=action.value
            )
            try:
                engine.answer(action.gate, action.value)
            except LookupError:
                journal.answer_open.end(accepted=False)
            else:
                journal.answer_open.end(accepted=True)
            journal.answer_open = None
        outcomes = engine.run()
        if outcomes is not None:
            log.emit("completed", outcome=told(outcomes[job.program[-1].steps[-1].step]))

    def unit(self, unit: ProgramUnit, work: Work) -> Unit:
        """The code of a unit: what `Work` does for each of its steps."""

        def code(content: Outcomes, answer: Any) -> Outcomes:
            own: Outcomes = {}
            for step in unit.steps:
                before = content | {name: own[name] for name in step.after}
                if step.kind == "gate":
                    own[step.step] = work.passed(step.step, answer)
                elif step.kind == "effect":
                    own[step.step] = work.fire(step.step, f"{unit.name}:{step.step}", before)
                else:
                    own[step.step] = work.compute(step.step, before)
            return own

        return Unit(unit.name, code, next((step.step for step in unit.steps if step.kind == "gate"), None))

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """What the journal holds while nobody writes to it."""
        path = folder / "journal.jsonl"
        checkpoints: list[CheckpointRead] = []
        answers: dict[str, list[Any]] = {}
        asked: list[str] = []
        for line in path.read_bytes().splitlines() if path.exists() else []:
            digest = hashlib.sha256(line).hexdigest()[:16]
            try:
                entry = json.loads(line)
            except ValueError:
                parent = checkpoints[-1].id if checkpoints else None
                fields = {
                    "id": digest,
                    "parent": parent,
                    "unit": None,
                    "outcomes": {},
                    "valid": False,
                    "next": [],
                }
                checkpoints.append(CheckpointRead(complete=False, digest=digest, **fields))
                continue
            if entry["what"] == "done":
                fields = seal(program, entry["unit"], entry["outcomes"])
                fields = {k: v for k, v in fields.items() if k not in ("checkpoint", "steps")}
                checkpoints.append(CheckpointRead(id=entry["unit"], complete=True, digest=digest, **fields))
            elif entry["what"] == "answer":
                answers.setdefault(entry["question"], []).append(entry["value"])
            else:
                asked.append(entry["question"])
        waiting = [gate for gate in asked if gate not in answers]
        return [BranchRead(branch="main", checkpoints=checkpoints, answers=answers, open_interrupts=waiting)]

    def tear(self, folder: Path, thread: str) -> None:
        """Cut the last write short."""
        cut_newest_file([folder / "journal.jsonl"])
