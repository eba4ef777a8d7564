"""The LangGraph recorder: the kept traces are what a new recording gives, and what it makes of its store."""

from __future__ import annotations

import importlib.metadata
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from shape import shape

from trace_check.errors import RecordingError
from trace_check.events import (
    Committed,
    Completed,
    Computed,
    Crashed,
    EffectFired,
    Forked,
    GatePassed,
    Header,
    Parked,
    ProgramStep,
    ProgramUnit,
    Recorded,
    StoreRead,
)
from trace_check.reader import Trace, read_trace
from trace_check.recording import SCENARIOS, points, record
from trace_check.recording.log import EventLog, create_log, read_events
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Action, Answering, Continue, Run, Scenario, Stage, Start
from trace_check.recording.sink import open_sink
from trace_check.recording.system import BranchRead, Job
from trace_check.recording.systems.langgraph import LangGraphSystem

PINNED = "1.2.9"
KEPT = Path(__file__).parents[2] / "results" / "traces" / f"langgraph-{PINNED}"


def test_the_pinned_version_is_installed() -> None:
    """What follows runs the framework: without it, or with another version, it fails rather than saying nothing."""
    assert LangGraphSystem().version() == PINNED


def kept(scenario: str) -> Trace:
    return read_trace(KEPT / f"{scenario}.jsonl")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kept_trace_is_valid_and_of_the_scenario_as_it_is_now(scenario: str) -> None:
    header = kept(scenario).header
    assert (header.system, header.version, header.scenario) == ("langgraph", PINNED, scenario)
    assert header.program == SCENARIOS[scenario].program
    assert header.sink == SCENARIOS[scenario].sink
    assert header.observes == sorted(LangGraphSystem.observes)


@pytest.mark.parametrize(
    ("scenario", "fired"),
    [
        ("park-and-resume", [("main", "e1"), ("main", "e2")]),
        ("kill-after-effect", [("main", "e1"), ("main", "e1"), ("main", "e2")]),
        ("second-answer-at-old-checkpoint", [("main", "e1"), ("main", "e2"), ("main/2", "e2")]),
        ("race-two-resumers", [("main", "e1"), ("main", "e2"), ("main", "e2")]),
    ],
)
def test_the_effects_of_the_kept_traces(scenario: str, fired: list[tuple[str, str]]) -> None:
    effects = [event for event in kept(scenario).events if isinstance(event, EffectFired)]
    assert [(event.branch, event.step) for event in effects] == fired
    assert all(event.applied and not event.inferred for event in effects)


def test_the_kept_second_answer_is_stored_and_not_consulted() -> None:
    events = kept("second-answer-at-old-checkpoint").events
    assert [(e.branch, e.value) for e in events if isinstance(e, GatePassed)] == [
        ("main", "yes"),
        ("main/2", "yes"),
    ]
    reads = [event for event in events if isinstance(event, StoreRead)]
    assert [(read.branch, read.answers) for read in reads[-2:]] == [
        ("main", {"g": ["yes", "no"]}),
        ("main/2", {"g": ["yes", "no"]}),
    ]
    forks = [event for event in events if isinstance(event, Forked)]
    assert [(fork.branch, fork.child, fork.index, fork.declared) for fork in forks] == [
        ("main", "main/2", 1, False)
    ]
    # Nobody touched what the parent had: its last line is the same, byte for byte, after the fork.
    assert reads[1].checkpoints == reads[2].checkpoints


def test_the_kept_race_commits_two_siblings_and_shows_one() -> None:
    events = kept("race-two-resumers").events
    sealed = [e for e in events if isinstance(e, Committed) and e.phase == "end" and e.unit == "approve"]
    assert len({event.checkpoint for event in sealed}) == 2
    assert len({event.parent for event in sealed}) == 1
    last = [event for event in events if isinstance(event, StoreRead)][-1]
    assert len(last.checkpoints) == 2
    assert last.checkpoints[-1].id in {event.checkpoint for event in sealed}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_recording_again_gives_the_same_shape(scenario: str, tmp_path: Path) -> None:
    again = read_trace(record("langgraph", scenario, tmp_path))
    assert again.header == kept(scenario).header
    assert shape(again) == shape(kept(scenario))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "last", "durable"),
    [
        (points.STARTED, {"crashed"}, {0}),
        (points.LOADED, {"loaded"}, {0}),
        # outcomes are stored by a pool thread: the commit may have begun, and even be durable
        (points.recording("e1"), {"effect_fired", "committed"}, {0, 1}),
        (points.committing("prepare"), {"effect_fired", "recorded"}, {0}),
        (points.committed("prepare"), {"recorded", "committed"}, {1}),
        (points.parking("g"), {"recorded", "committed"}, {1}),
    ],
)
def test_a_kill_at_each_point_comes_after_what_the_point_says(
    point: str, last: set[str], durable: set[int], tmp_path: Path
) -> None:
    stage = Stage(runs=[Run(actor="p1", action=Start(), kill_at=point)])
    program = SCENARIOS["park-and-resume"].program
    what = Scenario(name="kill", about="-", program=program, stages=[stage])
    events = read_trace(record("langgraph", what, tmp_path)).events
    own = [event for event in events if event.actor == "p1"]
    assert isinstance(own[-1], Crashed)
    assert own[-1].signal == "SIGKILL"
    assert type(own[-2] if len(own) > 1 else own[-1]).__struct_config__.tag in last
    read = events[-1]
    assert isinstance(read, StoreRead)
    assert len(read.checkpoints) in durable


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    with pytest.raises(RecordingError) as caught:
        record("langgraph", "park-and-resume", tmp_path)
    assert str(caught.value) == (
        "langgraph-checkpoint-sqlite is not installed; "
        "install the extra: pip install 'resume-contract[langgraph]'"
    )


