"""A few hundred trials of the checker, and what the trials themselves would notice.

The figures of many more are in `results/checker-trials.md`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from script import Script, checkpoint, effect, gate, pure, unit
from typer.testing import CliRunner

from pymodel.resume.model import FAULTS
from pymodel.resume.transitions import ACTIONS
from resume_contract.commands.trace import app
from trace_check.checker import Verdict, check_file
from trace_check.trials import running
from trace_check.trials.rendering import write
from trace_check.trials.running import Trials, faulty_case, reference_case, run_trials
from trace_check.trials.visible import plainly_broken


def test_a_few_hundred_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = run_trials(160, first=20_000)
    assert (trials.error_count, trials.errors) == (0, [])
    assert trials.reference["conforms"] >= 152
    assert set(trials.reference) <= {"conforms", "unchecked", "shows nothing"}
    assert trials.hidden >= 40
    assert trials.pending >= 40
    assert set(trials.actions) == set(ACTIONS)
    assert trials.faulty["violates"] >= 104
    assert set(trials.by_fault) == set(FAULTS)
    for fault, counts in trials.by_fault.items():
        assert counts.behaviours == counts.rejected + counts.unseen + counts.unchecked, fault
        assert counts.rejected >= counts.plain - counts.unchecked, fault
    assert sum(counts.plain for counts in trials.by_fault.values()) >= 55


def test_cases_are_the_same_every_time() -> None:
    for one, two in (
        (reference_case(7), reference_case(7)),
        (faulty_case("lost_commit", 3), faulty_case("lost_commit", 3)),
    ):
        assert one[1].events() == two[1].events()


PROGRAM = (unit("u1", effect("e1"), pure("c")), unit("u2", gate("g")))


def twice_applied(script: Script) -> None:
    script.fire("p1", "e1")
    script.fire("p1", "e1")


def two_outcomes(script: Script) -> None:
    script.compute("p1", "c", "a")
    script.compute("p1", "c", "b")


def two_answers(script: Script) -> None:
    script.answer("x", "g", "d1", "yes")
    script.answer("y", "g", "d2", "yes")


@pytest.mark.parametrize(
    ("add", "clauses"),
    [
        (twice_applied, {"EO"}),
        (two_outcomes, {"RD"}),
        (two_answers, {"CO-V"}),
        (lambda s: s.fork(0, "b2", declared=False), {"FI"}),
        (lambda s: s.commit("p1", "u1", valid=False, e1="ok"), {"CV"}),
        (lambda s: s.read(checkpoint("")), {"CV"}),
        (lambda s: s.read(checkpoint("u2")), {"PC"}),
        (lambda s: s.read(checkpoint("u1"), checkpoint("u1")), {"PC"}),
        (lambda s: s.read(checkpoint("u1"), checkpoint("u2")), set()),
        (lambda s: s.fire("p1", "e1", applied=False), set()),
    ],
)
def test_what_is_plain_in_the_lines(add: object, clauses: set[str]) -> None:
    script = Script(*PROGRAM)
    script.fire("p0", "c")
    assert plainly_broken(script.rendering()) == frozenset()
    assert callable(add)
    add(script)
    assert plainly_broken(script.rendering()) == clauses


def judged(monkeypatch: pytest.MonkeyPatch, verdict: Verdict) -> Trials:
    monkeypatch.setattr(running, "check_file", lambda *_, **__: verdict)
    return run_trials(20)


def test_a_false_alarm_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = judged(monkeypatch, Verdict("x", "violates", explanations=(("lost_commit",),)))
    assert "seed 0: a behaviour of the reference violates: (('lost_commit',),)" in trials.errors


def test_what_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = judged(monkeypatch, Verdict("x", "unchecked", error="x:1: the header is wrong"))
    assert trials.error_count == 40
    assert set(trials.reference) == {"cannot be checked: the header is wrong"}


def test_what_is_unchecked_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = judged(monkeypatch, Verdict("x", "unchecked", error="x: the search budget is used up"))
    assert (trials.error_count, trials.reference, trials.faulty) == (0, {"unchecked": 20}, {"unchecked": 20})
    assert len(trials.unchecked) == 20
    assert trials.unchecked[:2] == ["seed 0", "seed 1"]
    assert trials.to_json()["unchecked"] == trials.unchecked


def test_a_deviation_that_is_plain_and_conforms_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = judged(monkeypatch, Verdict("x", "conforms", explanations=((),)))
    assert trials.error_count == sum(counts.plain for counts in trials.by_fault.values()) > 0
    assert all("it conforms, and its lines break" in error for error in trials.errors)


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (Verdict("x", "violates", explanations=(("a", "b", "c"),)), "explained by (('a', 'b', 'c'),)"),
        (Verdict("x", "violates", explanations=((),), unmodelled=(4,)), "event 4 is unmodelled"),
    ],
)
def test_what_else_is_an_error(monkeypatch: pytest.MonkeyPatch, verdict: Verdict, text: str) -> None:
    monkeypatch.setattr(running, "_SHOWN_ERRORS", 40)
    trials = judged(monkeypatch, verdict)
    assert sum(text in error for error in trials.errors) == 20


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["trials", "--count", "20", "--write", "--json"])
    assert ran.exit_code == 0, ran.output
    found = json.loads((tmp_path / "results/checker-trials.json").read_text())
    assert json.loads(ran.stdout) == found
    assert (found["count"], found["error_count"]) == (20, 0)
    assert sum(found["reference"]["verdicts"].values()) == 20
    page = (tmp_path / "results/checker-trials.md").read_text()
    assert page.startswith("# Trials of the trace checker\n")
    assert all(f"| `{fault}` | 1 |" in page for fault in FAULTS)


@pytest.mark.parametrize(
    ("fault", "seed", "explained"),
    [
        # Two outcomes on one branch: a fork that has either of them does not deviate.
        ("recompute_differs", 56, ("recompute_differs",)),
        ("recompute_differs", 188, ("recompute_differs",)),
        # After a lost commit the claim is free again, and still nobody gets it.
        ("orphaned_claim", 341, ("lost_commit", "orphaned_claim")),
    ],
)
def test_what_trials_have_found(fault: str, seed: int, explained: tuple[str, ...], tmp_path: Path) -> None:
    _, rendering = faulty_case(fault, seed)
    found = check_file(write(tmp_path / "trace.jsonl", rendering))
    assert (found.verdict, found.explanations, found.unmodelled) == ("violates", (explained,), ())
