"""DBOS: where steps are, and what its tables and its connection's commits say; without DBOS."""

from __future__ import annotations

import base64
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from trace_check.conformance.plan import plan
from trace_check.events import Event, Header, ProgramStep, ProgramUnit
from trace_check.recording.log import EventLog, create_log, read_events
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Start
from trace_check.recording.sink import open_sink
from trace_check.recording.system import Job, load_system
from trace_check.recording.systems.dbos.layout import Layout
from trace_check.recording.systems.dbos.session import Session, recording_connection
from trace_check.recording.systems.dbos.store import database, read_branches
from trace_check.recording.work import Work

PROGRAM = [
    ProgramUnit(
        name="both", steps=[ProgramStep(step="a", kind="effect"), ProgramStep(step="b", kind="effect")]
    ),
    ProgramUnit(
        name="approve",
        steps=[ProgramStep(step="g", kind="gate"), ProgramStep(step="e2", kind="effect", after=["g"])],
    ),
]
"""Two unordered effects, then a gate and an effect."""

TABLES = """
CREATE TABLE workflow_status (workflow_uuid TEXT, status TEXT, owner_xid TEXT, forked_from TEXT, created_at INTEGER);
CREATE TABLE operation_outputs (
    workflow_uuid TEXT, function_id INTEGER, function_name TEXT, output TEXT, error TEXT, serialization TEXT,
    started_at_epoch_ms INTEGER, completed_at_epoch_ms INTEGER
);
CREATE TABLE notifications (
    destination_uuid TEXT, topic TEXT, message TEXT, serialization TEXT, consumed INTEGER, created_at_epoch_ms INTEGER
);
"""


def pickled(value: object) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()


@pytest.fixture
def tables(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database(tmp_path))
    connection.executescript(TABLES)
    connection.execute("INSERT INTO workflow_status VALUES ('t1', 'PENDING', 'x', NULL, 1)")
    connection.commit()
    return connection


def call(
    connection: sqlite3.Connection, workflow: str, number: int, name: str, output: Any, stamp: int
) -> None:
    connection.execute(
        "INSERT INTO operation_outputs VALUES (?, ?, ?, ?, NULL, 'py_pickle', ?, ?)",
        (workflow, number, name, pickled(output), stamp, stamp),
    )
    connection.commit()


def test_a_gate_takes_two_function_ids() -> None:
    layout = Layout(PROGRAM, ["t1"], "")
    assert [(slot.step.step, slot.function_id) for slot in layout.slots("t1")] == [
        ("a", 1),
        ("b", 2),
        ("g", 3),
        ("e2", 5),
    ]
    found = layout.slot("t1", 4)
    assert found is not None
    assert found.step.step == "g"
    assert layout.slot("t1", 6) is None


def test_instances_in_one_workflow_and_in_workflows_of_their_own() -> None:
    one = Layout(PROGRAM[1:], ["first", "second"], "one-node")
    assert one.workflow("first") == one.workflow("second") == one.root
    assert [slot.function_id for slot in one.slots("second")] == [4, 6]
    assert one.topic(one.slots("second")[0]) == "second/g"
    apart = Layout(PROGRAM[1:], ["first", "second"], "parallel")
    assert [apart.workflow("first"), apart.workflow("second")] == ["first", "second"]
    assert apart.threads_of("second") == ["second"]
    assert apart.slot(apart.root, 1) is None


def test_a_unit_is_sealed_by_its_last_row_and_a_gate_is_open_until_a_message_comes(
    tmp_path: Path, tables: sqlite3.Connection
) -> None:
    layout = Layout(PROGRAM, ["t1"], "")
    call(tables, "t1", 1, "a", "A", 10)
    (read,) = read_branches(tmp_path, layout)
    assert (read.checkpoints, read.open_interrupts) == ([], [])
    call(tables, "t1", 2, "b", 7, 11)
    call(tables, "t1", 4, "DBOS.sleep", 5.0, 12)
    (read,) = read_branches(tmp_path, layout)
    assert [(item.id, item.unit, item.outcomes, item.valid) for item in read.checkpoints] == [
        ("t1:2", "both", {"a": "A", "b": 7}, False)
    ]
    assert (read.open_interrupts, read.answers, read.tokens) == (["g"], {}, {"t1:2": "3"})
    tables.execute("INSERT INTO notifications VALUES ('t1', 'g', ?, 'py_pickle', 0, 13)", (pickled("yes"),))
    tables.commit()
    (read,) = read_branches(tmp_path, layout)
    assert (read.open_interrupts, read.answers) == ([], {"g": ["yes"]})


