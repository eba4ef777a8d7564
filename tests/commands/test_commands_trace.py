"""`resume-contract trace`: exit statuses, JSON, the diagram, and bad input."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, one_line

from resume_contract.errors import ResumeContractError
from resume_contract.manifest import ROOT
from resume_contract.sequence import moments_of
from resume_contract.trace_files import trace_files
from trace_check.reader import read_trace
from trace_check.streaming.generate import MODELS

CONFORMS = MODELS / "park-and-resume.jsonl"
VIOLATES = MODELS / "kill-after-effect.jsonl"
FIELDS = {
    "file",
    "verdict",
    "clauses",
    "explanations",
    "unmodelled",
    "first_unexplained",
    "exercised",
    "error",
}


def test_a_trace_that_conforms(command: Command) -> None:
    ended = command("trace", "check", CONFORMS)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        f"{CONFORMS}: conforms",
        "  puts to a test: PC, EO, CV, CO-V, LV; steps supposed: 1",
    ]


def test_a_trace_that_violates(command: Command) -> None:
    ended = command("trace", "check", VIOLATES)
    assert ended.status == 1
    assert ended.err == ""
    assert ended.out.splitlines()[:3] == [
        f"{VIOLATES}: violates",
        "  EO is certainly broken, at event 8",
        "  explained by unkeyed_effect",
    ]


def test_json_is_a_list_of_verdicts(command: Command) -> None:
    ended = command("trace", "check", CONFORMS, VIOLATES, "--json")
    assert ended.status == 1
    conforms, violates = json.loads(ended.out)
    assert conforms.keys() >= FIELDS
    assert (conforms["file"], conforms["verdict"], conforms["clauses"]) == (str(CONFORMS), "conforms", [])
    assert (violates["verdict"], violates["explanations"]) == ("violates", [["unkeyed_effect"]])
    (clause,) = violates["clauses"]
    assert (clause["clause"], clause["event"], clause["certain"]) == ("EO", 8, True)


def test_a_folder_stands_for_its_traces(command: Command) -> None:
    ended = command("trace", "check", MODELS, "--json")
    assert [Path(verdict["file"]).name for verdict in json.loads(ended.out)] == sorted(
        path.name for path in MODELS.glob("*.jsonl")
    )


def test_a_file_that_cannot_be_checked_does_not_hide_the_others(command: Command, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(CONFORMS.read_bytes()[:-10])
    ended = command("trace", "check", torn, CONFORMS, "--json")
    assert ended.status == 2
    assert [verdict["verdict"] for verdict in json.loads(ended.out)] == ["unchecked", "conforms"]
    assert one_line(ended.err).startswith(f"{torn}:")
    assert command("trace", "check", torn, "--allow-torn").status == 0


def test_a_budget_that_is_too_small(command: Command) -> None:
    ended = command("trace", "check", VIOLATES, "--budget", 1)
    assert ended.status == 2
    assert str(VIOLATES) in one_line(ended.err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "/nowhere.jsonl"], "/nowhere.jsonl: there is no such file"),
        (["show", "/nowhere.jsonl"], "/nowhere.jsonl: there is no such file"),
        (["check"], "Missing argument 'FILE...'"),
        (
            ["show", str(CONFORMS), "-o", "picture.gif"],
            "file picture.gif: format gif is unknown: one of svg, png",
        ),
        (["record", "nope", "all"], "unknown system 'nope'; known are "),
        ([], "Missing command."),
    ],
)
def test_bad_input(command: Command, arguments: list[str], message: str) -> None:
    ended = command("trace", *arguments)
    assert ended.status == 2
    assert one_line(ended.err).startswith(message)
    assert ended.out == ""


def test_a_folder_without_traces(command: Command, tmp_path: Path) -> None:
    ended = command("trace", "check", tmp_path)
    assert ended.status == 2
    assert one_line(ended.err) == f"{tmp_path}: no file in it ends in .jsonl or .jsonl.gz: name a trace"


def test_an_unknown_scenario_is_refused_before_anything_runs(command: Command, tmp_path: Path) -> None:
    ended = command("trace", "record", "reference", "all", "nope", "-o", tmp_path)
    assert ended.status == 2
    assert one_line(ended.err).startswith("scenario nope is unknown: one of ")
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_that_a_system_cannot_express_is_refused_with_its_reason(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "examples" / "own-recorder"))
    for system, store, scenario, why in (
        ("burr", [], "kill-after-record", "not applicable to burr with store sqlite: an action that runs"),
        (
            "journal_recorder:JournalSystem",
            [],
            "fork-declared",
            "not applicable to journal with store file: it goes on from the end of its journal only; leave it out",
        ),
        (
            "dbos",
            ["--store", "sqlite-shut-down"],
            "kill-after-effect",
            "not planned for dbos with store sqlite-shut-down: ",
        ),
    ):
        ended = command("trace", "record", system, scenario, *store, "-o", tmp_path)
        assert (ended.status, ended.out) == (2, "")
        assert one_line(ended.err).startswith(f"scenario {scenario} is {why}")
    assert list(tmp_path.iterdir()) == []


def test_recording_the_reference(command: Command, tmp_path: Path) -> None:
    ended = command("trace", "record", "reference", "all", "-o", tmp_path)
    assert ended.status == 0
    paths = [Path(line) for line in ended.out.splitlines()]
    assert paths
    assert all(path.is_file() and path.is_relative_to(tmp_path) for path in paths)
    assert command("trace", "check", tmp_path).status == 0


def test_recording_leaves_the_kept_traces_alone(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "results" / "traces" / "reference-1" / "park-and-resume.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept")
    ended = command("trace", "record", "reference", "park-and-resume")
    assert (ended.status, ended.out) == (0, "traces/reference-1/park-and-resume.jsonl\n")
    assert kept.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] in (["results", "traces"], ["traces", "results"])


def test_recording_a_framework(command: Command, tmp_path: Path) -> None:
    ended = command("trace", "record", "langgraph", "park-and-resume", "-o", tmp_path)
    assert ended.status == 0
    path = Path(ended.out.strip())
    assert path.is_relative_to(tmp_path)
    assert path.name == "park-and-resume.jsonl"
    assert command("trace", "check", path).status == 0


def test_the_diagram_marks_where_a_clause_breaks(command: Command) -> None:
    ended = command("trace", "show", VIOLATES)
    assert ended.status == 0
    rows = [line for line in ended.out.splitlines() if "✗ EO" in line]
    assert len(rows) == 1
    assert rows[0].split()[:2] == ["9", "main"]
    assert rows[0].rstrip().endswith("◆ ✗ EO")
    assert ended.out.rstrip().splitlines()[-6:] == command("trace", "check", VIOLATES).out.splitlines()
    assert "✗" not in command("trace", "show", VIOLATES, "--no-check").out


def test_every_event_has_a_place_in_the_diagram() -> None:
    trace = read_trace(CONFORMS)
    moments = moments_of(trace, {3: ("EO",)})
    assert [moment.line for moment in moments] == trace.lines
    assert [moment.actor for moment in moments] == [event.actor for event in trace.events]
    assert [at for at, moment in enumerate(moments) if moment.broken] == [3]
    assert moments[0].text == "▷ loaded"
    assert moments[1].text == "◁ loaded index=0"


@pytest.mark.parametrize(("name", "start"), [("trace.svg", b"<?xml"), ("trace.png", b"\x89PNG")])
def test_the_diagram_as_a_picture(command: Command, tmp_path: Path, name: str, start: bytes) -> None:
    ended = command("trace", "show", VIOLATES, "-o", tmp_path / name)
    assert (ended.status, ended.out) == (0, f"{tmp_path / name}\n")
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_with_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ResumeContractError, match=r"gone\.jsonl: is no regular file"):
        trace_files([tmp_path])


STEERING = "\x1b[31m\n\x9b\u202e"


def _renamed(value: Any, names: frozenset[str]) -> Any:
    """The same with something that steers a terminal in each of these names."""
    if isinstance(value, str):
        return value + STEERING if value in names else value
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    if isinstance(value, dict):
        return {_renamed(key, names): _renamed(one, names) for key, one in value.items()}
    return value


@pytest.fixture
def steering(tmp_path: Path) -> Path:
    """A trace that violates, whose names steer the terminal, as does the file's."""
    header, *events = [json.loads(line) for line in VIOLATES.read_text().splitlines()]
    names = {event[field] for event in events for field in ("thread", "actor", "delivery") if field in event}
    names |= {
        name for unit in header["program"] for name in (unit["name"], *(s["step"] for s in unit["steps"]))
    }
    names |= {header["system"], header["scenario"], header["store"]}
    told = [_renamed(line, frozenset(names - {"harness"})) for line in (header, *events)]
    path = tmp_path / f"trace{STEERING}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in told))
    return path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check"], 1),
        (["check", "--budget", "1"], 2),
        (["check", "--baseline", "known.json"], 1),
        (["show"], 0),
        (["show", "--thread", "none"], 2),
        (["shrink", "-o", "less.jsonl"], 0),
    ],
)
def test_names_that_steer_a_terminal_are_spelled_out(
    command: Command,
    steering: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    status: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("known.json").write_text('{"version": 1, "violations": []}')
    name, *options = arguments
    ended = command("trace", name, steering, *options)
    assert ended.status == status
    assert "\\x1b[31m" in ended.out + ended.err
    assert all(line.isprintable() for line in (ended.out + ended.err).split("\n"))
    if status == 2:
        one_line(ended.err)


def test_no_name_is_no_folder(command: Command) -> None:
    ended = command("trace", "check", "")
    assert (ended.status, ended.out) == (2, "")
    said = one_line(ended.err)
    assert said == "the name of a trace is empty: give a file, a folder, or - for standard input"


@pytest.fixture
def standard_input(tmp_path: Path) -> Iterator[Callable[[bytes], None]]:
    """Gives this process something on standard input."""
    before = os.dup(0)

    def give(data: bytes) -> None:
        (tmp_path / "given").write_bytes(data)
        with (tmp_path / "given").open("rb") as file:
            os.dup2(file.fileno(), 0)

    yield give
    os.dup2(before, 0)
    os.close(before)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_trace_on_standard_input(
    command: Command,
    standard_input: Callable[[bytes], None],
    pack: Callable[[bytes], bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()
    standard_input(pack(VIOLATES.read_bytes()))
    known = tmp_path / "known.json"
    ended = command("trace", "check", "-", "--write-baseline", known)
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.splitlines()[0] == "-: violates"
    standard_input(pack(VIOLATES.read_bytes()))
    ended = command("trace", "check", "-", CONFORMS, "-", "--baseline", known, "--json")
    assert ended.status == 0
    assert [one["file"] for one in json.loads(ended.out)] == ["-", str(CONFORMS), "-"]
    standard_input(VIOLATES.read_bytes()[:-10])
    ended = command("trace", "check", "-", "--allow-torn")
    assert ended.out.splitlines()[-1].startswith("  warning: -:")
    standard_input(b"")
    assert one_line(command("trace", "check", "-").err).startswith("-: the file is empty")
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize("arguments", [["show", "-"], ["shrink", "-", "-o", "less.jsonl"]])
def test_one_trace_on_standard_input(
    command: Command,
    standard_input: Callable[[bytes], None],
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    standard_input(gzip.compress(VIOLATES.read_bytes()))
    ended = command("trace", *arguments, "--json")
    assert (ended.status, ended.err) == (0, "")
    assert json.loads(ended.out)["file"] == "-"
    assert "resume-contract-" not in ended.out
    standard_input(VIOLATES.read_bytes()[:-10])
    assert one_line(command("trace", *arguments).err).startswith("-:28: the last line is cut short; ")
    assert one_line(command("trace", arguments[0], tmp_path, *arguments[2:]).err).startswith(
        f"{tmp_path}: is a folder; "
    )


@pytest.mark.parametrize("copies", [1, 300])
def test_a_trace_from_a_pipe(command: Command, copies: int, tmp_path: Path) -> None:
    """A large one is read twice."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    header, *events = VIOLATES.read_text().splitlines(keepends=True)
    data = header
    for number in range(copies):
        for event in map(json.loads, events):
            own = {name: f"{number}.{event[name]}" for name in ("thread", "actor", "op") if name in event}
            data += json.dumps(event | own) + "\n"
    writing = threading.Thread(target=pipe.write_text, args=(data,))
    writing.start()
    ended = command("trace", "check", pipe)
    writing.join()
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.splitlines()[:2] == [f"{pipe}: violates", "  EO is certainly broken, at event 8"]


def test_a_result_that_cannot_be_written_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "less.jsonl").mkdir()
    ended = command("trace", "shrink", VIOLATES, "-o", tmp_path / "less.jsonl")
    assert ended.status == 2
    assert one_line(ended.err).startswith(f"{tmp_path / 'less.jsonl'}: ")


def test_a_check_that_is_asked_to_end_says_so_in_a_line(tmp_path: Path) -> None:
    pipe = tmp_path / "run.jsonl"
    os.mkfifo(pipe)
    checking = subprocess.Popen(
        [sys.executable, "-m", "resume_contract", "trace", "check", str(pipe)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with pipe.open("wb"):  # once the check has opened it to read: it waits for lines
        checking.terminate()
        out, err = checking.communicate(timeout=60)
    assert (checking.returncode, out) == (143, "")
    assert err == "error: asked to end: files of results are as they were\n"


def test_a_command_that_is_asked_to_end_while_it_is_loaded_says_so(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, time\nos.kill(os.getpid(), 15)\ntime.sleep(60)\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "resume_contract", "trace", "check", str(CONFORMS)],
        env=os.environ | {"PYTHONPATH": paths}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (143, "")
    assert done.stderr == "error: asked to end: nothing was begun\n"
