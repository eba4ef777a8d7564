"""`resume-contract trace`: exit statuses, JSON, the diagram, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Command, one_line

from resume_contract.errors import ResumeContractError
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


def test_recording_the_reference(command: Command, tmp_path: Path) -> None:
    ended = command("trace", "record", "reference", "all", "-o", tmp_path)
    assert ended.status == 0
    paths = [Path(line) for line in ended.out.splitlines()]
    assert paths
    assert all(path.is_file() and path.is_relative_to(tmp_path) for path in paths)
    assert command("trace", "check", tmp_path).status == 0


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
