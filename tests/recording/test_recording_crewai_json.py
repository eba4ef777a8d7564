"""What the CrewAI recorder reads out of checkpoints' files. CrewAI itself is not needed."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from trace_check.recording import SCENARIOS
from trace_check.recording.branches import Branches
from trace_check.recording.systems.crewai.json_store import (
    Seals,
    checkpoints_folder,
    line_to,
    parse_snapshot,
    pending_mark,
    read_branches,
    read_snapshots,
)
from trace_check.recording.systems.crewai.plan import CrewAIPlan
from trace_check.recording.systems.crewai.store import database
from trace_check.recording.systems.crewai.system import CrewAISystem

LONGER = SCENARIOS["kill-after-effect"].program
PARALLEL = SCENARIOS["kill-beside-durable-sibling"].program
E1 = {"e1": "e1:x"}
E2 = E1 | {"g": "yes", "e2": "e2:x"}
FEEDBACK = [{"method": "ask_approve", "output": {"output": "go on?", "feedback": "yes"}}]


def content(runs: dict[str, str], outcomes: dict[str, Any], outputs: list[Any] | None = None) -> bytes:
    """A checkpoint with the fields that the framework gives it, as far as they are read."""
    flow = {
        "entity_type": "flow",
        "checkpoint_state": {"id": "t1", "outcomes": outcomes, "runs": runs},
        "checkpoint_method_outputs": outputs,
    }
    # A restored flow leaves an empty one in front of it.
    left_over = {"entity_type": "flow", "checkpoint_state": {"id": "other"}}
    return json.dumps({"entities": [left_over, flow]}).encode()


def write(folder: Path, name: str, parent: str, data: bytes, when: int) -> Path:
    """A checkpoint's file, named and placed as the framework does."""
    path = checkpoints_folder(folder) / "main" / f"{name}_p-{parent}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, ns=(when, when))
    return path


def test_what_a_file_holds(tmp_path: Path) -> None:
    path = write(tmp_path, "b", "a", content({"prepare": "p1"}, E1, FEEDBACK), 1)
    found = parse_snapshot(path.read_bytes(), path)
    assert (found.name, found.parent, found.path, found.complete) == ("b", "a", str(path), True)
    assert (found.runs, found.outcomes, found.answers) == ({"prepare": "p1"}, E1, {"ask_approve": "yes"})
    assert parse_snapshot(path.read_bytes()).id == found.id


def test_the_order_of_writing_and_of_parents_where_the_clock_is_too_coarse(tmp_path: Path) -> None:
    write(tmp_path, "b", "a", content({}, {"n": "b"}), 5)
    write(tmp_path, "a", "none", content({}, {"n": "a"}), 5)
    write(tmp_path, "c", "none", content({}, {"n": "c"}), 3)
    found = read_snapshots(tmp_path)
    assert [snapshot.name for snapshot in found] == ["c", "a", "b"]
    assert [snapshot.name for snapshot in line_to(found, found[2])] == ["a", "b"]


def test_a_unit_is_sealed_by_the_last_of_its_methods_and_again_when_one_ran_again() -> None:
    seals = Seals(CrewAIPlan(PARALLEL))
    runs = [
        {"prepare": "p1"},
        {"prepare": "p1", "both_a": "p1"},
        {"prepare": "p1", "both_a": "p1", "both_b": "p2"},
        {"prepare": "p1", "both_a": "p1", "both_b": "p2"},
        {"prepare": "p3", "both_a": "p1", "both_b": "p3"},
    ]
    found = [seals.of(parse_snapshot(content(ran, {}))) for ran in runs]
    assert found == [["prepare"], [], ["both"], [], ["prepare", "both"]]


def test_a_branch_of_files_and_its_pending_feedback(tmp_path: Path) -> None:
    write(tmp_path, "a", "none", content({"prepare": "p1"}, E1), 1)
    write(tmp_path, "b", "none", content({"prepare": "p1"}, E1, FEEDBACK), 2)
    last = write(tmp_path, "c", "b", content({"prepare": "p1", "approve": "p2"}, E2, FEEDBACK), 3)
    with closing(sqlite3.connect(database(tmp_path))) as connection, connection:
        connection.execute("CREATE TABLE pending_feedback (flow_uuid, context_json)")
        waiting = json.dumps({"method_name": "ask_approve"})
        connection.execute("INSERT INTO pending_feedback VALUES (?, ?)", ("t2", waiting))
    first = read_snapshots(tmp_path)[0]
    branches = Branches(tmp_path)
    branches.fork("main", first.id, "again")
    branches.note(pending_mark("t2"), "again")
    main, again = read_branches(tmp_path, CrewAIPlan(LONGER))
    assert [(c.unit, c.outcomes, c.next) for c in main.checkpoints] == [
        ("prepare", E1, ["approve"]),
        ("approve", {"g": "yes", "e2": "e2:x"}, ["publish"]),
    ]
    assert [c.parent for c in main.checkpoints] == [None, main.checkpoints[0].id]
    assert (main.answers, main.open_interrupts, main.token) == ({"g": ["yes"]}, [], str(last))
    assert [c.unit for c in again.checkpoints] == ["prepare"]
    assert (again.branch, again.answers, again.open_interrupts) == ("again", {}, ["g"])


def test_a_file_that_is_cut_short_is_a_checkpoint_that_is_not_complete(tmp_path: Path) -> None:
    write(tmp_path, "a", "none", content({"prepare": "p1"}, E1), 1)
    write(tmp_path, "b", "a", content({"prepare": "p1", "approve": "p1"}, E2), 2)
    CrewAISystem("json").tear(tmp_path, "t1")
    (main,) = read_branches(tmp_path, CrewAIPlan(LONGER))
    assert [(c.unit, c.complete, c.valid) for c in main.checkpoints] == [
        ("prepare", True, True),
        (None, False, False),
    ]


def test_what_only_checkpoints_can_be_recorded_on() -> None:
    rows, files = CrewAISystem("sqlite").scenarios(), CrewAISystem("json").scenarios()
    assert set(files) - set(rows) == {
        "recovery-at-named-checkpoint",
        "kill-beside-durable-sibling-named",
        "fork-undeclared",
        "fork-declared",
        "torn-store",
        "kill-with-checkpoint-in-flight",
        "recovery-after-recovery",
    }
    assert set(rows) <= set(files)
