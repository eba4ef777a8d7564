"""Small traces written by hand: each fault alone, LV, what nothing explains, and operations without an end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from script import Script, checkpoint, effect, gate, pure, unit

from trace_check.checker import Verdict
from trace_check.events import ACTION_KINDS

EFFECT_THEN_GATE = (unit("u1", effect("e1")), unit("u2", gate("g"), effect("e2", "g")))
UNSEEN_ANSWER = ACTION_KINDS - {"answer", "effect_fired", "committed", "recorded"}
PURE = (unit("u1", pure("p")), unit("u2", effect("e")))
GATE = (unit("u1", gate("g")), unit("u2", effect("e")))


def first_unit(script: Script, actor: str = "p1") -> None:
    script.load(actor, 0)
    script.fire(actor, "e1")
    script.record(actor, "e1")
    script.commit(actor, "u1", e1="ok")


def parked() -> Script:
    script = Script(*EFFECT_THEN_GATE)
    first_unit(script)
    script.park("p1", "g")
    return script


def answered_gate(*, passed: bool = False) -> Script:
    script = Script(*GATE)
    script.load("p1", 0)
    script.park("p1", "g")
    script.answer("client", "g", "d1", "yes")
    if passed:
        script.load("p2", 0)
        script.pass_gate("p2", "g", "yes")
    return script


def restart_from_earlier() -> tuple[Script, str]:
    script = parked()
    script.load("p2", 0)
    # the compare-and-set is on the length at the load, so this goes through and the unit stands twice
    script.commit("p2", "u1", e1="ok")
    return script, "PC"


def skip_uncommitted() -> tuple[Script, str]:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.fire("p1", "e")
    script.record("p1", "e")
    script.commit("p1", "u2", e="ok")
    return script, "PC"


def lost_commit() -> tuple[Script, str]:
    script = parked()
    script.load("p2", 1)
    script.crash("p2")
    script.read(waiting=["g"])
    return script, "PC"


def fired_again(sink: str, recorded: bool) -> tuple[Script, str]:
    script = Script(*EFFECT_THEN_GATE, sink=sink)
    script.load("p1", 0)
    script.fire("p1", "e1")
    if recorded:
        script.record("p1", "e1")
    script.crash("p1")
    script.load("p2", 0)
    script.fire("p2", "e1")
    return script, "EO"


def unkeyed_effect() -> tuple[Script, str]:
    return fired_again("plain", recorded=False)


def unstable_key() -> tuple[Script, str]:
    return fired_again("keyed", recorded=False)


def ledger_ignored() -> tuple[Script, str]:
    return fired_again("keyed", recorded=True)


def record_before_fire() -> tuple[Script, str]:
    script = Script(*EFFECT_THEN_GATE)
    script.load("p1", 0)
    script.record("p1", "e1")
    script.crash("p1")
    return script, "EO"


def fork_nondeterminism() -> tuple[Script, str]:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.commit("p1", "u1", p="a")
    script.fork(0, "child")
    script.load("p2", 0, "child")
    script.compute("p2", "p", "b", branch="child")
    script.record("p2", "p", "b", "child")
    script.commit("p2", "u1", "child", p="b")
    return script, "FD"


def fork_aliases_parent() -> tuple[Script, str]:
    script = answered_gate(passed=True)
    script.commit("p2", "u1", g="yes")
    script.fork(0, "child")
    script.load("p3", 0, "child")
    script.park("p3", "g", "child")
    script.answer("client", "g", "d2", "no", branch="child")
    script.load("p3", 0, "child")
    script.pass_gate("p3", "g", "no", "child")
    script.commit("p3", "u1", "child", g="no")
    script.read(checkpoint("u1", g="no"), answers={"g": ["yes"]})
    return script, "FD"


def invalid_persisted() -> tuple[Script, str]:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "bad", valid=False)
    script.record("p1", "p", "bad")
    script.commit("p1", "u1", valid=False, p="bad")
    return script, "CV"


def torn_checkpoint() -> tuple[Script, str]:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.begin("p1", "committed", **script.commit_fields("u1", p="a"))
    script.crash("p1")
    script.read(checkpoint(""))
    return script, "CV"


def late_answer_recorded() -> tuple[Script, str]:
    script = answered_gate(passed=True)
    script.commit("p2", "u1", g="yes")
    script.answer("client", "g", "d2", "no")
    return script, "CO-V"


def answer_replaced() -> tuple[Script, str]:
    script = answered_gate()
    script.answer("client", "g", "d2", "no")
    script.load("p2", 0)
    script.pass_gate("p2", "g", "no")
    return script, "CO-V"


def fork_inherits_answer() -> tuple[Script, str]:
    script = answered_gate()
    script.fork(0, "child")
    script.load("p2", 0, "child")
    script.pass_gate("p2", "g", "yes", "child")
    return script, "CO-V"


def lost_answer() -> tuple[Script, str]:
    script = answered_gate()
    script.load("p2", 0)
    script.crash("p2")
    script.read(waiting=["g"])
    return script, "CO-V"


def check_then_claim() -> tuple[Script, str]:
    script = parked()
    script.answer("client", "g", "d1", "yes")
    script.load("p2", 1)
    script.load("p3", 1)
    script.pass_gate("p2", "g", "yes")
    script.pass_gate("p3", "g", "yes")
    # both are the owner: what either of them does is taken, which no take-over explains
    script.fire("p2", "e2")
    script.record("p2", "e2")
    script.fire("p3", "e2", applied=False)
    script.record("p3", "e2")
    script.commit("p2", "u2", g="yes", e2="ok")
    return script, "CO-C"


def recompute_differs() -> tuple[Script, str]:
    script = Script(*PURE)
    script.load("p1", 0)
    script.load("p2", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.compute("p2", "p", "b")
    return script, "RD"


def implicit_fork() -> tuple[Script, str]:
    script = parked()
    script.fork(0, "child", declared=False)
    script.load("p2", 0, "child")
    return script, "FI"


FAULTS: list[Callable[[], tuple[Script, str]]] = [
    restart_from_earlier,
    skip_uncommitted,
    lost_commit,
    unkeyed_effect,
    unstable_key,
    ledger_ignored,
    record_before_fire,
    fork_nondeterminism,
    fork_aliases_parent,
    invalid_persisted,
    torn_checkpoint,
    late_answer_recorded,
    answer_replaced,
    fork_inherits_answer,
    lost_answer,
    check_then_claim,
    recompute_differs,
    implicit_fork,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_each_fault_alone(fault: Callable[[], tuple[Script, str]], tmp_path: Path) -> None:
    script, clause = fault()
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert [(c.clause, c.certain) for c in found.clauses] == [(clause, True)]
    assert (fault.__name__,) in found.explanations
    same = {"answer_replaced", "late_answer_recorded"}  # before a claim either may be what happened
    allowed = same if fault.__name__ in same else {fault.__name__}
    assert {name for names in found.explanations for name in names} <= allowed
    assert found.unmodelled == ()
    assert found.first_unexplained is not None


def test_a_restart_that_runs_recorded_work_again_is_two_faults(tmp_path: Path) -> None:
    script = parked()
    script.load("p2", 0)
    script.fire("p2", "e1")
    script.record("p2", "e1")
    found = script.check(tmp_path)
    assert found.explanations == (("ledger_ignored", "restart_from_earlier"),)
    assert [(c.clause, c.certain) for c in found.clauses] == [("EO", True)]


def inherited_after_the_last_line() -> Script:
    """A fork is answered that nobody was seen to park, by a process of which no line comes later."""
    script = answered_gate()
    script.fork(0, "child")
    script.load("p2", 0, "child")
    script.answer("client", "g", "d2", "no", branch="child")
    return script


def test_what_is_never_shown_may_come_after_the_last_line(tmp_path: Path) -> None:
    found = inherited_after_the_last_line().check(tmp_path)
    assert found.unmodelled == ()
    assert found.explanations == (
        ("answer_replaced", "fork_inherits_answer"),
        ("fork_inherits_answer", "late_answer_recorded"),
    )
    assert [(c.clause, c.certain) for c in found.clauses] == [("CO-V", True)]


def test_who_is_only_shown_to_end_may_have_worked(tmp_path: Path) -> None:
    """Loads and firings go unseen: the process that is only seen to die has fired the effect."""
    unseen = Script(unit("u1", effect("e1")), observes=ACTION_KINDS - {"loaded", "effect_fired"})
    unseen.crash("p1")
    unseen.load("p2", 0)
    unseen.fire("p2", "e1", applied=False)
    assert unseen.check(tmp_path).verdict == "conforms"
    shown = Script(unit("u1", effect("e1")), observes=ACTION_KINDS - {"effect_fired"})
    shown.crash("p1")
    shown.load("p2", 0)
    shown.fire("p2", "e1", applied=False)
    assert shown.check(tmp_path).verdict == "violates"


def test_what_comes_before_the_fault_conforms(tmp_path: Path) -> None:
    assert parked().check(tmp_path).verdict == "conforms"
    assert answered_gate(passed=True).check(tmp_path).verdict == "conforms"


@pytest.mark.parametrize("event", ["resume_gave_up", "resume_failed"])
def test_liveness(event: str, tmp_path: Path) -> None:
    script = Script(*EFFECT_THEN_GATE)
    script.load("p1", 0)
    script.crash("p1")
    fields = {"seconds": 5.0} if event == "resume_gave_up" else {"error": "Stuck"}
    number = script.line("p2", event, **fields)
    found = script.check(tmp_path)
    assert [(c.clause, c.event, c.certain) for c in found.clauses] == [("LV", number, True)]
    assert (found.explanations, found.unmodelled, found.first_unexplained) == (((),), (), None)
    assert found.exit_status == 1


def test_liveness_holds_where_the_branch_waits_is_done_or_is_held(tmp_path: Path) -> None:
    waiting = parked()
    waiting.line("p2", "resume_failed", error="NoAnswer")
    assert waiting.check(tmp_path).verdict == "conforms"
    held = Script(*EFFECT_THEN_GATE)
    held.load("p1", 0)
    held.line("p2", "resume_failed", error="Busy")
    held.fire("p1", "e1")
    assert held.check(tmp_path).verdict == "conforms"
    done = answered_gate(passed=True)
    done.commit("p2", "u1", g="yes")
    done.fire("p2", "e")
    done.record("p2", "e")
    done.commit("p2", "u2", e="ok")
    done.line("p3", "resume_failed", error="Done")
    assert done.check(tmp_path).verdict == "conforms"


def test_a_late_effect_of_the_dead_does_not_hide_that_nobody_is_there(tmp_path: Path) -> None:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.begin("p1", "recorded", step="p", outcome="a")
    script.crash("p1")
    number = script.line("p2", "resume_gave_up", seconds=5.0)
    found = script.check(tmp_path)
    assert [(c.clause, c.event) for c in found.clauses] == [("LV", number)]


def closest_of(found: Verdict) -> tuple[str, str, int | None]:
    first = found.first_unexplained
    assert first is not None
    return first.closest, first.condition, first.earlier and first.earlier.event


def test_what_a_refusal_lacks(tmp_path: Path) -> None:
    """Each kind of refusal stands for an action, and says what that lacks."""
    script = parked()
    script.load("p2", 1)
    answer = script.begin("client", "answer", gate="g", delivery="d1", value="yes")
    script.refuse(answer, "delivery")
    assert closest_of(script.check(tmp_path)) == (
        "refused Deliver",
        "gate g of branch main is not open",
        None,
    )
    script = Script(*EFFECT_THEN_GATE)
    script.refuse(script.begin("p1", "loaded"), "load")
    held = "branch main is at an end, waits for an answer, or is held by another process"
    assert closest_of(script.check(tmp_path)) == ("refused Load", held, None)
    script = Script(*EFFECT_THEN_GATE)
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.line("p1", "refused", what="record", error="Late", step="e1")
    late = "the record comes too late: branch main is at an end, or the claim has passed on"
    assert closest_of(script.check(tmp_path)) == ("Stale", late, None)
    script.lines.pop()
    script.line("p1", "refused", what="outcome", error="TypeError", step="e1")
    assert closest_of(script.check(tmp_path)) == ("Reject", "the outcome is invalid", None)
    script.lines.pop()
    script.record("p1", "e1")
    script.line("p1", "refused", what="commit", error="Late", unit="u2")
    assert closest_of(script.check(tmp_path)) == ("Stale", "p1 is in unit u2", None)
    script.lines.pop()
    script.line("p1", "refused", what="commit", error="Late", unit="u1")
    action, condition, _ = closest_of(script.check(tmp_path))
    assert (action, condition.partition(":")[0]) == ("Stale", "the commit comes too late")
    script = answered_gate()
    script.load("p2", 0)
    script.line("p2", "refused", what="gate", error="Held", gate="g")
    free = "gate g can't be parked, claimed or taken over"
    assert closest_of(script.check(tmp_path)) == ("Refuse", free, None)


def test_who_has_not_loaded_and_who_is_dead_are_told_so(tmp_path: Path) -> None:
    script = Script(*EFFECT_THEN_GATE)
    script.fire("p1", "e1")
    at_work = "p1 has loaded branch main, and is at work on it"
    assert closest_of(script.check(tmp_path)) == ("Fire", at_work, None)
    script = Script(*EFFECT_THEN_GATE)
    script.load("p1", 0)
    script.crash("p1")
    script.fire("p1", "e1")
    assert closest_of(script.check(tmp_path)) == ("Fire", at_work, 3)


def test_what_nothing_explains(tmp_path: Path) -> None:
    script = parked()
    script.load("p2", 1)
    number = script.pass_gate("p2", "g", "yes")
    script.fire("p2", "e2")
    found = script.check(tmp_path)
    assert (found.verdict, found.unmodelled) == ("violates", (number,))
    first = found.first_unexplained
    assert first is not None
    assert (first.event, first.line, first.closest) == (number, number + 1, "Claim")
    assert first.condition == "gate g is answered"
    assert (first.holding, first.conditions, first.candidates) == (3, 6, 1)


@pytest.mark.parametrize("length", [0, 1])
def test_a_commit_without_an_end_may_have_happened_or_not(length: int, tmp_path: Path) -> None:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.begin("p1", "committed", **script.commit_fields("u1", p="a"))
    script.crash("p1")
    script.read(*[checkpoint("u1", p="a")] * length)
    script.load("p2", length)
    assert script.check(tmp_path).verdict == "conforms"


def test_it_may_happen_after_the_process_is_gone(tmp_path: Path) -> None:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.begin("p1", "committed", **script.commit_fields("u1", p="a"))
    script.crash("p1")
    script.read()
    script.load("p2", 0)
    script.read(checkpoint("u1", p="a"))
    assert script.check(tmp_path).verdict == "conforms"
    script.read()  # but it can't be undone
    assert script.check(tmp_path).explanations == (("lost_commit",),)


def test_without_a_begin_it_did_not_happen(tmp_path: Path) -> None:
    script = Script(*PURE)
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.record("p1", "p", "a")
    script.crash("p1")
    number = script.read(checkpoint("u1", p="a"))
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert found.first_unexplained is not None
    assert found.first_unexplained.event == number
    assert found.first_unexplained.condition == "branch main has 1 checkpoints"


def overlapping(first_answer: str, passed: str) -> Script:
    """Two answers whose brackets overlap; one is accepted, and one passes."""
    script = Script(*GATE)
    script.load("p1", 0)
    script.park("p1", "g")
    one = script.begin("c1", "answer", gate="g", delivery="d1", value="yes")
    two = script.begin("c2", "answer", gate="g", delivery="d2", value="no")
    script.end(one, accepted=first_answer == "yes")
    script.end(two, accepted=first_answer == "no")
    script.load("p2", 0)
    script.pass_gate("p2", "g", passed)
    return script


@pytest.mark.parametrize("first", ["yes", "no"])
def test_overlapping_operations_have_either_order(first: str, tmp_path: Path) -> None:
    assert overlapping(first, first).check(tmp_path).verdict == "conforms"
    other = {"yes": "no", "no": "yes"}[first]
    assert overlapping(first, other).check(tmp_path).verdict == "violates"


def test_operations_that_do_not_overlap_keep_their_order(tmp_path: Path) -> None:
    script = Script(*GATE)
    script.load("p1", 0)
    script.park("p1", "g")
    number = script.answer("c1", "g", "d1", "yes", accepted=False)  # refused before anything was accepted
    script.answer("c2", "g", "d2", "no")
    found = script.check(tmp_path)
    assert found.unmodelled == (number,)


def test_an_acknowledged_repeat_of_a_commit_is_a_refused_one(tmp_path: Path) -> None:
    script = Script(*PURE)
    script.load("p1", 0)
    script.load("p2", 0)
    for actor in ("p1", "p2"):
        script.compute(actor, "p", "a")
        script.record(actor, "p", "a")
    script.commit("p1", "u1", p="a")
    script.commit("p2", "u1", p="a")
    script.read(checkpoint("u1", p="a"))
    assert script.check(tmp_path).verdict == "conforms"
    script.read(checkpoint("u1", p="a"), checkpoint("u1", p="a"))
    assert script.check(tmp_path).verdict == "violates"


def test_three_racers(tmp_path: Path) -> None:
    """Three processes deliver one answer at once; all are past the gate, and all fire."""
    script = Script(*EFFECT_THEN_GATE, sink="plain")
    first_unit(script)
    script.park("p1", "g")
    racers = [f"r{n}" for n in range(3)]
    begun = [script.begin(r, "answer", gate="g", delivery="d1", value="yes") for r in racers]
    for racer in racers:
        script.load(racer, 1)
    for racer in racers:
        script.pass_gate(racer, "g", "yes")
    for operation in begun:
        script.end(operation, accepted=True)
    for racer in racers:
        script.fire(racer, "e2")
    for racer in racers:
        script.record(racer, "e2")
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert {c.clause for c in found.clauses if c.certain} == {"EO", "CO-C"}
    assert found.explanations == (("check_then_claim", "unkeyed_effect"),)


def test_unordered_steps_of_one_process_may_interleave(tmp_path: Path) -> None:
    script = Script(unit("u1", effect("a"), effect("b")))
    script.load("p1", 0)
    script.fire("p1", "a")
    script.fire("p1", "b")
    script.record("p1", "a")
    script.record("p1", "b")
    script.commit("p1", "u1", a="ok", b="ok")
    assert script.check(tmp_path).verdict == "conforms"


def test_a_step_may_be_computed_as_often_as_it_likes(tmp_path: Path) -> None:
    script = Script(*PURE)
    script.load("p1", 0)
    for _ in range(300):
        script.compute("p1", "p", "x", valid=False)
        script.line("p1", "refused", what="outcome", error="TypeError", step="p")
    script.compute("p1", "p", "x")
    script.record("p1", "p", "x")
    assert script.check(tmp_path).verdict == "conforms"


def test_unseen_answers_leave_room_for_those_that_are_shown(tmp_path: Path) -> None:
    """Whatever was lost before: a search for what explains the reading tries that."""
    script = Script(unit("u1", gate("s1"), effect("s2", "s1")), observes=UNSEEN_ANSWER)
    script.op("p2", "loaded", end={"checkpoint": None, "index": 0})
    given = script.begin("client", "answer", gate="s1", delivery="d1", value="o1")
    script.park("p2", "s1")
    script.load("p1", 0)
    script.crash("p1")
    script.end(given, accepted=True)
    script.line(
        "harness",
        "store_read",
        checkpoints=[checkpoint("u1", valid=False, s1="o1", s2="o3")],
        answers={"s1": ["o1"]},
        open_interrupts=[],
    )
    assert script.check(tmp_path).verdict == "violates"


def test_liveness_holds_where_somebody_may_be_at_work_unseen(tmp_path: Path) -> None:
    """Of `p1` something is shown only later, so a look at those alone who come next finds nobody at work."""
    script = Script(*GATE, observes=ACTION_KINDS - {"loaded"})
    script.line("p2", "resume_failed", error="Busy")
    script.park("p1", "g")
    for delivery in "d1", "d2", "d3", "d4":
        script.answer("client", "g", delivery, "yes", accepted=delivery == "d1")
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations) == ("conforms", ((),))
    assert found.hidden_steps == 1  # it has loaded
