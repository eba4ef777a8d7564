"""The harness, with real processes of a fake system: stops, kills, meetings, time-outs, and what it keeps."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import msgspec
import psutil
import pytest
from fake_system import NAME, scenario

from resume_contract.cli import run
from resume_contract.manifest import ROOT
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
        "put its folder on PYTHONPATH, and give it as module:class"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def (", "cannot be loaded (module 'own_system' raises SyntaxError: "),
        (
            "raise ValueError('no\\nway')",
            "cannot be loaded (module 'own_system' raises ValueError: no\\nway); mend",
        ),
        (
            "import sys; sys.exit(0)",
            "cannot be loaded (module 'own_system' raises SystemExit: 0); mend that module",
        ),
        ("raise KeyboardInterrupt", "cannot be loaded (module 'own_system' raises KeyboardInterrupt); mend"),
        (
            "raise BaseException('deep')",
            "cannot be loaded (module 'own_system' raises BaseException: deep); mend",
        ),
        (
            "class Own(System):\n    name, stores = 'own', ['json']\n"
            "    def __new__(cls, store): raise SystemExit(3)",
            "own_system:Own cannot be made (SystemExit: 3); mend its class",
        ),
        (
            "import no_such_thing",
            "cannot be loaded (No module named 'no_such_thing'); install what it imports",
        ),
        ("", "cannot be loaded (module 'own_system' has no 'Own'); give it as module:class"),
        ("class Own: pass", "own_system:Own is no system; name a subclass"),
        ("class Own(System):\n    name = 'own'", "own_system:Own is no whole system; give it name"),
        (
            "class Own(System):\n    name, stores = 'own', 'json'",
            "own_system:Own is no whole system; give it",
        ),
        (
            "class Own(System):\n    name, stores = 'own', ['json']",
            "own_system:Own cannot be made (TypeError: ",
        ),
    ],
)
def test_modules_that_have_no_system(
    text: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "own_system.py").write_text(f"from trace_check.recording.system import System\n{text}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_system", raising=False)
    for command in (["trace", "record", "own_system:Own", "all"], ["conform", "--system", "own_system:Own"]):
        assert run([*command, *(["-o", str(tmp_path / "out")] if "record" in command else [])]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert message in err
        assert err.count("\n") == 1
    monkeypatch.delitem(sys.modules, "own_system", raising=False)


def test_what_a_recorder_raises_is_no_violation(tmp_path: Path) -> None:
    (tmp_path / "own_system.py").write_text(
        "from trace_check.recording.system import System\n\n"
        "class Own(System):\n    name, stores, observes = 'own', ['json'], []\n"
        "    run = read_store = None\n"
        "    def scenarios(self):\n        raise ZeroDivisionError('in its own code')\n"
    )
    command = [sys.executable, "-m", "resume_contract", "trace", "record", "own_system:Own", "all"]
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("ZeroDivisionError: in its own code\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_ends_the_command_while_a_module_is_imported_is_not_told_of_the_module(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(
        f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-m", "resume_contract", "trace", "record", "slow:X", "all"]
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert re.fullmatch(
        r"error: (interrupted|asked to end): files of results are as they were\n", done.stderr
    )


@pytest.mark.parametrize(
    "name", [":", ":X", "fake_system:", ".:X", "..a:X", "a..b:X", "a:b:c", "\0:X", "fake_system:\n"]
)
def test_names_that_are_malformed(name: str, tmp_path: Path) -> None:
    assert "as module:class" in refusal(tmp_path, name, scenario(START))


def test_a_scenario_that_fails_does_not_keep_others_from_being_recorded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = scenario(START, name="good")
    bad = scenario(START, answers("fail"), name="bad")
    known = {"bad": bad, "good": good, "worse": msgspec.structs.replace(bad, name="worse")}
    monkeypatch.setattr("fake_system.FakeSystem.scenarios", lambda _: known)
    assert run(["trace", "record", NAME, "all", "-o", str(tmp_path)]) == 2
    out, err = capfd.readouterr()
    assert out == f"{tmp_path / 'fake-0' / 'good.jsonl'}\n"
    assert [line.partition(": ")[2].partition(": ")[0] for line in err.splitlines()] == ["bad", "worse"]
    assert err.count("the fake lost its pen") == 2
    monkeypatch.setattr("fake_system.FakeSystem.scenarios", lambda _: {})
    assert run(["trace", "record", NAME, "all", "-o", str(tmp_path)]) == 2
    assert "no scenario is applicable to it" in capfd.readouterr().err


def test_a_gate_that_never_parked_cannot_be_answered_there(tmp_path: Path) -> None:
    assert refusal(tmp_path, NAME, scenario(answers("yes", at="parked"))) == (
        "scenario 'fake' answers gate 'g' where it parked, and it never did; "
        "see what its earlier stages leave, or call it not applicable"
    )
