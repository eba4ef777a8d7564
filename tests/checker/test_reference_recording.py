"""The reference recorded: real processes over SQLite, judged by the mirror, and conforming."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from trace_check.checker import check_file
from trace_check.errors import RecordingError
from trace_check.events import (
    AnyEvent,
    Forked,
    GatePassed,
    Header,
    ProgramStep,
    ProgramUnit,
    Refused,
    event_kind,
)
from trace_check.reader import read_trace
from trace_check.recording import record
from trace_check.recording.log import EventLog, create_log
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Action, Answering, Continue, Start
from trace_check.recording.sink import fired_effects, open_sink
from trace_check.recording.system import Job, load_system
from trace_check.recording.systems.reference.system import ReferenceSystem

PROGRAM = [
    ProgramUnit(name="u1", steps=[ProgramStep(step="e", kind="effect"), ProgramStep(step="p", kind="pure")]),
    ProgramUnit(name="u2", steps=[ProgramStep(step="g", kind="gate")]),
]


def test_the_tour(tmp_path: Path) -> None:
    path = record("reference", "races-crashes-and-a-fork", tmp_path)
    assert path == tmp_path / "reference-1" / "races-crashes-and-a-fork.jsonl"
    found = check_file(path)
    assert found.verdict == "conforms", found
    events = read_trace(path).events
    assert (
        sum(isinstance(e, GatePassed) and e.phase == "end" for e in events) == 3
    )  # one claim, two take-overs
    assert [e.what for e in events if isinstance(e, Refused) and e.what == "commit"] == ["commit"]
    assert any(isinstance(e, Refused) and e.what == "gate" for e in events)
    assert [e.declared for e in events if isinstance(e, Forked)] == [True, True]
    assert sum(event_kind(e) == "crashed" for e in events) == 2


def test_every_scenario_is_known_with_a_keyed_sink() -> None:
    scenarios = load_system("reference").scenarios()
    assert "park-and-resume" in scenarios
    assert {scenario.sink for scenario in scenarios.values()} == {"keyed"}


class InProcess:
    """The reference's processes run one after another in this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "events.jsonl"
        self.system = ReferenceSystem()
        header = Header(
            v=1,
            system="reference",
            version="1",
            store="sqlite",
            sink="keyed",
            scenario="-",
            program=PROGRAM,
            observes=sorted(self.system.observes),
        )
        create_log(self.log, header)

    def act(self, actor: str, action: Action) -> list[AnyEvent]:
        job = Job(
            system="reference",
            folder=str(self.folder),
            log=str(self.log),
            thread="t1",
            actor=actor,
            program=PROGRAM,
            sink="keyed",
            action=action,
        )
        with EventLog(self.log, actor, "t1") as log:
            self.system.run(job, log, open_sink("keyed", self.folder, log), Probe())
        return [event for event in read_trace(self.log).events if event.actor == actor]

    def read(self) -> list[str]:
        return [read.branch for read in self.system.read_store(self.folder, "t1", PROGRAM)]

    def change(self, sql: str) -> None:
        with closing(sqlite3.connect(self.folder / "reference.sqlite")) as connection, connection:
            assert connection.execute(sql).rowcount == 1


def test_a_finished_run_conforms(tmp_path: Path) -> None:
    run = InProcess(tmp_path)
    run.act("p1", Start())
    run.act("p2", Answering(gate="g", value="yes", delivery="d1"))
    assert run.read() == ["main"]
    assert check_file(run.log).verdict == "conforms"
    late = run.act("p3", Continue())
    assert [event_kind(event) for event in late] == ["loaded", "refused"]
    assert check_file(run.log).verdict == "conforms"


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("UPDATE ledger SET outcome = 'other' WHERE step = 'p'", "ledger of main, p"),
        ("UPDATE gates SET status = 'closed'", "gate g of main"),
        ("DELETE FROM checkpoints", "checkpoints of main"),
        ("UPDATE branches SET status = 'done'", "branch main"),
    ],
)
def test_a_store_that_differs_from_the_mirror_is_found(tmp_path: Path, sql: str, where: str) -> None:
    run = InProcess(tmp_path)
    run.act("p1", Start())
    run.change(sql)
    with pytest.raises(RecordingError, match=f"the store and the mirror differ .* the first {where}"):
        run.read()


def test_an_action_that_the_mirror_refuses_is_found(tmp_path: Path) -> None:
    run = InProcess(tmp_path)
    run.act("p1", Start())
    run.change("INSERT INTO history (actor, action, parameters) VALUES ('p1', 'Claim', '[]')")
    with pytest.raises(RecordingError, match=r"Claim of p1 .* is none of the mirror's"):
        run.read()


def test_an_effect_that_was_applied_twice_is_found(tmp_path: Path) -> None:
    run = InProcess(tmp_path)
    run.act("p1", Start())
    with closing(sqlite3.connect(tmp_path / "effects.sqlite")) as connection, connection:
        connection.execute("INSERT INTO effects (effect) SELECT effect FROM effects")
    assert len(fired_effects(tmp_path)) == 2
    with pytest.raises(RecordingError, match="world of main, e"):
        run.read()


def test_an_answer_must_be_a_string(tmp_path: Path) -> None:
    run = InProcess(tmp_path)
    run.act("p1", Start())
    with pytest.raises(RecordingError, match="the answer 3 is no string"):
        run.act("p2", Answering(gate="g", value=3, delivery="d1"))
