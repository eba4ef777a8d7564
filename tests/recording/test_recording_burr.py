"""The Burr recorder: what it makes of real processes in an environment of its own, and of its table."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from told import told

from trace_check import check_file
from trace_check.checker import Verdict
from trace_check.events import StoreRead
from trace_check.reader import Trace, read_trace
from trace_check.recording import SCENARIOS, record
from trace_check.recording.systems.burr.plan import BurrPlan
from trace_check.recording.systems.burr.store import (
    PARTITION,
    Fork,
    Forks,
    database,
    read_branches,
    stored_value,
)
from trace_check.recording.systems.burr.system import BurrSystem

STARTED = [
    "loaded (",
    "loaded ) 0",
    "effect_fired e1",
    "committed ( prepare",
    "parked ( g",
    "committed ) prepare",
    "parked ) g",
]
PASSED = [
    "gate_passed g yes",
    "effect_fired e2",
    "committed ( approve",
    "committed ) approve",
    "completed",
]
ANSWERED = ["answer ( g yes", "answer ) g yes accepted=True"]


def recorded(scenario: str, folder: Path, store: str | None = None) -> tuple[Trace, Verdict]:
    path = record("burr", scenario, folder, store=store)
    return read_trace(path), check_file(path)


def broken(verdict: Verdict) -> dict[str, bool]:
    """Each clause that breaks, and whether it certainly does."""
    return {clause.clause: clause.certain for clause in verdict.clauses}


def held(trace: Trace) -> list[tuple[list[str | None], list[str], list[str]]]:
    """What each reading of the store shows: the sealed units, the gates that have answers, the open gates."""
    reads = [event for event in trace.events if isinstance(event, StoreRead)]
    return [([c.unit for c in read.checkpoints], list(read.answers), read.open_interrupts) for read in reads]


def test_an_answer_that_only_the_action_had_is_gone_with_its_process(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-after-answer", tmp_path)
    assert told(trace, "p1") == STARTED
    assert told(trace, "p2") == ["loaded (", "loaded ) 1", *ANSWERED, "gate_passed g yes", "crashed SIGKILL"]
    assert told(trace, "p3") == ["loaded (", "loaded ) 1"]
    assert held(trace) == 3 * [(["prepare"], [], ["g"])]
    assert broken(verdict) == {"CO-V": True}
    assert "lost_answer" in verdict.explanations[0]


def test_an_answer_that_is_an_action_of_its_own_is_kept(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-after-answer", tmp_path, "sqlite-gate-action")
    assert told(trace, "p2") == ["loaded (", "loaded ) 1", *ANSWERED, "gate_passed g yes", "crashed SIGKILL"]
    assert told(trace, "p3") == ["loaded (", "loaded ) 1", *PASSED]
    assert held(trace) == [
        (["prepare"], [], ["g"]),
        (["prepare"], ["g"], []),
        (["prepare", "approve"], ["g"], []),
    ]
    assert verdict.verdict == "conforms"


def test_a_part_that_was_stored_is_not_run_again_and_the_other_is(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-beside-durable-sibling", tmp_path)
    assert told(trace, "p1")[5:] == [
        "effect_fired a",
        "recorded ( a",
        "recorded ) a",
        "effect_fired b",
        "crashed SIGKILL",
    ]
    assert told(trace, "p2")[:5] == [
        "loaded (",
        "loaded ) 1",
        "effect_fired b",
        "recorded ( b",
        "recorded ) b",
    ]
    assert broken(verdict) == {"EO": True}
    assert ("unkeyed_effect",) in verdict.explanations


def test_who_was_overtaken_cannot_store_its_row(tmp_path: Path) -> None:
    trace, verdict = recorded("recovery-while-stopped", tmp_path)
    assert told(trace, "p2") == STARTED
    assert told(trace, "p1") == [
        *STARTED[:5],
        "refused ) commit prepare IntegrityError",
        "resume_failed IntegrityError",
        "crashed 1",
    ]
    assert broken(verdict) == {"EO": True}


def test_a_declared_fork(tmp_path: Path) -> None:
    trace, verdict = recorded("fork-declared", tmp_path)
    assert told(trace, "p3") == ["forked ( 1", "forked ) 1", "loaded 1"]
    assert verdict.verdict == "conforms"
    assert {"FI", "FD"} <= set(verdict.exercised)


def test_what_does_not_apply_is_a_scenario_with_a_reason() -> None:
    system = BurrSystem()
    assert set(system.scenarios()) | set(system.not_applicable()) == set(SCENARIOS)
    assert all("\n" not in reason and len(reason) > 20 for reason in system.not_applicable().values())


PROGRAM = SCENARIOS["kill-after-effect"].program


def test_the_actions_of_a_program() -> None:
    joined, apart = (BurrPlan(PROGRAM, asks_apart=asks) for asks in (False, True))
    assert joined.actions == ["prepare", "approve", "publish"]
    assert joined.waiting == {"approve": "g"}
    assert apart.actions == ["prepare", "ask_approve", "approve", "publish"]
    assert apart.waiting == {"ask_approve": "g"}
    assert [apart.next_unit(action) for action in apart.actions] == [
        ["approve"],
        ["approve"],
        ["publish"],
        [],
    ]


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("text", "text"),
        ("<unlocked _thread.lock object at 0x7f0b5c1d2e40>", "<lock>"),
        ("<Thing object at 0x12>", "<Thing>"),
        ("<b>bold</b>", "<b>bold</b>"),
        (7, 7),
        (float("nan"), "nan"),
    ],
)
def test_a_stored_outcome_is_told_as_what_was_handed_over(stored: object, value: object) -> None:
    assert stored_value(stored) == value


def test_a_fork_is_read_behind_what_it_was_forked_from(tmp_path: Path) -> None:
    rows = [
        ("t1", 0, "prepare", {"e1": "e1:x"}, "completed"),
        ("t1", 1, "approve", {"e1": "e1:x"}, "failed"),
        ("t1", 2, "approve", {"e1": "e1:x", "g": "yes", "e2": "e2:x"}, "completed"),
        ("t1-again", 1, "approve", {"e1": "e1:x", "g": "no", "e2": 3}, "completed"),
    ]
    with closing(sqlite3.connect(database(tmp_path))) as store, store:
        store.execute("CREATE TABLE burr_state (partition_key, app_id, sequence_id, position, state, status)")
        for app, number, position, outcomes, status in rows:
            state = json.dumps({"outcomes": outcomes})
            store.execute(
                "INSERT INTO burr_state VALUES (?, ?, ?, ?, ?, ?)",
                (PARTITION, app, number, position, state, status),
            )
    Forks(tmp_path).add(Fork("again", "t1-again", "t1", 0))
    Forks(tmp_path).add(Fork("unused", "t1-unused", "t1", 0))
    root, child = read_branches(tmp_path, "t1", BurrPlan(PROGRAM, asks_apart=False))
    assert [(c.id, c.parent, c.valid) for c in root.checkpoints] == [
        ("t1:0:prepare", None, True),
        ("t1:2:approve", "t1:0:prepare", True),
    ]
    assert (root.answers, root.open_interrupts, root.token) == ({"g": ["yes"]}, [], "2")
    assert root.tokens == {"t1:0:prepare": "0", "t1:1:approve": "1", "t1:2:approve": "2"}
    assert (child.branch, child.answers, child.open_interrupts) == ("again", {"g": ["no"]}, [])
    assert [(c.id, c.outcomes, c.valid, c.next) for c in child.checkpoints] == [
        ("t1:0:prepare", {"e1": "e1:x"}, True, ["approve"]),
        ("t1-again:1:approve", {"g": "no", "e2": 3}, False, ["publish"]),
    ]


def test_after_an_action_that_failed_its_gate_is_open(tmp_path: Path) -> None:
    with closing(sqlite3.connect(database(tmp_path))) as store, store:
        store.execute("CREATE TABLE burr_state (partition_key, app_id, sequence_id, position, state, status)")
        for number, position, status in [(0, "prepare", "completed"), (1, "approve", "failed")]:
            values = (PARTITION, "t1", number, position, '{"outcomes": {"e1": "e1:x"}}', status)
            store.execute("INSERT INTO burr_state VALUES (?, ?, ?, ?, ?, ?)", values)
    (read,) = read_branches(tmp_path, "t1", BurrPlan(PROGRAM, asks_apart=False))
    assert ([c.unit for c in read.checkpoints], read.open_interrupts) == (["prepare"], ["g"])


def test_before_anything_is_stored_there_is_an_empty_root(tmp_path: Path) -> None:
    plan = BurrPlan(PROGRAM, asks_apart=False)
    assert [read.checkpoints for read in read_branches(tmp_path, "t1", plan)] == [[]]
    sqlite3.connect(database(tmp_path)).close()
    assert [read.checkpoints for read in read_branches(tmp_path, "t1", plan)] == [[]]
