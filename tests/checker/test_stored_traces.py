"""The traces that are kept with the project have exactly the verdicts that are documented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trace_check.checker import Verdict, check_file
from trace_check.streaming.generate import MODELS


def verdict(path: Path) -> Verdict:
    found = check_file(path)
    assert found.error is None
    assert json.loads(json.dumps(found.to_json()))["verdict"] == found.verdict
    return found


def broken(found: Verdict) -> list[tuple[str, int, bool]]:
    return [(clause.clause, clause.event, clause.certain) for clause in found.clauses]


@pytest.mark.parametrize(
    "path", [MODELS / "park-and-resume.jsonl", MODELS / "races-crashes-and-a-fork.jsonl"]
)
def test_conforming(path: Path) -> None:
    found = verdict(path)
    assert (found.verdict, found.exit_status) == ("conforms", 0)
    assert (found.clauses, found.explanations, found.unmodelled) == ((), ((),), ())
    assert found.first_unexplained is None


def test_the_reference_trace_is_there_and_exercises_what_it_should() -> None:
    found = verdict(MODELS / "races-crashes-and-a-fork.jsonl")
    assert found.exercised == ("PC", "EO", "FD", "CV", "CO-V", "CO-C", "FI", "LV")


def test_kill_after_effect() -> None:
    found = verdict(MODELS / "kill-after-effect.jsonl")
    assert (found.verdict, found.exit_status) == ("violates", 1)
    second = fires(MODELS / "kill-after-effect.jsonl", "e1")[1]
    assert broken(found) == [("EO", second, True)]
    assert found.explanations == (("unkeyed_effect",),)
    first = found.first_unexplained
    assert first is not None
    assert (first.event, first.line, first.kind, first.closest) == (
        second,
        second + 1,
        "effect_fired",
        "Fire",
    )
    assert first.condition == "e1 was not applied before in branch main"
    assert (first.holding, first.conditions) == (3, 4)


def test_second_answer_at_an_old_checkpoint() -> None:
    path = MODELS / "second-answer-at-old-checkpoint.jsonl"
    found = verdict(path)
    assert found.verdict == "violates"
    fork = positions(path, "forked")[0]
    assert [(c, certain) for c, _, certain in broken(found)] == [("FI", True), ("CO-V", True)]
    assert found.clauses[0].event == fork
    assert found.clauses[1].event > fork
    assert found.explanations == (("fork_inherits_answer", "implicit_fork", "late_answer_recorded"),)
    first = found.first_unexplained
    assert first is not None
    assert (first.event, first.closest, first.condition) == (fork, "Fork", "the fork was declared")


def test_race() -> None:
    path = MODELS / "race-two-resumers.jsonl"
    found = verdict(path)
    assert found.verdict == "violates"
    assert {(c, certain) for c, _, certain in broken(found)} == {("CO-C", True), ("EO", True)}
    passed, fired = positions(path, "gate_passed")[1], fires(path, "e2")[1]
    assert all(passed <= event <= fired for _, event, _ in broken(found))
    assert found.exercised == ("PC", "EO", "CV", "CO-V", "CO-C", "LV")
    # The second firing comes while the first's record is under way: it may have ignored that, or have no key.
    assert found.explanations == (
        ("check_then_claim", "ledger_ignored"),
        ("check_then_claim", "unkeyed_effect"),
    )
    first = found.first_unexplained
    assert first is not None
    assert first.kind in ("gate_passed", "effect_fired")


def fires(path: Path, step: str) -> list[int]:
    return [n for n in positions(path, "effect_fired") if events(path)[n - 1]["step"] == step]


def positions(path: Path, kind: str) -> list[int]:
    return [n for n, event in enumerate(events(path), 1) if event["event"] == kind]


def events(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]
