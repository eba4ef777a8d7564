"""Traces written from within a program: the writer, and programs in a few words."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from resume_contract.manifest import ROOT
from trace_check import check_file
from trace_check.errors import RecordingError, TraceError
from trace_check.events import ProgramStep, ProgramUnit
from trace_check.program_text import read_program
from trace_check.reader import read_trace
from trace_check.writer import TraceWriter, start_trace, write_crash


def step(name: str, kind: str, *after: str) -> ProgramStep:
    return ProgramStep(step=name, kind=kind, after=list(after))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("effect a", {"u1": [step("a", "effect")]}),
        ("first: pure a | gate b", {"first": [step("a", "pure")], "u2": [step("b", "gate")]}),
        (
            "x: effect a;pure b || effect c ; gate d",
            {
                "x": [
                    step("a", "effect"),
                    step("b", "pure", "a"),
                    step("c", "effect", "a"),
                    step("d", "gate", "b", "c"),
                ]
            },
        ),
    ],
)
def test_programs_in_words(text: str, units: dict[str, list[ProgramStep]]) -> None:
    assert read_program(text) == [ProgramUnit(name=name, steps=steps) for name, steps in units.items()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "unit 1 of the program has 'nothing' where a kind (pure, effect, gate) and a name belong; write it",
        ),
        ("effect a | ", "unit 2 of the program has 'nothing' where"),
        ("effect a ; b", "unit 1 of the program has 'b' where"),
        ("task a", "unit 1 of the program has 'task a' where"),
        (": effect a", "unit 1 of the program has a colon and no name; write it"),
    ],
)
def test_words_that_are_no_program(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError) as caught:
        start_trace(tmp_path / "t.jsonl", program=text, observes="all")
    assert str(caught.value).startswith(message)
    assert not (tmp_path / "t.jsonl").exists()


def test_the_header_says_what_is_promised(tmp_path: Path) -> None:
    def observed(kinds: object) -> list[str]:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        start_trace(path, program="dynamic", observes=kinds)  # type: ignore[arg-type]
        with TraceWriter(path, "p1") as log:
            log.emit("computed", step="a", outcome=1, valid=True)
        header = read_trace(path).header
        assert header.program == "dynamic"
        return list(header.observes)

    assert observed("loaded, committed") == ["loaded", "committed"]
    assert observed(["loaded"]) == ["loaded"]
    assert observed("") == []
    assert len(observed("all")) == 12
    with pytest.raises(
        RecordingError, match="observes names 'store_read', no kind of action; the kinds are answer, "
    ):
        observed("loaded store_read")
    with pytest.raises(FileExistsError):
        start_trace(tmp_path / "0.jsonl", program="dynamic", observes="all")


def test_the_two_lines_of_an_operation(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    start_trace(path, program="gate g ; effect e", observes="all")
    with TraceWriter(path, "p1") as log:
        with log.operation("loaded") as load:
            load.end(checkpoint=None, index=0)
        with log.operation("parked", gate="g"):
            pass
        with log.operation("answer", gate="g", delivery="d1", value="yes") as answer:
            answer.refuse("delivery", error="Late")
        with pytest.raises(OSError, match="the disk is gone"), log.operation("recorded", step="e", outcome=1):
            raise OSError("the disk is gone")
    trace = read_trace(path)
    assert [(operation.begin, operation.end) for operation in trace.operations.values()] == [
        (0, 1),
        (2, 3),
        (4, 5),
        (6, None),
    ]
    assert [type(event).__name__ for event in trace.events] == [
        *("Loaded", "Loaded", "Parked", "Parked", "Answer", "Refused", "Recorded")
    ]


def test_what_an_event_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    start_trace(path, program="effect e", observes="all")
    with TraceWriter(path, "p1") as log:
        with pytest.raises(RecordingError, match="there is no event 'fired'; the kinds are answer, "):
            log.emit("fired")
        with pytest.raises(
            RecordingError, match="event 'computed': missing required argument 'outcome'; see docs"
        ):
            log.emit("computed", step="e")
        with pytest.raises(
            RecordingError, match="event 'recorded': unexpected keyword argument 'stp'; see docs"
        ):
            log.begin("recorded", stp="e", step="e", outcome=1)


def die(path: Path) -> None:
    log = TraceWriter(path, "p1")
    log.emit("effect_fired", step="e", key="k", applied=True)
    with log.operation("recorded", step="e", outcome=None):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, b'{"event":"record')  # a line that is never finished
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_in_an_operation(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    start_trace(path, program="effect e", observes="all")
    child = multiprocessing.get_context("spawn").Process(target=die, args=(path,))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    write_crash(path, "p1", signal="SIGKILL")
    write_crash(path, "p2", signal="SIGKILL")
    trace = read_trace(path)
    assert [(event.actor, event.seq, type(event).__name__) for event in trace.events] == [
        ("p1", 1, "EffectFired"),
        ("p1", 2, "Recorded"),
        ("p1", 3, "Crashed"),
        ("p2", 1, "Crashed"),
    ]
    (operation,) = trace.operations.values()
    assert operation.end is None


def test_a_closed_writer_writes_into_no_other_file(tmp_path: Path) -> None:
    start_trace(tmp_path / "trace.jsonl", program="effect charge", observes="all")
    log = TraceWriter(tmp_path / "trace.jsonl", "p1")
    log.close()
    with (tmp_path / "precious.txt").open("w") as precious:
        with pytest.raises(RecordingError, match="the event log is closed"):
            log.emit("completed", outcome="ok")
        log.close()
        precious.write("kept")
    assert (tmp_path / "precious.txt").read_text() == "kept"


WRONG: dict[str, tuple[str, dict[str, object]]] = {
    "a lone surrogate": ("recorded", {"outcome": "\ud800"}),
    "no number": ("recorded", {"outcome": float("nan")}),
    "an infinite number": ("recorded", {"outcome": float("-inf")}),
    "a fraction": ("recorded", {"outcome": 1.5}),
    "a long number": ("recorded", {"outcome": 10**5000}),
    "a long number with a sign": ("recorded", {"outcome": -(10**4299)}),
    "an object": ("recorded", {"outcome": object()}),
    "a list": ("recorded", {"outcome": ["a"]}),
    "a long text": ("recorded", {"outcome": "x" * 10_000_000}),
    "an empty name": ("recorded", {"step": ""}),
    "no name": ("recorded", {"step": None}),
    "what is known only later": ("gate_passed", {"gate": "g", "value": 1}),
    "one line as two": ("computed", {"step": "e", "outcome": 1, "valid": True}),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_reader_would_refuse_is_not_written(case: str, tmp_path: Path) -> None:
    kind, wrong = WRONG[case]
    path = tmp_path / "t.jsonl"
    start_trace(path, program="effect e", observes="all")
    before = path.read_bytes()
    fields = {"step": "e", "outcome": 1} | wrong if kind == "recorded" else wrong
    with TraceWriter(path, "p1") as log:
        with pytest.raises(RecordingError) as caught:
            log.begin(kind, **fields)
        assert len(str(caught.value).splitlines()) == 1
        assert path.read_bytes() == before
        with log.operation("recorded", step="e", outcome=1):
            pass
    assert [event.seq for event in read_trace(path).events] == [1, 2]


def test_an_end_that_a_reader_would_refuse_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    start_trace(path, program="effect e | gate g", observes="all")
    with TraceWriter(path, "p1") as log:
        with pytest.raises(RecordingError, match="'recorded' has neither 'phase' nor 'op'"):
            log.emit("recorded", step="e", outcome=1)
        recorded = log.begin("recorded", step="e", outcome=1)
        for fields, message in (
            ({"stp": "e"}, "event 'recorded': unexpected keyword argument 'stp'; see docs"),
            ({"step": "other"}, "operation 'p1.1' is about step 'e' and ends with 'other'; name"),
            ({"outcome": 2}, "operation 'p1.1' ends with another 'outcome' than it began with; repeat"),
            ({"outcome": float("inf")}, "event 'recorded' has the number inf, which JSON has not; write"),
        ):
            with pytest.raises(RecordingError) as caught:
                recorded.end(**fields)
            assert str(caught.value).startswith(message)
        with pytest.raises(RecordingError, match="is 'recorded' and ends as 'refused' of 'delivery'"):
            recorded.refuse("delivery")
        with pytest.raises(RecordingError, match="the field 'what' is wrong: invalid enum value 'nothing'"):
            recorded.refuse("nothing")
        recorded.end()
        with pytest.raises(RecordingError, match=r"operation 'p1\.1' has ended; give"):
            recorded.end()
        with log.operation("loaded") as load:
            with pytest.raises(RecordingError, match="the field 'index' of 'loaded' is missing"):
                load.end(checkpoint=None)
            load.end(checkpoint=None, index=0)
    trace = read_trace(path)
    assert [event.seq for event in trace.events] == [1, 2, 3, 4]
    assert all(operation.end is not None for operation in trace.operations.values())


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("effect a | effect a", "the program has two steps 'a'; number the occurrences apart"),
        ("u: effect a | u: effect b", "the program has two units 'u'; number the occurrences apart"),
        ("gate a ; gate b", "unit 'u1' has more than one gate; split the unit: one gate a unit"),
        ("effect \ud800", "the header cannot be written as JSON: "),
        ([], "the header: the field 'program' is wrong: expected array of length >= 1; "),
        ([ProgramUnit(name="u", steps=[])], "the header: the field 'program[0].steps' is wrong: "),
        (
            [ProgramUnit(name="u", steps=[step("a", "pure", "z")])],
            "step 'a' comes after 'z', no step of unit 'u'; name steps of the same unit only",
        ),
        (
            [ProgramUnit(name="u", steps=[step("a", "pure", "b"), step("b", "pure", "a")])],
            "the order of the steps of unit 'u' has a cycle; mend the 'after' lists",
        ),
    ],
)
def test_a_program_that_a_reader_would_refuse(
    program: str | list[ProgramUnit], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RecordingError) as caught:
        start_trace(tmp_path / "t.jsonl", program=program, observes="all")
    assert str(caught.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kept\nand kept", ":1: is no line of a trace: JSON is malformed"),
        ("kept", ": is no trace: it has no header; name a trace"),
        ("", ": is no trace: it has no header; name a trace"),
        (
            '{"event":"crashed","seq":1,"thread":"t","branch":"main","actor":"p","t":1}\n{',
            ":1: a trace has one",
        ),
        ("[" * 90_000 + "\nx", ":1: is no line of a trace: "),
    ],
)
def test_a_crash_is_written_to_a_trace_only(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "precious.txt"
    path.write_text(text)
    with pytest.raises(TraceError) as caught:
        write_crash(path, "p1", signal="SIGKILL")
    assert str(caught.value).startswith(f"{path}{message}")
    assert path.read_text() == text


def test_a_crash_after_a_blank_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    start_trace(path, program="effect e", observes="all")
    with path.open("a") as file:
        file.write('\n{"event":"eff')
    write_crash(path, "p1", signal="SIGKILL")
    assert [type(event).__name__ for event in read_trace(path).events] == ["Crashed"]


def test_the_script_of_the_page_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "in-your-ci.md").read_text(encoding="utf-8")
    section = page.split("## Without pytest\n")[1].split("\n## ")[0]
    signature, script, printed = re.findall(r"```(?:python)?\n(.*?)```", section, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == printed
    assert check_file(tmp_path / "order.jsonl").verdict == "violates"
    said = re.sub(r"\s+", " ", signature).replace("( ", "(").replace(" )", ")").strip()
    arguments = inspect.signature(start_trace).parameters.values()
    assert (
        said
        == "start_trace(path, *, "
        + ", ".join(
            a.name if a.default is a.empty else f'{a.name}="{a.default}"' for a in list(arguments)[1:]
        )
        + ")"
    )
    rows = {
        name
        for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert rows == set(inspect.signature(start_trace).parameters)
