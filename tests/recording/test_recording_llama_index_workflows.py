"""LlamaIndex Workflows: what the kept snapshots say; without the framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording.branches import Branches
from trace_check.recording.system import BranchRead, load_system
from trace_check.recording.systems.llama_index_workflows.store import Snapshots, read_branches

PROGRAM = [
    ProgramUnit(name="prepare", steps=[ProgramStep(step="e1", kind="effect")]),
    ProgramUnit(
        name="approve",
        steps=[ProgramStep(step="g", kind="gate"), ProgramStep(step="e2", kind="effect", after=["g"])],
    ),
]


def context(outcomes: dict[str, Any], waits: bool = False, answer: str | None = None) -> dict[str, Any]:
    """A context as the framework gives it out, as far as the recorder reads it."""
    resolved = json.dumps({"value": {"value": answer}}) if answer is not None else None
    waiters = [{"waiter_id": "t1/g", "resolved_event": resolved}] if waits else []
    kept = {"outcomes": json.dumps({"t1": outcomes})} if outcomes else {}
    return {"state": {"state_data": {"_data": kept}}, "workers": {"run_part": {"collected_waiters": waiters}}}


def keep(folder: Path, name: str, content: dict[str, Any], branch: str = "main") -> None:
    Branches(folder).note(name, branch)
    Snapshots(folder).save(name, content)


def read_one(folder: Path) -> BranchRead:
    (read,) = read_branches(folder, ["t1"], PROGRAM)
    return read


def test_nothing_kept(tmp_path: Path) -> None:
    assert read_one(tmp_path) == BranchRead(branch="main", thread="t1")


def test_the_newest_snapshot_counts_and_a_unit_is_called_by_the_oldest_that_has_it(tmp_path: Path) -> None:
    keep(tmp_path, "1.json", context({"e1": "A"}))
    keep(tmp_path, "2.json", context({"e1": "A"}, waits=True))
    read = read_one(tmp_path)
    assert [(item.id, item.unit, item.outcomes) for item in read.checkpoints] == [
        ("1.json", "prepare", {"e1": "A"})
    ]
    assert (read.open_interrupts, read.answers, read.token) == (["g"], {}, "2.json")


def test_an_answer_is_kept_by_its_waiter_and_then_as_an_outcome(tmp_path: Path) -> None:
    keep(tmp_path, "1.json", context({"e1": "A"}, waits=True, answer="yes"))
    read = read_one(tmp_path)
    assert (read.open_interrupts, read.answers) == ([], {"g": ["yes"]})
    keep(tmp_path, "2.json", context({"e1": "A", "g": "no", "e2": 7}, waits=True, answer="no"))
    read = read_one(tmp_path)
    assert [(item.unit, item.valid) for item in read.checkpoints] == [("prepare", True), ("approve", False)]
    assert read.answers == {"g": ["no"]}


def test_a_line_that_starts_at_an_old_snapshot_shares_what_came_before(tmp_path: Path) -> None:
    keep(tmp_path, "1.json", context({"e1": "A"}, waits=True))
    keep(tmp_path, "2.json", context({"e1": "A", "g": "yes", "e2": "B"}))
    child = Branches(tmp_path).fork("main", "1.json")
    keep(tmp_path, "3.json", context({"e1": "A", "g": "no", "e2": "C"}), child)
    main, other = read_branches(tmp_path, ["t1"], PROGRAM)
    assert [item.id for item in main.checkpoints] == ["1.json", "2.json"]
    assert (other.branch, [item.id for item in other.checkpoints]) == (child, ["1.json", "3.json"])
    assert (main.answers, other.answers) == ({"g": ["yes"]}, {"g": ["no"]})


def test_a_torn_snapshot_is_an_incomplete_checkpoint_and_cannot_be_loaded(tmp_path: Path) -> None:
    keep(tmp_path, "1.json", context({"e1": "A"}))
    load_system("llama-index-workflows").tear(tmp_path, "t1")
    (item,) = read_one(tmp_path).checkpoints
    assert (item.complete, item.valid, item.unit, item.outcomes) == (False, False, None, {})
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        Snapshots(tmp_path).load("1.json")
