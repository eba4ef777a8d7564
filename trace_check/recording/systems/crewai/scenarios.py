"""The scenarios that only CrewAI's checkpoints have."""

from __future__ import annotations

from collections.abc import Mapping

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording import points
from trace_check.recording.scenarios import Continue, Run, Scenario, Stage, Start
from trace_check.recording.systems.langgraph.scenarios import in_flight

__all__ = ["of_checkpoints"]


def of_checkpoints() -> Mapping[str, Scenario]:
    """A checkpoint that is not written yet when SIGKILL comes, and a restore from what a restored flow wrote; by name."""
    unwritten = in_flight("async")["kill-with-checkpoint-in-flight"]
    runs = [
        Run(actor="p1", action=Start(), kill_at=points.committed("first")),
        Run(actor="p2", action=Continue(), kill_at=points.committed("second")),
        Run(actor="p3", action=Continue()),
    ]
    again = Scenario(
        name="recovery-after-recovery",
        about="SIGKILL after a unit's checkpoint; the process that goes on gets it after the next one's; a third goes on",
        program=[
            ProgramUnit(name=name, steps=[ProgramStep(step=step, kind="effect")])
            for name, step in (("first", "e1"), ("second", "e2"), ("third", "e3"))
        ],
        stages=[Stage(runs=[run]) for run in runs],
    )
    return {scenario.name: scenario for scenario in (unwritten, again)}