def test_an_error_is_no_outcome_and_a_gate_of_a_workflow_that_ended_is_not_open(
    tmp_path: Path, tables: sqlite3.Connection
) -> None:
    for number in (1, 2, 4):
        call(tables, "t1", number, "x", "A", number)
    tables.execute("UPDATE operation_outputs SET output = NULL, error = 'e' WHERE function_id = 2")
    tables.execute("UPDATE workflow_status SET status = 'ERROR'")
    tables.commit()
    (read,) = read_branches(tmp_path, Layout(PROGRAM, ["t1"], ""))
    assert (read.checkpoints, read.open_interrupts) == ([], [])


def test_a_forks_copied_rows_are_its_parents_checkpoints(tmp_path: Path, tables: sqlite3.Connection) -> None:
    tables.execute("INSERT INTO workflow_status VALUES ('t1/again', 'PENDING', 'y', 't1', 2)")
    for workflow in ("t1", "t1/again"):
        call(tables, workflow, 1, "a", "A", 10)
        call(tables, workflow, 2, "b", "B", 11)
    call(tables, "t1", 3, "DBOS.recv", "yes", 12)
    call(tables, "t1", 5, "e2", "E", 13)
    call(tables, "t1/again", 3, "DBOS.recv", "yes", 14)
    call(tables, "t1/again", 5, "e2", "E", 15)
    root, fork = read_branches(tmp_path, Layout(PROGRAM, ["t1"], ""))
    assert (root.branch, [item.id for item in root.checkpoints]) == ("main", ["t1:2", "t1:5"])
    assert (fork.branch, [item.id for item in fork.checkpoints]) == ("again", ["t1:2", "t1/again:5"])


def test_events_enclose_the_commit_that_stores_the_row(tmp_path: Path, tables: sqlite3.Connection) -> None:
    tables.close()
    path = tmp_path / "log.jsonl"
    create_log(
        path,
        Header(
            v=1, system="s", version="1", store="s", sink="plain", scenario="x", program=PROGRAM, observes=[]
        ),
    )
    job = Job(
        system="dbos",
        kept_in="sqlite",
        folder=str(tmp_path),
        log=str(path),
        thread="t1",
        actor="p1",
        program=PROGRAM,
        sink="plain",
        action=Start(),
    )
    with EventLog(path, "p1", "t1") as log:
        work, probe = Work(job, log, open_sink("plain", tmp_path, log), Probe()), Probe()
        layout = Layout(PROGRAM, ["t1"], "")
        session = Session(job, layout, log, work, probe)
        factory = recording_connection(session)
        session.keep("t1", layout.slots("t1")[0], "A")
        with closing(sqlite3.connect(database(tmp_path), factory=factory)) as connection:
            insert = (
                "INSERT INTO main.operation_outputs (workflow_uuid, function_id, function_name, output, error)"
                " VALUES (?, ?, ?, ?, ?)"
            )
            cursor = connection.cursor()
            cursor.execute(insert, ("t1", 1, "a", pickled("A"), None))
            assert kinds(path) == []
            connection.commit()
            cursor.execute(insert, ("t1", 4, "DBOS.sleep", "5", None))
            connection.commit()
            cursor.execute(insert, ("t1", 2, "b", pickled("B"), None))
            connection.rollback()
            cursor.execute(insert, ("t1", 2, "b", None, "error"))
            connection.commit()
            cursor.execute(
                "UPDATE main.workflow_status SET owner_xid = ? WHERE workflow_uuid = ?", ("me", "t1")
            )
            connection.commit()
    assert kinds(path) == ["recorded begin", "recorded end", "parked begin", "parked end"]
    assert "me" in session.owned


def kinds(path: Path) -> list[str]:
    events: list[Event] = read_events(path)
    return [f"{type(event).__struct_config__.tag} {event.phase}" for event in events]


def test_the_store_that_is_shut_down_is_recorded_on_one_scenario() -> None:
    usual, shut_down = load_system("dbos"), load_system("dbos", "sqlite-shut-down")
    assert list(shut_down.scenarios()) == ["park-and-resume"]
    # what the system can't express is so with each store; the rest could be recorded, and isn't
    assert shut_down.not_applicable() == usual.not_applicable()
    assert set(shut_down.not_planned()) == set(usual.scenarios()) - {"park-and-resume"}
    assert all("see store sqlite" in reason for reason in shut_down.not_planned().values())
    assert not usual.not_planned()
    _, omitted = plan(["dbos"], ["sqlite-shut-down"])
    assert {left.because for left in omitted} == {"not applicable", "not planned"}
    assert {left.because for left in omitted if left.scenario == "kill-after-effect"} == {"not planned"}
    usual = load_system("dbos").scenarios()
    assert {"park-and-resume", "fork-declared", "race-4x0s"} <= set(usual)
    assert "torn-store" not in usual
