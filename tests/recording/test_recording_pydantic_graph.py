"""The pydantic-graph recorder: what it makes of real processes in an environment of its own, and of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from told import told

from trace_check import check_file
from trace_check.checker import Verdict
from trace_check.events import StoreRead
from trace_check.reader import Trace, read_trace
from trace_check.recording import SCENARIOS, record
from trace_check.recording.systems.pydantic_graph.store import read_branch, sealed_unit
from trace_check.recording.systems.pydantic_graph.system import PydanticGraphSystem

STARTED = [
    "loaded 0",
    "effect_fired e1",
    "committed ( prepare",
    "parked ( g",
    "committed ) prepare",
    "parked ) g",
]
RESUMED = [
    "answer ( g yes",
    "loaded (",
    "gate_passed ( g",
    "loaded ) 1",
    "answer ) g yes accepted=True",
    "gate_passed ) g yes",
    "effect_fired e2",
    "committed ( approve",
    "committed ) approve",
    "completed",
]


def turned_away(error: str, value: str = "yes") -> list[str]:
    """What a process shows whose answer came to a load that raised."""
    return [
        f"answer ( g {value}",
        "loaded (",
        "gate_passed ( g",
        f"refused ) load {error}",
        f"answer ) g {value} accepted=False",
        f"resume_failed {error}",
        "crashed 1",
    ]


def recorded(scenario: str, folder: Path, store: str | None = None) -> tuple[Trace, Verdict]:
    path = record("pydantic-graph", scenario, folder, store=store)
    return read_trace(path), check_file(path)


def broken(verdict: Verdict) -> dict[str, bool]:
    """Each clause that breaks, and whether it certainly does."""
    return {clause.clause: clause.certain for clause in verdict.clauses}


def held(trace: Trace) -> list[tuple[list[str | None], list[str]]]:
    """What each reading of the store shows: the sealed units and the open gates."""
    reads = [event for event in trace.events if isinstance(event, StoreRead)]
    return [([c.unit for c in read.checkpoints], read.open_interrupts) for read in reads]


def test_a_second_answer_is_refused(tmp_path: Path) -> None:
    trace, verdict = recorded("second-answer-after-completion", tmp_path)
    assert told(trace, "p1") == STARTED
    assert told(trace, "p2") == RESUMED
    assert told(trace, "p3") == turned_away("GraphRuntimeError", "no")
    assert held(trace) == [(["prepare"], ["g"])] + 2 * [(["prepare", "approve"], [])]
    assert verdict.verdict == "conforms"


def test_of_two_racers_one_finds_the_gate_taken(tmp_path: Path) -> None:
    trace, verdict = recorded("race-two-resumers", tmp_path)
    refused = [
        "answer ( g yes",
        "loaded (",
        "gate_passed ( g",
        "loaded ) 1",
        "refused ) gate g GraphRuntimeError",
        "answer ) g yes accepted=False",
        "resume_failed GraphRuntimeError",
        "crashed 1",
    ]
    # Seldom both load the node, and the second one fails when the framework marks it as running.
    late = [*RESUMED[:5], "resume_failed GraphNodeStatusError", "crashed 1"]
    shown = [told(trace, "p2"), told(trace, "p3")]
    assert RESUMED in shown
    shown.remove(RESUMED)
    assert shown in ([refused], [late])
    if shown == [refused]:
        assert verdict.verdict == "conforms"
        assert "CO-C" in verdict.exercised


def test_a_killed_node_leaves_a_run_that_nobody_can_resume(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-after-effect", tmp_path)
    assert told(trace, "p1") == ["loaded 0", "effect_fired e1", "crashed SIGKILL"]
    assert told(trace, "p2") == [
        "loaded (",
        "refused ) load GraphRuntimeError",
        "resume_failed GraphRuntimeError",
        "crashed 1",
    ]
    assert told(trace, "p3") == turned_away("GraphRuntimeError")
    assert held(trace) == 3 * [([], [])]
    assert broken(verdict) == {"LV": True}
    assert verdict.explanations == (("stuck_running",),)


def test_starting_over_fires_the_effect_again(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-after-effect", tmp_path, "file-load-or-start")
    assert told(trace, "p1") == ["loaded (", "loaded ) 0", "effect_fired e1", "crashed SIGKILL"]
    assert told(trace, "p2") == ["loaded (", "loaded ) 0", *STARTED[1:]]
    assert told(trace, "p3")[:-1] == [
        *RESUMED[:-1],
        "effect_fired e3",
        "committed ( publish",
        "committed ) publish",
    ]
    assert broken(verdict) == {"EO": True}
    assert ("unkeyed_effect",) in verdict.explanations


def test_a_number_for_a_text_is_stored_and_then_never_loads(tmp_path: Path) -> None:
    trace, verdict = recorded("invalid-wrong-type", tmp_path)
    assert told(trace, "p1") == [
        "loaded 0",
        "computed c valid=False",
        "committed ( draft valid=False",
        "parked ( g",
        "committed ) draft valid=False",
        "parked ) g",
    ]
    assert told(trace, "p3") == turned_away("ValidationError")
    assert held(trace) == 3 * [(["draft"], ["g"])]
    assert broken(verdict) == {"CV": True}
    assert verdict.explanations == (("invalid_persisted",),)


def test_what_does_not_apply_is_a_scenario_with_a_reason() -> None:
    system = PydanticGraphSystem()
    assert set(system.scenarios()) | set(system.not_applicable()) == set(SCENARIOS)
    assert all("\n" not in reason and len(reason) > 20 for reason in system.not_applicable().values())


@pytest.mark.parametrize(
    ("node_class", "unit", "sealed"),
    [
        ("RunUnit", "prepare", None),
        ("AwaitAnswer", "approve", "prepare"),
        ("RunUnit", "approve", None),
        ("RunUnit", "publish", "approve"),
        ("End", None, "publish"),
    ],
)
def test_a_snapshot_seals_the_unit_before_its_node(
    node_class: str, unit: str | None, sealed: str | None
) -> None:
    found = sealed_unit(SCENARIOS["kill-after-effect"].program, node_class, unit)
    assert (found.name if found else None) == sealed


def snapshot(
    name: str, unit: str, outcomes: dict[str, Any], status: str, answer: str | None = None
) -> dict[str, Any]:
    node = {"unit": unit} | ({"answer": answer} if name.startswith("RunUnit") else {})
    return {"id": name, "state": {"outcomes": outcomes}, "node": node, "status": status, "kind": "node"}


def test_reading_a_file_that_was_run_twice(tmp_path: Path) -> None:
    file = tmp_path / "t1.json"
    first = {"e1": "e1:x"}
    entries = [
        snapshot("RunUnit:1", "prepare", {}, "success"),
        snapshot("AwaitAnswer:2", "approve", first, "pending"),
        snapshot("RunUnit:3", "approve", first, "running", "yes"),
        snapshot("RunUnit:4", "prepare", {}, "success"),
        snapshot("AwaitAnswer:5", "approve", {"e1": 7}, "created"),
    ]
    file.write_text(json.dumps(entries))
    read = read_branch(file, SCENARIOS["park-and-resume"].program)
    assert [(c.id, c.parent, c.unit, c.outcomes, c.valid) for c in read.checkpoints] == [
        ("AwaitAnswer:2", None, "prepare", first, True),
        ("AwaitAnswer:5", "AwaitAnswer:2", "prepare", {"e1": 7}, False),
    ]
    assert (read.answers, read.open_interrupts, read.token) == ({"g": ["yes"]}, ["g"], "AwaitAnswer:5")


def test_a_file_cut_short_is_one_checkpoint_that_is_not_complete(tmp_path: Path) -> None:
    file = tmp_path / "t1.json"
    file.write_text(json.dumps([snapshot("RunUnit:1", "prepare", {}, "created")]))
    PydanticGraphSystem().tear(tmp_path, "t1")
    read = read_branch(file, SCENARIOS["park-and-resume"].program)
    assert [(c.unit, c.complete, c.valid) for c in read.checkpoints] == [(None, False, False)]
    assert read_branch(tmp_path / "none.json", []).checkpoints == []
