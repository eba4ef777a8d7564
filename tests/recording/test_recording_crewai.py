"""The CrewAI recorder's mapping: the methods of a program, and what its tables hold. CrewAI itself is not needed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from trace_check.recording import SCENARIOS
from trace_check.recording.systems.crewai.plan import CrewAIPlan
from trace_check.recording.systems.crewai.store import database, read_branch
from trace_check.recording.systems.crewai.system import CrewAISystem

LONGER = SCENARIOS["kill-after-effect"].program
PARALLEL = SCENARIOS["kill-beside-durable-sibling"].program


def store(folder: Path, rows: list[tuple[str, dict[str, Any]]], pending: list[str]) -> None:
    """Tables with these rows, in the framework's own columns."""
    with closing(sqlite3.connect(database(folder))) as connection, connection:
        connection.execute(
            "CREATE TABLE flow_states (id INTEGER PRIMARY KEY, flow_uuid, method_name, state_json)"
        )
        connection.execute("CREATE TABLE pending_feedback (flow_uuid, context_json)")
        for method, outcomes in rows:
            state = json.dumps({"id": "t1", "outcomes": outcomes})
            connection.execute(
                "INSERT INTO flow_states (flow_uuid, method_name, state_json) VALUES (?, ?, ?)",
                ("t1", method, state),
            )
        for method in pending:
            connection.execute(
                "INSERT INTO pending_feedback VALUES (?, ?)", ("t1", json.dumps({"method_name": method}))
            )


def test_the_methods_of_a_program() -> None:
    plan = CrewAIPlan(PARALLEL)
    assert plan.layers == [["prepare"], ["both_a", "both_b"], ["ask_approve"], ["approve"]]
    assert plan.waiting == {"ask_approve": "g"}
    assert plan.parts("both") == {"both_a", "both_b"}
    assert [plan.next_unit(unit) for unit in plan.program] == [["both"], ["approve"], []]


def test_each_run_from_the_first_method_on_seals_the_unit_again(tmp_path: Path) -> None:
    first = {"e1": "e1:x"}
    store(tmp_path, [("prepare", first), ("ask_approve", first), ("prepare", first)], ["ask_approve"])
    read = read_branch(tmp_path, "t1", CrewAIPlan(LONGER))
    assert [(c.unit, c.outcomes, c.valid, c.next) for c in read.checkpoints] == 2 * [
        ("prepare", first, True, ["approve"])
    ]
    assert read.checkpoints[1].parent == read.checkpoints[0].id
    assert (read.open_interrupts, read.answers) == (["g"], {})


def test_a_unit_of_several_methods_is_sealed_by_the_last_of_their_rows(tmp_path: Path) -> None:
    both = {"e1": "e1:x", "a": "a:x", "b": 7}
    store(tmp_path, [("prepare", {"e1": "e1:x"}), ("both_b", both), ("both_b", both), ("both_a", both)], [])
    read = read_branch(tmp_path, "t1", CrewAIPlan(PARALLEL))
    assert [(c.unit, c.valid) for c in read.checkpoints] == [("prepare", True), ("both", False)]
    assert read.checkpoints[1].outcomes == {"a": "a:x", "b": 7}
    assert read.token == read.checkpoints[1].id


def test_an_answer_is_held_only_behind_its_gate(tmp_path: Path) -> None:
    done = {"e1": "e1:x", "g": "yes", "e2": "e2:x"}
    store(tmp_path, [("prepare", {"e1": "e1:x"}), ("ask_approve", {"e1": "e1:x"}), ("approve", done)], [])
    read = read_branch(tmp_path, "t1", CrewAIPlan(LONGER))
    assert (read.open_interrupts, read.answers) == ([], {"g": ["yes"]})
    assert read_branch(tmp_path / "none", "t1", CrewAIPlan(LONGER)).checkpoints == []


def test_what_does_not_apply_is_a_scenario_with_a_reason() -> None:
    system = CrewAISystem()
    assert set(system.scenarios()) | set(system.not_applicable()) == set(SCENARIOS)
    assert all("\n" not in reason and len(reason) > 20 for reason in system.not_applicable().values())