PARALLEL = [
    ProgramUnit(
        name="both",
        steps=[
            ProgramStep(step="a", kind="effect"),
            ProgramStep(step="b", kind="effect"),
            ProgramStep(step="c", kind="pure", after=["b"]),
        ],
    ),
    ProgramUnit(name="ask", steps=[ProgramStep(step="g", kind="gate")]),
    ProgramUnit(name="last", steps=[ProgramStep(step="d", kind="effect")]),
]


class InProcess:
    """The system's actions in this process, on one store; for what needs no kill."""

    def __init__(self, folder: Path, program: list[ProgramUnit]) -> None:
        self.folder = folder
        self.program = program
        self.log = folder / "log.jsonl"
        self._actors = 0
        header = Header(
            v=1,
            system="s",
            version="1",
            store="s",
            sink="plain",
            scenario="x",
            program=program,
            observes=[],
        )
        create_log(self.log, header)

    def act(self, action: Action, token: str | None = None) -> None:
        self._actors += 1
        actor = f"p{self._actors}"
        job = Job(
            system="langgraph",
            folder=str(self.folder),
            log=str(self.log),
            thread="t1",
            actor=actor,
            program=self.program,
            sink="plain",
            action=action,
            branch="main" if token else None,
            token=token,
        )
        with EventLog(self.log, actor, "t1") as log:
            LangGraphSystem().run(job, log, open_sink("plain", self.folder, log), Probe())

    def read(self) -> list[BranchRead]:
        return LangGraphSystem().read_store(self.folder, "t1", self.program)


def test_a_parallel_unit_is_sealed_as_one(tmp_path: Path) -> None:
    run = InProcess(tmp_path, PARALLEL)
    run.act(Start())
    events = read_events(run.log)
    assert sorted(e.step for e in events if isinstance(e, EffectFired)) == ["a", "b"]
    assert [e.step for e in events if isinstance(e, Computed)] == ["c"]
    assert sorted(e.step for e in events if isinstance(e, Recorded) and e.phase == "end") == ["a", "b", "c"]
    sealed = [e for e in events if isinstance(e, Committed) and e.phase == "end"]
    assert [(e.unit, sorted(e.steps), sorted(e.outcomes), e.next) for e in sealed] == [
        ("both", ["a", "b", "c"], ["a", "b", "c"], ["ask"])
    ]
    assert [e.gate for e in events if isinstance(e, Parked)] == ["g", "g"]
    run.act(Answering(gate="g", value=7, delivery="d1"))
    read_trace(run.log)
    (read,) = run.read()
    assert [(c.unit, c.next) for c in read.checkpoints] == [
        ("both", ["ask"]),
        ("ask", ["last"]),
        ("last", []),
    ]
    assert read.checkpoints[1].outcomes == {"g": 7}
    assert read.answers == {"g": [7]}
    assert isinstance(read_events(run.log)[-1], Completed)


def test_a_checkpoint_that_cannot_be_decoded_is_incomplete(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    run.act(Answering(gate="g", value="yes", delivery="d1"))
    (whole,) = run.read()
    assert [checkpoint.complete for checkpoint in whole.checkpoints] == [True, True]
    with closing(sqlite3.connect(tmp_path / "checkpoints.sqlite")) as store, store:
        store.execute(
            "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, 20) WHERE checkpoint_id = ?",
            (whole.checkpoints[1].id,),
        )
    (torn,) = run.read()
    assert torn.checkpoints[0] == whole.checkpoints[0]
    last = torn.checkpoints[1]
    assert (last.id, last.complete, last.valid, last.unit) == (whole.checkpoints[1].id, False, False, None)
    assert last.digest != whole.checkpoints[1].digest


def test_going_on_at_a_parked_gate_parks_it_again(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    run.act(Continue())
    events = [event for event in read_events(run.log) if event.actor == "p2"]
    assert [type(event).__name__ for event in events] == ["Loaded", "Loaded", "Parked", "Parked"]
    (read,) = run.read()
    assert (read.open_interrupts, read.answers) == (["g"], {})


def test_an_answer_at_the_head_that_parked_is_no_fork(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    run.act(Answering(gate="g", value="yes", delivery="d1"), token=run.read()[0].token)
    assert not any(isinstance(event, Forked) for event in read_events(run.log))
    assert [read.branch for read in run.read()] == ["main"]


def test_each_resume_at_an_old_checkpoint_is_a_branch_of_its_own(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    (parked,) = run.read()
    run.act(Answering(gate="g", value="yes", delivery="d1"))
    for number in (2, 3):
        run.act(Answering(gate="g", value="no", delivery=f"d{number}"), token=parked.token)
    read_trace(run.log)
    reads = run.read()
    assert [read.branch for read in reads] == ["main", "main/2", "main/3"]
    assert [len(read.checkpoints) for read in reads] == [2, 2, 2]
    assert len({read.checkpoints[1].id for read in reads}) == 3
    assert {read.checkpoints[0].digest for read in reads} == {parked.checkpoints[0].digest}
