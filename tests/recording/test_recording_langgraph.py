"""The LangGraph recorder: what fresh recordings show, what the checker makes of them, what is read of the store."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from trace_check import check_file
from trace_check.checker import Verdict
from trace_check.errors import RecordingError
from trace_check.events import (
    Answer,
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
    event_kind,
)
from trace_check.reader import Trace, read_trace
from trace_check.recording import SCENARIOS, points, record
from trace_check.recording.log import EventLog, create_log, read_events
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Action, Answering, Continue, Forking, Run, Scenario, Stage, Start
from trace_check.recording.sink import open_sink
from trace_check.recording.system import BranchRead, Job, load_system
from trace_check.recording.systems.langgraph.plan import Plan
from trace_check.recording.systems.langgraph.session import Writes
from trace_check.recording.systems.langgraph.system import LangGraphNewestSystem, LangGraphSystem

PINNED = "1.2.9"


def test_the_pinned_version_is_installed() -> None:
    """What follows runs the framework: without it, or with another version, it fails rather than saying nothing."""
    assert LangGraphSystem().version() == PINNED


def test_stores_and_their_extras() -> None:
    assert LangGraphNewestSystem().version() == "1.2.24"
    assert load_system("langgraph-newest").name == "langgraph"
    assert [LangGraphSystem(store).extra for store in LangGraphSystem.stores] == [
        "langgraph",
        "langgraph",
        "langgraph",
        "langgraph-postgres",
        "langgraph-postgres",
    ]
    assert LangGraphNewestSystem("postgres").extra == "langgraph-newest-postgres"
    assert [LangGraphSystem(store).durability for store in LangGraphSystem.stores] == [
        "sync",
        "async",
        "exit",
        "sync",
        "async",
    ]


def test_what_a_store_cannot_show_is_said() -> None:
    own = {"kill-with-answer-in-flight", "kill-with-checkpoint-in-flight", "kill-with-input-in-flight"}
    assert {store: own & set(LangGraphSystem(store).scenarios()) for store in LangGraphSystem.stores} == {
        "sqlite": {"kill-with-answer-in-flight"},
        "sqlite-async": own,
        "sqlite-exit": set(),
        "postgres": {"kill-with-answer-in-flight"},
        "postgres-async": own,
    }
    assert {store: sorted(LangGraphSystem(store).not_applicable()) for store in LangGraphSystem.stores} == {
        "sqlite": [],
        "sqlite-async": [],
        "sqlite-exit": [
            "kill-after-record",
            "kill-beside-durable-sibling",
            "kill-beside-durable-sibling-named",
        ],
        "postgres": ["torn-store"],
        "postgres-async": ["torn-store"],
    }


def recorded(scenario: str, folder: Path, store: str = "sqlite") -> tuple[Trace, Verdict]:
    path = record("langgraph", scenario, folder, store=store)
    return read_trace(path), check_file(path)


def fired(trace: Trace) -> list[tuple[str, str]]:
    return [(event.branch, event.step) for event in trace.events if isinstance(event, EffectFired)]


def broken(verdict: Verdict) -> set[str]:
    return {clause.clause for clause in verdict.clauses}


def test_park_and_resume_event_by_event(tmp_path: Path) -> None:
    trace, verdict = recorded("park-and-resume", tmp_path)
    assert (trace.header.system, trace.header.version, trace.header.store) == ("langgraph", PINNED, "sqlite")
    assert trace.header.observes == sorted(LangGraphSystem.observes)
    assert [f"{e.actor} {event_kind(e)} {e.phase or '-'}" for e in trace.events] == [
        "p1 loaded begin",
        "p1 loaded end",
        "p1 effect_fired -",
        "p1 recorded begin",
        "p1 recorded end",
        "p1 committed begin",
        "p1 committed end",
        "p1 parked begin",
        "p1 parked end",
        "harness store_read -",
        "p2 answer begin",
        "p2 loaded begin",
        "p2 loaded end",
        "p2 answer end",
        "p2 gate_passed -",
        "p2 effect_fired -",
        "p2 recorded begin",
        "p2 recorded end",
        "p2 committed begin",
        "p2 committed end",
        "p2 completed -",
        "harness store_read -",
    ]
    assert (verdict.verdict, verdict.explanations) == ("conforms", ((),))


def test_an_old_checkpoint_uses_the_first_answer_again(tmp_path: Path) -> None:
    trace, verdict = recorded("second-answer-at-old-checkpoint", tmp_path)
    assert fired(trace) == [("main", "e1"), ("main", "e2"), ("main/2", "e2")]
    passed = [(e.branch, e.value) for e in trace.events if isinstance(e, GatePassed)]
    assert passed == [("main", "yes"), ("main/2", "yes")]
    reads = [event for event in trace.events if isinstance(event, StoreRead)]
    assert [(read.branch, read.answers) for read in reads[-2:]] == [
        ("main", {"g": ["yes", "no"]}),
        ("main/2", {"g": ["yes", "no"]}),
    ]
    # Nobody touched what the parent had: its line is the same, byte for byte, after the fork.
    assert reads[1].checkpoints == reads[2].checkpoints
    assert broken(verdict) == {"CO-V", "FI"}
    assert verdict.explanations == (("fork_inherits_answer", "implicit_fork", "late_answer_recorded"),)
    assert verdict.unmodelled == ()


def test_work_that_is_recorded_runs_again_at_a_named_checkpoint(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-beside-durable-sibling-named", tmp_path)
    steps = [step for _, step in fired(trace)]
    assert {step: steps.count(step) for step in steps} == {"e1": 1, "a": 2, "b": 2, "e2": 1}
    kept = [e.step for e in trace.events if isinstance(e, Recorded) and e.phase == "end" and e.actor == "p1"]
    assert kept == ["e1", "a"]
    assert broken(verdict) == {"EO"}
    assert verdict.explanations == (("ledger_ignored", "unkeyed_effect"),)
    assert verdict.unmodelled == ()


def test_a_finished_sibling_is_taken_over(tmp_path: Path) -> None:
    trace, verdict = recorded("parallel-interrupts", tmp_path)
    assert sorted((e.thread, e.step) for e in trace.events if isinstance(e, EffectFired)) == [
        ("first", "e2"),
        ("second", "e2"),
    ]
    passed = [(e.actor, e.thread, e.value, e.inferred) for e in trace.events if isinstance(e, GatePassed)]
    assert passed == [
        ("p2", "second", "no", False),
        ("p3", "first", "yes", False),
        ("p3", "second", "no", True),
    ]
    last = {e.thread: e for e in trace.events if isinstance(e, StoreRead)}
    assert {thread: read.answers for thread, read in last.items()} == {
        "first": {"g": ["yes"]},
        "second": {"g": ["no"]},
    }
    assert (verdict.verdict, verdict.unmodelled) == ("conforms", ())


def test_a_checkpoint_in_flight_is_lost(tmp_path: Path) -> None:
    trace, _ = recorded("kill-with-checkpoint-in-flight", tmp_path, "sqlite-async")
    assert trace.header.store == "sqlite-async"
    dead = [e for e in trace.events if e.actor == "p2"]
    assert isinstance(dead[-1], Crashed)
    # The last unit's effect is out, and the checkpoint of the unit before it never was.
    assert [e.step for e in dead if isinstance(e, EffectFired)] == ["e2", "e3"]
    assert not any(isinstance(e, Committed) for e in dead)
    assert [e.step for e in dead if isinstance(e, Recorded) and e.phase == "end"] == ["e2"]
    # Whoever goes on takes over what the unit before had recorded, and fires the last effect again.
    steps = [step for _, step in fired(trace)]
    assert {step: steps.count(step) for step in steps} == {"e1": 1, "e2": 1, "e3": 2}


def test_what_is_recorded_is_lost_with_the_checkpoint_that_it_belongs_to(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-with-input-in-flight", tmp_path, "sqlite-async")
    dead = [e for e in trace.events if e.actor == "p1"]
    assert isinstance(dead[-1], Crashed)
    assert [e.step for e in dead if isinstance(e, Recorded) and e.phase == "end"] == ["e1"]
    # Durably recorded, and fired again all the same.
    steps = [step for _, step in fired(trace)]
    assert {step: steps.count(step) for step in steps} == {"e1": 2, "e2": 1, "e3": 1}
    assert [set(faults) for faults in verdict.explanations] == [{"ledger_ignored"}]


def test_whoever_seals_what_a_dead_process_recorded_parks_after_it(tmp_path: Path) -> None:
    trace, verdict = recorded("kill-after-record", tmp_path, "sqlite-async")
    assert verdict.verdict == "conforms"
    kinds = [event_kind(e) for e in trace.events if e.actor == "p2"]
    assert kinds.index("committed") < kinds.index("parked")


def test_a_run_that_stores_at_its_exit_parks_after_its_checkpoint(tmp_path: Path) -> None:
    trace, _ = recorded("park-and-resume", tmp_path, "sqlite-exit")
    kinds = [event_kind(e) for e in trace.events if e.actor == "p1"]
    assert kinds[-4:] == ["committed", "committed", "parked", "parked"]


@pytest.mark.parametrize(
    ("point", "last", "durable"),
    [
        (points.recording("e1"), "effect_fired", 0),
        (points.committed("prepare"), "committed", 1),
        (points.parking("g"), "committed", 1),
    ],
)
def test_a_kill_at_each_point_comes_after_what_the_point_says(
    point: str, last: str, durable: int, tmp_path: Path
) -> None:
    stage = Stage(runs=[Run(actor="p1", action=Start(), kill_at=point)])
    program = SCENARIOS["park-and-resume"].program
    what = Scenario(name="kill", about="-", program=program, stages=[stage])
    events = read_trace(record("langgraph", what, tmp_path)).events
    own = [event for event in events if event.actor == "p1"]
    assert isinstance(own[-1], Crashed)
    assert own[-1].signal == "SIGKILL"
    assert event_kind(own[-2]) == last
    read = events[-1]
    assert isinstance(read, StoreRead)
    assert len(read.checkpoints) == durable


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

    def __init__(self, folder: Path, program: list[ProgramUnit], store: str = "sqlite") -> None:
        self.folder = folder
        self.program = program
        self.store = store
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
            kept_in=self.store,
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
            LangGraphSystem(self.store).run(job, log, open_sink("plain", self.folder, log), Probe())

    def read(self) -> list[BranchRead]:
        return LangGraphSystem(self.store).read_store(self.folder, "t1", self.program)


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


def test_a_replay_of_an_old_checkpoint_is_a_branch_nobody_declared(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    run.act(Answering(gate="g", value="yes", delivery="d1"))
    (whole,) = run.read()
    run.act(Continue(at="earlier"), token=whole.checkpoints[0].id)
    events = [event for event in read_events(run.log) if event.actor == "p3"]
    assert [event_kind(event) for event in events] == ["forked", "loaded", "loaded", "parked", "parked"]
    forked = events[0]
    assert isinstance(forked, Forked)
    assert (forked.branch, forked.child, forked.index, forked.declared) == ("main", "main/2", 1, False)
    assert [(read.branch, read.open_interrupts) for read in run.read()] == [("main", []), ("main/2", ["g"])]


def test_an_update_of_an_old_state_is_a_declared_fork(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    run.act(Answering(gate="g", value="yes", delivery="d1"))
    (whole,) = run.read()
    run.act(Forking(child="again", units=1), token=whole.checkpoints[0].id)
    events = [event for event in read_events(run.log) if event.actor == "p3"]
    assert [(event_kind(event), event.branch) for event in events] == [
        ("forked", "main"),
        ("forked", "main"),
        ("loaded", "again"),
        ("loaded", "again"),
        ("parked", "again"),
        ("parked", "again"),
    ]
    assert isinstance(events[1], Forked)
    assert events[1].declared
    main, again = run.read()
    assert main.checkpoints == whole.checkpoints
    assert (again.branch, again.checkpoints, again.open_interrupts) == ("again", whole.checkpoints[:1], ["g"])


def test_going_on_at_the_named_head_is_no_fork(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["park-and-resume"].program)
    run.act(Start())
    run.act(Continue(at="named"), token=run.read()[0].token)
    assert not any(isinstance(event, Forked) for event in read_events(run.log))
    (read,) = run.read()
    assert (read.branch, len(read.checkpoints), read.open_interrupts) == ("main", 1, ["g"])


def test_durability_exit_seals_several_units_with_one_checkpoint(tmp_path: Path) -> None:
    run = InProcess(tmp_path, SCENARIOS["kill-after-effect"].program, "sqlite-exit")
    run.act(Start())
    (parked,) = run.read()
    assert [c.unit for c in parked.checkpoints] == ["prepare"]
    run.act(Answering(gate="g", value="yes", delivery="d1"))
    read_trace(run.log)
    events = [event for event in read_events(run.log) if event.actor == "p2"]
    assert not any(isinstance(event, Recorded) for event in events)
    sealed = [event for event in events if isinstance(event, Committed) and event.phase == "end"]
    assert [(event.unit, event.next) for event in sealed] == [("approve", ["publish"]), ("publish", [])]
    assert sealed[0].checkpoint == f"{sealed[1].checkpoint}:approve"
    assert sealed[1].parent == sealed[0].checkpoint
    # The answer is stored nowhere but in what the gate's unit came to, and the caller was told at the end.
    assert isinstance(events[-2], Answer)
    assert (events[-2].phase, events[-2].accepted) == ("end", True)
    (read,) = run.read()
    assert [c.id for c in read.checkpoints[1:]] == [event.checkpoint for event in sealed]
    assert read.checkpoints[1].digest == read.checkpoints[2].digest
    assert read.answers == {"g": ["yes"]}
    assert read.tokens[sealed[0].checkpoint] == sealed[1].checkpoint


def test_nodes_of_joined_instances() -> None:
    program = SCENARIOS["parallel-interrupts"].program
    one = Plan(program, ["x", "y"], "one-node")
    assert {node: [part.key for part in parts] for node, parts in one.nodes.items()} == {
        "approve": ["g@x", "e2@x", "g@y", "e2@y"]
    }
    side_by_side = Plan(program, ["x", "y"], "parallel")
    assert {node: [part.key for part in parts] for node, parts in side_by_side.nodes.items()} == {
        "approve@x": ["g@x", "e2@x"],
        "approve@y": ["g@y", "e2@y"],
    }
    assert side_by_side.layers == [["approve@x", "approve@y"]]
    assert side_by_side.last_outcome("y", {"g@y": "yes", "e2@y": "e2:1", "g@x": "no"}) == (True, "e2:1")
    assert side_by_side.last_outcome("x", {"g@x": "no"}) == (False, None)


def test_writes_that_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    writes = Writes(["loose"])
    for point in ("loose", "slow", "other"):
        writes.expect(point)
    writes.wait(["loose", "unheard-of"])
    timer = threading.Timer(0.05, writes.done, ["slow"])
    timer.start()
    writes.wait(["slow"])
    timer.join()
    monkeypatch.setattr("trace_check.recording.systems.langgraph.session.HOLD_SECONDS", 0.01)
    with pytest.raises(RecordingError, match=r"did not come to 'other' in 0\.01 s"):
        writes.wait(["other"])
    with pytest.raises(RecordingError, match="did not come to 'seal'"):
        writes.wait_before_node([], ["seal"])
    writes.done("early")
    writes.wait_for_seals(["early", "loose"])


def test_at_exit_only_checkpoints_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trace_check.recording.systems.langgraph.session.HOLD_SECONDS", 0.01)
    writes = Writes(at_exit=True)
    writes.expect("other")
    writes.wait_before_node(["other"], ["seal"])
    with pytest.raises(RecordingError, match="did not come to 'seal'"):
        writes.wait_for_seals(["seal"])
