"""The reference itself: its actions as transactions on a SQLite file, run by real processes that are really killed.

It is the one system that must conform.  After each stage, what its processes did is replayed through the mirror and
the mirror's state compared with the file (:mod:`trace_check.recording.systems.reference.replay`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from trace_check.events import CheckpointRead, ProgramStep, ProgramUnit, Value
from trace_check.recording import points
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import (
    Answering,
    Continue,
    Forking,
    Run,
    Scenario,
    Stage,
    Start,
)
from trace_check.recording.sink import Sink, fired_effects
from trace_check.recording.system import BranchRead, Job, System
from trace_check.recording.systems.reference.replay import replay
from trace_check.recording.systems.reference.run import Runner, checkpoint_id
from trace_check.recording.systems.reference.store import Store, program_of

__all__ = ["ReferenceSystem"]


def _tour() -> Scenario:
    """Crashes, races, a take-over, a refused commit and a declared fork, in one recording."""
    program = [
        ProgramUnit(name="prepare", steps=[ProgramStep(step="e1", kind="effect")]),
        ProgramUnit(
            name="approve",
            steps=[ProgramStep(step="g", kind="gate"), ProgramStep(step="e2", kind="effect", after=["g"])],
        ),
        ProgramUnit(
            name="publish",
            steps=[ProgramStep(step="c", kind="pure"), ProgramStep(step="e3", kind="effect", after=["c"])],
        ),
    ]
    yes = Answering(gate="g", value="yes", delivery="d1")
    late = Answering(gate="g", value="no", delivery="d2")
    past = points.passed("g")
    return Scenario(
        name="races-crashes-and-a-fork",
        about="a crash after an effect, a race at the gate, a take-over, a refused commit, a declared fork",
        program=program,
        sink="keyed",
        stages=[
            Stage(runs=[Run(actor="p1", action=Start(), kill_at=points.fired("e1"))]),
            Stage(runs=[Run(actor="p2", action=Continue())]),
            # one of them claims and is killed behind the gate, the other is refused
            Stage(
                runs=[Run(actor="p3", action=yes, kill_at=past), Run(actor="p4", action=yes, kill_at=past)],
                meet_at=[points.STARTED, points.LOADED],
            ),
            # both wait for the dead one's lease; the first to take over is overtaken when its own lease ends
            Stage(
                runs=[Run(actor="p5", action=Continue()), Run(actor="p6", action=Continue())],
                meet_at=[points.STARTED, points.committing("approve")],
            ),
            Stage(runs=[Run(actor="p7", action=Forking(child="again", units=2))]),
            Stage(runs=[Run(actor="p8", action=late)]),
        ],
    )


class ReferenceSystem(System):
    """The reference over SQLite, with a keyed sink."""

    name = "reference"
    stores = ("sqlite",)
    store_notes: ClassVar[Mapping[str, str]] = {
        "sqlite": "This project's own store, which claims, records and commits by conditional writes in"
        " SQLite.",
    }
    key = "branch and step"
    modules = ("trace_check.recording.systems.reference.run",)
    reads_here = True
    observes = (
        "loaded",
        "computed",
        "effect_fired",
        "recorded",
        "memo_used",
        "parked",
        "answer",
        "gate_passed",
        "refused",
        "committed",
        "crashed",
        "forked",
    )

    def version(self) -> str:
        """The version of the semantics."""
        return "1"

    def not_applicable(self) -> Mapping[str, str]:
        """What the reference has no way to do, by its own definition."""
        return {
            "two-interrupts-in-one-node": "a unit of the reference has one gate",
            "parallel-interrupts": "a unit of the reference has one gate",
            "kill-beside-durable-sibling-named": "a process of the reference goes on from the newest checkpoint only",
            "recovery-at-named-checkpoint": "a process of the reference goes on from the newest checkpoint only",
            "fork-undeclared": "every fork of the reference is declared",
            "torn-store": "the reference takes its store to keep what it has acknowledged",
        }

    def scenarios(self) -> Mapping[str, Scenario]:
        """Those of every system, with the keyed sink that the reference needs, and one of its own."""
        own = [
            msgspec.structs.replace(scenario, sink="keyed") for scenario in super().scenarios().values()
        ] + [_tour()]
        return {scenario.name: scenario for scenario in own}

    def run(self, job: Job, log: EventLog, sink: Sink, probe: Probe) -> None:
        """Take the job's action; see :meth:`System.run`."""
        names = [unit.name for unit in job.program]
        store = Store(Path(job.folder), job.actor)
        Runner(job, program_of(job.program), names, store, log, sink, probe).act()

    def read_store(self, folder: Path, thread: str, program: list[ProgramUnit]) -> list[BranchRead]:
        """Read every branch, after comparing the store with the mirror; see :meth:`System.read_store`."""
        names = [unit.name for unit in program]
        gates = [step.step for unit in program for step in unit.steps if step.kind == "gate"]
        reads: list[BranchRead] = []
        with Store(folder, "harness").transaction() as t:
            replay(t, program_of(program), fired_effects(folder))
            for branch, *_ in t.branches():
                checkpoints = []
                before = None
                for kept in t.checkpoints(branch):
                    name = checkpoint_id(branch, kept)
                    checkpoints.append(
                        CheckpointRead(
                            id=name,
                            parent=before,
                            unit=names[kept.unit - 1],
                            outcomes=dict(kept.outcomes),
                            digest=name,
                            valid=True,
                            complete=True,
                            next=names[kept.unit : kept.unit + 1],
                        )
                    )
                    before = name
                answers: dict[str, list[Value]] = {
                    gate: [found[1]] for gate in gates if (found := t.answer(branch, gate))
                }
                waiting = [gate for gate in gates if t.gate(branch, gate).status == "parked"]
                reads.append(
                    BranchRead(
                        branch=branch,
                        checkpoints=checkpoints,
                        answers=answers,
                        open_interrupts=waiting,
                        token=before,
                    )
                )
        return reads
