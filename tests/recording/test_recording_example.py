"""The recorder of `docs/writing-a-recorder.md` records what that page says, and a newcomer's command runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trace_check import check_file
from trace_check.errors import RecordingError
from trace_check.events import event_kind
from trace_check.reader import read_trace
from trace_check.recording import SCENARIOS, record
from trace_check.recording.system import load_system

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "own-recorder"
NAME = "journal_recorder:JournalSystem"


@pytest.fixture(autouse=True)
def _example_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLE))


def lines(path: Path, actor: str) -> list[str]:
    events = [event for event in read_trace(path).events if event.actor == actor]
    return [event_kind(event) + (f" {event.phase}" if event.phase else "") for event in events]


def test_the_command_of_the_page(tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "resume_contract", "trace", "record", NAME, "park-and-resume", "-o", str(tmp_path),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=True)
    path = tmp_path / "journal-0" / "park-and-resume.jsonl"
    assert done.stdout.splitlines() == [str(path)]
    assert lines(path, "p1") == [
        "loaded begin", "loaded end", "effect_fired", "committed begin", "committed end", "parked begin", "parked end",
    ]  # fmt: skip
    assert lines(path, "p2") == [
        "answer begin", "answer end", "loaded begin", "loaded end", "gate_passed", "effect_fired",
        "committed begin", "committed end", "completed",
    ]  # fmt: skip
    verdict = check_file(path)
    assert (verdict.verdict, verdict.clauses, verdict.explanations) == ("conforms", (), ((),))


def test_an_effect_fires_again_and_the_key_absorbs_it(tmp_path: Path) -> None:
    plain = check_file(record(NAME, "kill-after-effect", tmp_path))
    assert [(clause.clause, clause.certain) for clause in plain.clauses] == [("EO", True)]
    assert plain.explanations == (("ledger_ignored",), ("unkeyed_effect",))
    keyed = check_file(record(NAME, "kill-after-effect", tmp_path, sink="keyed"))
    assert (keyed.verdict, keyed.explanations) == ("conforms", ((),))


def test_a_second_answer_is_refused(tmp_path: Path) -> None:
    path = record(NAME, "second-answer-after-completion", tmp_path)
    assert lines(path, "p3") == ["answer begin", "answer end", "loaded begin", "loaded end", "completed"]
    assert check_file(path).verdict == "conforms"


def test_what_is_not_applicable_has_a_reason(tmp_path: Path) -> None:
    system = load_system(NAME)
    assert set(system.scenarios()) == set(SCENARIOS) - set(system.not_applicable())
    with pytest.raises(RecordingError) as caught:
        record(NAME, "fork-declared", tmp_path)
    assert str(caught.value) == (
        "scenario fork-declared is not applicable to journal with store file: "
        "it goes on from the end of its journal only; leave it out"
    )
