"""Races of many processes are decided, and by the same verdict whichever way the search goes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from races import GATE_ALONE, all_pass, one_passes, parked, random_race
from script import Script, effect, unit

from pymodel.resume.fault_names import fault_bits
from resume_contract.verdicts import verdict_lines
from trace_check import explaining
from trace_check.checker import Verdict, check_file
from trace_check.matching import Matcher
from trace_check.observations import Thread, threads
from trace_check.reader import read_trace
from trace_check.search import Search
from trace_check.steps import Steps
from trace_check.symmetry import loosen
from trace_check.trials.rendering import write

EXPLAINED = {"plain": (("check_then_claim", "unkeyed_effect"),), "keyed": (("check_then_claim",),)}


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("sink", ["plain", "keyed"])
def test_all_pass(sink: str, count: int, tmp_path: Path) -> None:
    found = all_pass(count, sink).check(tmp_path)
    assert found.verdict == "violates"
    assert found.smallest
    assert found.explanations == EXPLAINED[sink]
    assert found.unmodelled == ()
    broken = {"CO-C", "EO"} if sink == "plain" else {"CO-C"}
    assert {(clause.clause, clause.certain) for clause in found.clauses} == {(name, True) for name in broken}
    assert broken <= set(found.exercised)
    assert found.first_unexplained is not None
    kind = "effect_fired" if sink == "plain" else "recorded"
    assert found.first_unexplained.kind == kind


def one_passes_late(count: int) -> Script:
    """All but one pass; it passes once the first two of them have fired."""
    script = parked("plain")
    racers = [f"r{n}" for n in range(count)]
    for racer in racers:
        script.load(racer, 1)
        script.answer(racer, "g", "d1", "yes")
    for racer in racers[:-1]:
        script.pass_gate(racer, "g", "yes")
    for racer in racers[:2]:
        script.fire(racer, "e2")
    script.pass_gate(racers[-1], "g", "yes")
    for racer in racers[2:]:
        script.fire(racer, "e2")
    for racer in racers:
        script.record(racer, "e2")
    return script


@pytest.mark.parametrize("count", [4, 8, 16])
def test_who_passes_late_has_read_the_gate_before(count: int, tmp_path: Path) -> None:
    found = one_passes_late(count).check(tmp_path)
    assert (found.verdict, found.unmodelled) == ("violates", ())
    assert ("check_then_claim", "unkeyed_effect") in found.explanations
    assert ("EO", True) in {(clause.clause, clause.certain) for clause in found.clauses}


def test_what_plainly_violates_is_decided_where_nothing_is_proved_smallest(tmp_path: Path) -> None:
    found = all_pass(16, "plain").check(tmp_path, budget=100_000)
    assert found.verdict == "violates"
    assert not found.smallest
    assert found.explanations == EXPLAINED["plain"]
    certain = {clause.clause: clause.certain for clause in found.clauses}
    assert certain == {"EO": True, "CO-C": False}
    assert "a smaller explanation was not ruled out" in "\n".join(verdict_lines(found))
    assert found.to_json()["smallest"] is False


def test_what_does_not_plainly_violate_stays_unchecked(tmp_path: Path) -> None:
    found = all_pass(16, "keyed").check(tmp_path, budget=150)
    assert found.verdict == "unchecked"
    assert found.error is not None
    assert "raise it" in found.error


@pytest.mark.parametrize("count", [2, 8, 16])
def test_one_passes(count: int, tmp_path: Path) -> None:
    found = one_passes(count).check(tmp_path, budget=2_000)
    assert (found.verdict, found.explanations, found.clauses) == ("conforms", ((),), ())
    assert "CO-C" in found.exercised


def test_racers_that_get_nowhere_do_not_starve_where_there_is_another_way(tmp_path: Path) -> None:
    """Of the ways to explain a race without a fault one is clean, and the race conforms."""
    script = parked("keyed", GATE_ALONE)
    script.answer("client", "g", "d1", "yes")
    racers = [f"r{n}" for n in range(4)]
    begun = [script.begin(racer, "loaded") for racer in racers]
    for operation in begun:
        script.end(operation, checkpoint="c1", index=1)
    for racer in racers:
        script.pass_gate(racer, "g", "yes")
    begun = [script.begin(racer, "committed", **script.commit_fields("u2", g="yes")) for racer in racers]
    for operation in begun:
        script.end(operation)
    for racer in racers:
        script.line(racer, "resume_failed", error="Busy")
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations, found.clauses) == ("conforms", ((),), ())


def test_what_reads_a_gate_and_never_claims_it_breaks_nothing_for_certain(tmp_path: Path) -> None:
    script = parked("keyed", GATE_ALONE)
    script.answer("r0", "g", "d1", "yes")
    script.load("r0", 1)
    racers = [f"r{n}" for n in range(1, 4)]
    for racer in racers:
        script.answer(racer, "g", "d1", "yes")
    script.pass_gate("r0", "g", "yes")
    begun = [script.begin(racer, "loaded") for racer in racers]
    committed = script.begin("r0", "committed", **script.commit_fields("u2", g="yes"))
    for operation in begun:
        script.end(operation, checkpoint="c1", index=1)
    script.end(committed)
    for racer in racers:
        script.pass_gate(racer, "g", "yes")
    script.fire("r0", "e2")
    for racer in racers:
        script.begin(racer, "committed", **script.commit_fields("u2", g="yes"))
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations) == ("violates", (("check_then_claim",),))
    assert [(clause.clause, clause.certain) for clause in found.clauses] == [("CO-C", False)]


def test_who_dies_may_have_torn_the_checkpoint_before_another_commits(tmp_path: Path) -> None:
    script = parked("plain")
    script.answer("client", "g", "d1", "yes")
    script.load("r1", 1)
    script.pass_gate("r1", "g", "yes")
    script.fire("r1", "e2")
    loads = [script.begin(racer, "loaded") for racer in ("r0", "r2")]
    recorded = script.begin("r1", "recorded", step="e2", outcome="ok")
    script.end(loads[0], checkpoint="c1", index=1)
    script.end(recorded)
    script.end(loads[1], checkpoint="c1", index=1)
    script.pass_gate("r2", "g", "yes")
    committed = script.begin("r1", "committed", **script.commit_fields("u2", g="yes", e2="ok"))
    script.pass_gate("r0", "g", "yes")
    script.end(committed)
    script.crash("r0")
    script.crash("r2")
    found = script.check(tmp_path)
    assert (found.explanations, found.unmodelled) == ((("torn_checkpoint",),), ())
    assert [(clause.clause, clause.certain) for clause in found.clauses] == [("CV", True)]


def test_an_effect_that_is_seen_twice_breaks_for_certain_be_it_unmodelled(tmp_path: Path) -> None:
    script = Script(unit("u1", effect("e1")), sink="plain")
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.fire("p1", "e1")
    script.record("p1", "e1")
    found = script.check(tmp_path)
    assert found.unmodelled
    assert [(clause.clause, clause.certain) for clause in found.clauses] == [("EO", True)]


def said(found: Verdict) -> object:
    clauses = sorted((clause.clause, clause.certain) for clause in found.clauses)
    return found.verdict, clauses, found.explanations, found.unmodelled


def test_twins_change_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = set()
    for seed in range(40):
        rng = random.Random(seed)
        path = write(tmp_path / "race.jsonl", random_race(rng, 3).rendering())
        monkeypatch.setattr(explaining, "_FIRST_LOOK", 20_000)  # the trace as it is
        before = check_file(path, budget=20_000)
        monkeypatch.setattr(explaining, "_FIRST_LOOK", 0)  # with twins whenever there are some
        after = check_file(path, budget=20_000)
        assert before.verdict != "unchecked"
        assert said(before) == said(after), f"seed {seed}"
        verdicts.add(before.verdict)
    assert verdicts == {"conforms", "violates"}


def thread_of(path: Path) -> Thread:
    return threads(read_trace(path))[0]


def test_racers_are_twins_as_far_as_they_do_the_same(tmp_path: Path) -> None:
    loosened = loosen(thread_of(write(tmp_path / "race.jsonl", one_passes(5).rendering())))
    assert loosened is not None
    assert [len(twins.runners) for twins in loosened.twins] == [4]
    assert set(loosened.places) == {"r0", "r1", "r2", "r3"}
    [twins] = loosened.twins
    assert len(twins.stages) == 2  # they load, and are refused
    for stage in twins.stages:
        intervals = [(loosened.observations[i].low, loosened.observations[i].high) for i in stage]
        assert intervals == sorted(intervals)
        assert sorted(high for _, high in intervals) == [high for _, high in intervals]


def test_resumes_that_got_nowhere_are_part_of_what_twins_do(tmp_path: Path) -> None:
    script = one_passes(3)
    for actor in ("r0", "r1"):
        script.line(actor, "resume_failed", error="Busy")
    loosened = loosen(thread_of(write(tmp_path / "race.jsonl", script.rendering())))
    assert loosened is not None
    assert [(len(twins.runners), len(twins.stages)) for twins in loosened.twins] == [(2, 3)]
    script.line("r1", "resume_failed", error="Busy")  # once more, which no other one does
    assert loosen(thread_of(write(tmp_path / "race.jsonl", script.rendering()))) is None


def test_loosened_a_conforming_race_still_conforms(tmp_path: Path) -> None:
    """What is loosened allows all that the trace allows."""
    conforming = 0
    for seed in range(60):
        path = write(tmp_path / "race.jsonl", random_race(random.Random(seed), 3).rendering())
        thread = thread_of(path)
        loosened = loosen(thread)
        if loosened is None or check_file(path).verdict != "conforms":
            continue
        search = Search(Steps(Matcher(thread)), loosened.observations, loosened=loosened)
        assert search.run(20_000)
        assert [goal.faults for goal in search.found.goals] == [0]
        conforming += 1
    assert conforming >= 5


def test_who_is_absorbed_may_record_before_an_effect_is_applied_again(tmp_path: Path) -> None:
    """A dive into one set of faults misses no explanation because the first one to fire records nothing."""
    script = Script(unit("u1", effect("e1")))
    for actor, applied in (("p1", True), ("p2", False)):
        script.load(actor, 0)
        script.fire(actor, "e1", applied=applied)
    script.record("p2", "e1")
    script.load("p3", 0)
    script.fire("p3", "e1")
    thread = thread_of(write(tmp_path / "trace.jsonl", script.rendering()))
    dive = Search(Steps(Matcher(thread)), thread.observations, only=fault_bits(["ledger_ignored"]))
    assert dive.run(2_000)
    assert len(dive.found.goals) == 1
