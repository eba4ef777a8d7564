"""What nothing explains is taken at its word: what breaks by that is possible, never certain."""

from __future__ import annotations

from pathlib import Path

import pytest
from script import Script, checkpoint, effect, gate, unit

from resume_contract.verdicts import verdict_lines
from trace_check.checker import Verdict

PROGRAM = (unit("u1", effect("e1")), unit("u2", gate("g"), effect("e2", "g")))


def broken(found: Verdict) -> set[tuple[str, int, bool]]:
    return {(clause.clause, clause.event, clause.certain) for clause in found.clauses}


def sealed() -> Script:
    script = Script(*PROGRAM)
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.record("p1", "e1")
    script.commit("p1", "u1", e1="ok")
    return script


def test_a_store_that_shows_less_than_was_acknowledged(tmp_path: Path) -> None:
    """Without a crash: an acknowledged commit that is gone may break PC, and no fault says how."""
    script = sealed()
    read = script.read()
    found = script.check(tmp_path)
    assert (found.verdict, found.unmodelled, found.explanations) == ("violates", (read,), ((),))
    assert broken(found) == {("PC", read, False)}
    assert found.first_unexplained is not None
    assert found.first_unexplained.condition == "branch main has 0 checkpoints"
    assert f"  PC is possibly broken, at event {read}" in verdict_lines(found)


def test_a_summary_does_not_say_that_a_trace_is_explained_and_that_it_is_not(tmp_path: Path) -> None:
    script = Script(*PROGRAM)
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.crash("p1")
    script.load("p2", 0)
    script.fire("p2", "e1")
    script.record("p2", "e1")
    script.commit("p2", "u1", e1="ok")
    read = script.read()
    found = script.check(tmp_path)
    assert (found.explanations, found.unmodelled) == ((("unstable_key",),), (read,))
    lines = verdict_lines(found)
    explained = [line for line in lines if "explained by" in line]
    assert explained
    assert all(line.endswith(", but for 1 event") for line in explained)
    assert f"  no fault accounts for event {read} (line {read + 1}): taken at its word" in lines


def test_alternatives_are_said_to_be_alternatives() -> None:
    found = Verdict("x", "violates", explanations=(("a", "b"), ("c",), ("d",)))
    assert verdict_lines(found)[-3:] == ["  explained by a and b", "  or by c", "  or by d"]
    found = Verdict("x", "violates", explanations=(("a",), ("b",)), unmodelled=(4,), unmodelled_lines=(5,))
    assert verdict_lines(found)[2:4] == [
        "  explained by a, but for 1 event",
        "  or by b, but for 1 event",
    ]
    assert not any("by" in line for line in verdict_lines(Verdict("x", "conforms", explanations=((),))))


def test_a_store_that_shows_less_after_a_crash_is_explained(tmp_path: Path) -> None:
    script = sealed()
    script.crash("p1")
    script.read()
    found = script.check(tmp_path)
    assert (found.explanations, found.unmodelled) == ((("lost_commit",),), ())
    assert {(clause.clause, clause.certain) for clause in found.clauses} == {("PC", True)}


def test_an_answer_that_is_gone_without_a_crash(tmp_path: Path) -> None:
    script = sealed()
    script.park("p1", "g")
    script.answer("client", "g", "d1", "yes")
    read = script.read(checkpoint("u1", e1="ok"), waiting=["g"])
    found = script.check(tmp_path)
    assert (found.verdict, found.unmodelled) == ("violates", (read,))
    assert broken(found) == {("CO-V", read, False)}


def test_a_store_that_shows_more_than_anybody_committed(tmp_path: Path) -> None:
    script = sealed()
    read = script.read(checkpoint("u1", e1="ok"), checkpoint("u2", g="yes", e2="ok"))
    found = script.check(tmp_path)
    assert found.unmodelled == (read,)
    assert ("FD", read, False) in broken(found)


def test_after_it_the_rest_is_judged_by_what_it_said(tmp_path: Path) -> None:
    """The store was read to be empty: what is loaded next, and done, follows from that."""
    script = sealed()
    read = script.read()
    script.line("p1", "paused", signal="SIGSTOP")
    script.load("p2", 0)
    script.line("p2", "memo_used", step="e1")
    found = script.check(tmp_path)
    assert found.unmodelled == (read,)


@pytest.mark.parametrize(
    ("fields", "condition", "clauses"),
    [
        ({"next": ["u1"]}, "what it declares to come next is what the program says", set()),
        ({"unit": "u2", "steps": ["e2"]}, "the checkpoint seals all steps of unit u2", {"CV"}),
        ({"next": ["u2"]}, None, set()),
        ({"next": []}, None, set()),
        ({"steps": [], "outcomes": {}}, None, set()),
    ],
)
def test_a_commit_against_the_program(
    fields: dict[str, object], condition: str | None, clauses: set[str], tmp_path: Path
) -> None:
    script = Script(unit("u1", effect("e1")), unit("u2", effect("e2"), effect("e3", "e2")))
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.record("p1", "e1")
    usual = script.commit_fields("u1", e1="ok")
    if "unit" in fields:
        script.commit("p1", "u1", e1="ok")
        for step in ("e2", "e3"):
            script.fire("p1", step)
            script.record("p1", step)
        usual = script.commit_fields("u2", e2="ok")
    last = script.op("p1", "committed", **(usual | fields))
    found = script.check(tmp_path)
    if condition is None:
        assert (found.verdict, found.unmodelled) == ("conforms", ())
        return
    assert (found.verdict, found.unmodelled) == ("violates", (last,))
    assert found.first_unexplained is not None
    assert found.first_unexplained.condition == condition
    assert broken(found) == {(clause, last, False) for clause in clauses}
