"""The scenarios that only LangGraph has, and those that one of its durabilities or stores can't show."""

from __future__ import annotations

from collections.abc import Mapping

from trace_check.recording import points
from trace_check.recording.catalogue import SCENARIOS
from trace_check.recording.scenarios import Answering, Continue, Run, Scenario, Stage, Start
from trace_check.recording.systems.langgraph.session import INPUT_STORED

__all__ = ["excluded", "in_flight"]


def excluded(durability: str, *, is_served: bool) -> Mapping[str, str]:
    """Scenarios -> why they can't be recorded."""
    without: dict[str, str] = {}
    if durability == "exit":
        never = (
            "durability exit stores nothing while a run goes on, so no step is recorded ahead of a checkpoint"
        )
        without |= {
            "kill-after-record": never,
            "kill-beside-durable-sibling": never,
            "kill-beside-durable-sibling-named": never,
        }
    if is_served:
        without["torn-store"] = "the database server's own log is out of the framework's and its user's reach"
    return without


def in_flight(durability: str) -> Mapping[str, Scenario]:
    """SIGKILL while the framework has a write in hand that it does not wait for; by name."""
    yes, no = (
        Answering(gate="g", value=value, delivery=delivery)
        for value, delivery in (("yes", "d1"), ("no", "d2"))
    )
    first = Stage(runs=[Run(actor="p1", action=Start())])
    found: list[Scenario] = []
    if durability != "exit":
        killed = Run(
            actor="p2",
            action=yes,
            kill_at=points.fired("e2"),
            hold={points.answering("g"): points.fired("e2")},
        )
        found.append(
            Scenario(
                name="kill-with-answer-in-flight",
                about="SIGKILL after the gated effect while the answer is not stored yet; another answer comes",
                program=SCENARIOS["kill-after-gated-effect"].program,
                stages=[first, Stage(runs=[killed]), Stage(runs=[Run(actor="p3", action=no)])],
            )
        )
    if durability == "async":
        killed = Run(
            actor="p1",
            action=Start(),
            kill_at=points.recorded("e1"),
            hold={INPUT_STORED: points.recorded("e1")},
        )
        recovered = SCENARIOS["kill-after-record"]
        found.append(
            Scenario(
                name="kill-with-input-in-flight",
                about="SIGKILL after an effect is recorded while the checkpoint that it belongs to is not stored yet",
                program=recovered.program,
                stages=[Stage(runs=[killed]), *recovered.stages[1:]],
            )
        )
        killed = Run(
            actor="p2",
            action=yes,
            kill_at=points.fired("e3"),
            hold={points.committing("approve"): points.fired("e3")},
        )
        found.append(
            Scenario(
                name="kill-with-checkpoint-in-flight",
                about="SIGKILL after the last unit's effect while the checkpoint before is not stored yet",
                program=SCENARIOS["recovery-at-named-checkpoint"].program,
                stages=[first, Stage(runs=[killed]), Stage(runs=[Run(actor="p3", action=Continue())])],
            )
        )
    return {scenario.name: scenario for scenario in found}
