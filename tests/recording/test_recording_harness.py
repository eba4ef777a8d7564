"""The harness, with real processes of a fake system: stops, kills, meetings, time-outs, and what it keeps."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import psutil
import pytest
from fake_system import NAME, scenario

from trace_check.errors import RecordingError
from trace_check.events import (
    Answer,
    Crashed,
    EffectFired,
    Event,
    GatePassed,
    ResumeFailed,
    ResumeGaveUp,
    StoreRead,
    event_kind,
)
from trace_check.reader import Trace, read_trace
from trace_check.recording import SCENARIOS, points, record
from trace_check.recording.scenarios import Answering, Run, Scenario, Stage, Start
from trace_check.recording.system import SYSTEMS

START = Stage(runs=[Run(actor="p1", action=Start())])


@pytest.fixture(autouse=True)
def _fake_in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def answers(*values: str, meet_at: tuple[str, ...] = (), at: Literal["head", "parked"] = "head") -> Stage:
    runs = [
        Run(actor=f"p{number}", action=Answering(gate="g", value=value, delivery=f"d{number}", at=at))
        for number, value in enumerate(values, start=2)
    ]
    return Stage(runs=runs, meet_at=list(meet_at))


def recorded(tmp_path: Path, what: Scenario) -> Trace:
    path = record(NAME, what, tmp_path)
    assert path == tmp_path / "fake-0" / "fake.jsonl"
    assert list(path.parent.iterdir()) == [path]
    return read_trace(path)


def lines(trace: Trace, actor: str) -> list[str]:
    return [event_kind(event) + (f" {event.phase}" if event.phase else "") for event in of(trace, actor)]


def of(trace: Trace, actor: str) -> list[Event]:
    return [event for event in trace.events if event.actor == actor]


def test_a_process_that_ends_by_itself(tmp_path: Path) -> None:
    trace = recorded(tmp_path, scenario(START))
    assert trace.header.system == "fake"
    assert trace.header.sink == "plain"
    assert trace.header.observes == ["answer", "effect_fired", "parked"]
    assert [(event.actor, event_kind(event), event.phase) for event in trace.events] == [
        ("p1", "effect_fired", None),
        ("p1", "parked", "begin"),
        ("p1", "parked", "end"),
        ("harness", "store_read", None),
    ]
    last = trace.events[-1]
    assert isinstance(last, StoreRead)
    assert [checkpoint.id for checkpoint in last.checkpoints] == ["c1"]
    assert last.open_interrupts == ["g"]


def test_sigkill_at_a_point(tmp_path: Path) -> None:
    killed = Stage(runs=[Run(actor="p1", action=Start(), kill_at=points.fired("e1"))])
    trace = recorded(tmp_path, scenario(killed, Stage(runs=[Run(actor="p2", action=Start())])))
    assert lines(trace, "p1") == ["effect_fired", "crashed"]
    crashed = of(trace, "p1")[-1]
    assert isinstance(crashed, Crashed)
    assert (crashed.signal, crashed.status) == ("SIGKILL", None)
    assert lines(trace, "p2") == ["effect_fired", "parked begin", "parked end"]
    reads = [event for event in trace.events if isinstance(event, StoreRead)]
    assert [len(read.checkpoints) for read in reads] == [0, 1]


def test_a_process_that_exits_with_a_status(tmp_path: Path) -> None:
    trace = recorded(tmp_path, scenario(START, answers("exit")))
    crashed = of(trace, "p2")[-1]
    assert isinstance(crashed, Crashed)
    assert (crashed.signal, crashed.status) == (None, 5)
    assert [operation.end for operation in trace.operations.values() if operation.op.startswith("p2")] == [
        None
    ]


def test_an_exception_is_a_failed_resume(tmp_path: Path) -> None:
    trace = recorded(tmp_path, scenario(START, answers("raise")))
    assert lines(trace, "p2") == ["answer begin", "resume_failed", "crashed"]
    failed = of(trace, "p2")[1]
    assert isinstance(failed, ResumeFailed)
    assert failed.error == "LookupError"


def test_racers_meet_behind_the_gate(tmp_path: Path) -> None:
    racers = answers("yes", "yes", "yes", meet_at=(points.STARTED, points.passed("g")))
    trace = recorded(tmp_path, scenario(START, racers))
    race = [event for event in trace.events if event.actor in ("p2", "p3", "p4")]
    begun = [n for n, event in enumerate(race) if isinstance(event, Answer) and event.phase == "begin"]
    passed = [n for n, event in enumerate(race) if isinstance(event, GatePassed)]
    assert len(begun) == len(passed) == 3
    assert max(begun) < min(passed)


def test_a_meeting_does_not_wait_for_the_dead(tmp_path: Path) -> None:
    racers = answers("exit", "yes", meet_at=(points.passed("g"),))
    trace = recorded(tmp_path, scenario(START, racers))
    assert lines(trace, "p2") == ["answer begin", "crashed"]
    assert lines(trace, "p3") == ["answer begin", "gate_passed", "answer end"]


def test_a_kill_at_a_meeting_lets_the_other_go_on(tmp_path: Path) -> None:
    meeting = points.passed("g")
    racers = Stage(
        runs=[
            Run(actor="p2", action=Answering(gate="g", value="yes", delivery="d1"), kill_at=meeting),
            Run(actor="p3", action=Answering(gate="g", value="yes", delivery="d1")),
        ],
        meet_at=[meeting],
    )
    trace = recorded(tmp_path, scenario(START, racers))
    assert lines(trace, "p2") == ["answer begin", "crashed"]
    assert lines(trace, "p3") == ["answer begin", "gate_passed", "answer end"]


def test_an_answer_goes_where_the_gate_was_parked(tmp_path: Path) -> None:
    trace = recorded(tmp_path, scenario(START, answers("yes", at="parked")))
    assert [event.value for event in trace.events if isinstance(event, GatePassed)] == ["c1"]


def test_a_process_that_hangs_is_given_up(tmp_path: Path) -> None:
    started = time.monotonic()
    trace = recorded(tmp_path, scenario(START, answers("hang"), timeout=3.0))
    assert time.monotonic() - started < 30
    assert lines(trace, "p2") == ["answer begin", "resume_gave_up", "crashed"]
    gave_up, crashed = of(trace, "p2")[1:]
    assert isinstance(gave_up, ResumeGaveUp)
    assert isinstance(crashed, Crashed)
    assert (gave_up.seconds, crashed.signal) == (3.0, "SIGKILL")


def test_an_effect_that_its_process_did_not_live_to_log_is_inferred(tmp_path: Path) -> None:
    trace = recorded(tmp_path, scenario(START, answers("die silently")))
    assert lines(trace, "p2") == ["answer begin", "effect_fired", "crashed"]
    effects = [event for event in trace.events if isinstance(event, EffectFired)]
    assert [(event.actor, event.inferred, event.key) for event in effects] == [
        ("p1", False, "k"),
        ("p2", True, "k"),
    ]


def test_a_line_that_its_process_did_not_live_to_finish_is_no_event(tmp_path: Path) -> None:
    trace = recorded(tmp_path, scenario(START, answers("tear")))
    assert lines(trace, "p2") == ["answer begin", "crashed"]
    crashed = of(trace, "p2")[1]
    assert isinstance(crashed, Crashed)
    assert crashed.signal == "SIGABRT"


def refusal(tmp_path: Path, system: str, what: str | Scenario) -> str:
    with pytest.raises(RecordingError) as caught:
        record(system, what, tmp_path)
    assert not list(tmp_path.iterdir())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_recorder_that_fails_ends_the_recording(tmp_path: Path) -> None:
    message = refusal(tmp_path, NAME, scenario(START, answers("fail", "hang")))
    assert message == "the recorder failed: the fake lost its pen; give it another; mend the recorder"
    mine = psutil.Process().children(recursive=True)
    assert [child for child in mine if "trace_check.recording.child" in " ".join(child.cmdline())] == []


def test_a_trace_that_breaks_the_format_is_not_kept(tmp_path: Path) -> None:
    message = refusal(tmp_path, NAME, scenario(START, answers("unknown gate")))
    assert message == (
        "the recorder wrote a trace that breaks the format (unknown step 'nowhere', line 7); "
        "record again; if it stays, mend the recorder"
    )


def test_unknown_names(tmp_path: Path) -> None:
    assert refusal(tmp_path, "cobol", "park-and-resume") == (
        f"unknown system 'cobol'; known are {', '.join(sorted(SYSTEMS))}"
    )
    assert refusal(tmp_path, NAME, "teleport") == (
        f"unknown scenario 'teleport'; known are {', '.join(sorted(SCENARIOS))}"
    )
    assert refusal(tmp_path, "fake_system:PROGRAM", scenario(START)) == (
        "fake_system:PROGRAM is no system; name a subclass of trace_check.recording.system.System"
    )
    assert refusal(tmp_path, "no_such_module:X", scenario(START)) == (
        "the system 'no_such_module:X' cannot be loaded (No module named 'no_such_module'); "
        "give it as module:class, with the module's folder in PYTHONPATH"
    )


def test_a_gate_that_never_parked_cannot_be_answered_there(tmp_path: Path) -> None:
    assert refusal(tmp_path, NAME, scenario(answers("yes", at="parked"))) == (
        "scenario 'fake' answers gate 'g' where it parked, and it never did; "
        "see what its earlier stages leave, or call it not applicable"
    )
