"""`resume-contract trace check --engine`: TLC alone, beside the mirror, late, and against it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Command, one_line

from resume_contract.progress import Report
from resume_contract.second_opinions import SecondOpinions
from trace_check.by_tlc.confirming import guides_of_trace
from trace_check.by_tlc.guiding import Guide
from trace_check.checker import Verdict
from trace_check.reader import Trace
from trace_check.streaming.generate import MODELS

CONFORMS = MODELS / "park-and-resume.jsonl"
VIOLATES = MODELS / "kill-after-effect.jsonl"
UNMODELLED = Path(__file__).parents[2] / "results" / "traces" / "langgraph-1.2.24" / "race-4x0s.jsonl.gz"


def test_both_engines_agree(command: Command) -> None:
    ended = command("trace", "check", VIOLATES, "--engine", "both", "--json")
    assert (ended.status, ended.err) == (1, "")
    (verdict,) = json.loads(ended.out)
    second = verdict["second_opinion"]
    assert verdict["explanations"] == second["explanations"] == [["unkeyed_effect"]]
    assert (second["engine"], second["agrees"], second["verdict"]) == ("tlc", True, "violates")
    assert second["clauses"] == [{"clause": "EO", "certain": True, "thread": "t1"}]
    assert (second["differences"], second["undecided"], second["runs"]) == ([], [], 1)
    assert second["distinct"] > 10
    assert second["seconds"] > 0


def test_tlc_alone(command: Command) -> None:
    """Nobody tells it how many faults it takes."""
    ended = command("trace", "check", CONFORMS, VIOLATES, "-e", "tlc")
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.splitlines() == [
        f"{CONFORMS}: conforms",
        f"{VIOLATES}: violates",
        "  EO is certainly broken, in thread t1",
        "  explained by unkeyed_effect",
    ]


def test_tlc_confirms_the_mirrors_explanations(command: Command) -> None:
    ended = command("trace", "check", VIOLATES, "--engine", "guided", "--json")
    assert (ended.status, ended.err) == (1, "")
    (verdict,) = json.loads(ended.out)
    second = verdict["second_opinion"]
    assert (second["engine"], second["agrees"]) == ("guided", True)
    (way,) = second["confirmed"]
    assert (way["thread"], way["faults"], way["unmodelled"]) == ("t1", ["unkeyed_effect"], [])
    (clause,) = verdict["clauses"]
    assert way["clauses"] == [{"clause": "EO", "event": clause["event"]}]
    assert way["steps"] == second["steps"] > 5
    assert (second["at_their_word"], second["differences"], second["undecided"], second["runs"]) == (
        [],
        [],
        [],
        1,
    )
    ended = command("trace", "check", CONFORMS, "-e", "guided")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[-1].startswith("  TLC confirms 1 explanation in ")


def test_what_is_taken_at_its_word_is_named(command: Command) -> None:
    ended = command("trace", "check", UNMODELLED, "--engine", "guided")
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.splitlines()[-1] == "  2 events are taken at their word, not confirmed: 35, 43"


def test_a_way_that_tlc_does_not_follow_is_a_difference(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shortened(trace: Trace, budget: int) -> list[Guide]:
        return [replace(guide, steps=guide.steps[1:]) for guide in guides_of_trace(trace, budget)]

    monkeypatch.setattr("trace_check.by_tlc.confirming.guides_of_trace", shortened)
    ended = command("trace", "check", VIOLATES, "--engine", "guided")
    assert ended.status == 1
    (line,) = [line for line in ended.out.splitlines() if "difference" in line]
    assert "TLC does not follow the explanation by unkeyed_effect to step 1 of " in line
    assert "confirms" not in ended.out
    ended = command("trace", "check", CONFORMS, "--engine", "guided")
    assert ended.status == 1
    assert "TLC does not follow the explanation by no fault to step 1 of " in ended.out


def test_the_mirror_alone_asks_nobody(command: Command) -> None:
    (verdict,) = json.loads(command("trace", "check", CONFORMS, "--json").out)
    assert "second_opinion" not in verdict


def test_a_difference_is_said_and_is_no_success(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = SecondOpinions.ask

    def ask_about_another(self: SecondOpinions, verdict: Verdict, report: Report) -> None:
        ask(self, replace(verdict, explanations=(("lost_commit",),), verdict="violates"), report)

    monkeypatch.setattr(SecondOpinions, "ask", ask_about_another)
    ended = command("trace", "check", VIOLATES, "--engine", "both")
    assert ended.status == 1
    assert (
        "  difference: explained by lost_commit by the mirror, by unkeyed_effect by TLC"
        in ended.out.splitlines()
    )
    assert "agrees" not in ended.out
    ended = command("trace", "check", CONFORMS, "--engine", "both")
    assert ended.status == 1
    assert "  difference: it violates by the mirror, it conforms by TLC" in ended.out.splitlines()


def test_late_is_undecided_and_never_agreement(command: Command) -> None:
    ended = command("trace", "check", CONFORMS, "--engine", "both", "--timeout", "0.05", "--json")
    assert ended.status == 2
    (verdict,) = json.loads(ended.out)
    assert verdict["verdict"] == "conforms"
    assert (verdict["second_opinion"]["agrees"], verdict["second_opinion"]["verdict"]) == (None, "undecided")
    (why,) = verdict["second_opinion"]["undecided"]
    assert "TLC was stopped after 0.05 s" in why
    assert one_line(ended.err) == f"{CONFORMS}: undecided by TLC: {why}"
    assert ".tla" not in ended.err
    guided = command("trace", "check", CONFORMS, "--engine", "guided", "--timeout", "0.05")
    assert guided.status == 2
    assert "undecided by TLC: thread t1: TLC was stopped after 0.05 s" in one_line(guided.err)
    alone = command("trace", "check", CONFORMS, "--engine", "tlc", "--timeout", "0.05")
    assert alone.status == 2
    assert str(CONFORMS) in one_line(alone.err)


@pytest.mark.parametrize("engine", ["tlc", "both", "guided"])
def test_a_file_that_is_no_trace(command: Command, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "none.jsonl"
    path.write_text("{}\n")
    ended = command("trace", "check", path, "--engine", engine)
    assert ended.status == 2
    assert f"{path}:1: " in one_line(ended.err)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--engine", "spin"], "engine spin is unknown: one of mirror, tlc, both, guided"),
        (["--engine", "both", "--timeout", "-1"], "timeout is -1.0 s: give a positive number of seconds"),
        (["--engine", "both", "--heap", "much"], "heap is 'much': give a size such as 512m or 4g"),
        (["--engine", "both", "--tlc-jar", "/none.jar"], "/none.jar"),
        (["--engine", "tlc", "--baseline", "known.json"], "TLC does not say at which event a clause breaks"),
    ],
    ids=["engine", "timeout", "heap", "jar", "baseline"],
)
def test_options_that_make_no_sense(command: Command, arguments: list[str], says: str) -> None:
    ended = command("trace", "check", CONFORMS, *arguments)
    assert ended.status == 2
    assert says in one_line(ended.err)
