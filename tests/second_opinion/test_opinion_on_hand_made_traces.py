"""Cases that random traces seldom have, each with what it must come to by both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from asking import of_both
from script import Script, checkpoint, effect, gate, pure, unit

from trace_check.by_tlc.comparing import compare
from trace_check.by_tlc.opinion import Opinion, ThreadOpinion
from trace_check.by_tlc.running import Explanation
from trace_check.checker import BrokenClause, Verdict
from trace_check.events import ACTION_KINDS
from trace_check.reader import read_trace
from trace_check.trials.rendering import Line, write

UNITS = (unit("u1", effect("a"), pure("b")), unit("u2", gate("g"), effect("e", "g")))


def script(sink: str = "keyed", unseen: tuple[str, ...] = ()) -> Script:
    return Script(*UNITS, sink=sink, observes=ACTION_KINDS - set(unseen))


def first_unit(made: Script, actor: str) -> None:
    """What one process does that takes one step after the other."""
    made.load(actor, 0)
    made.fire(actor, "a")
    made.record(actor, "a")
    made.compute(actor, "b", "x")
    made.record(actor, "b", "x")
    made.commit(actor, "u1", a="ok", b="x")


def at_the_gate() -> Script:
    made = script()
    first_unit(made, "p1")
    made.park("p1", "g")
    made.answer("client", "g", "d1", "yes")
    return made


def a_fork_that_inherits_after_the_last_line() -> Script:
    """Nobody is seen to park the fork's gate, and of who came to it nothing is shown any more."""
    made = at_the_gate()
    made.fork(1, "child")
    made.load("p2", 1, "child")
    made.answer("client", "g", "d2", "no", branch="child")
    return made


def one_of_whom_only_the_end_is_shown() -> Script:
    """It has fired the effect, all unseen."""
    made = script(unseen=("loaded", "effect_fired"))
    made.crash("p1")
    made.load("p2", 0)
    made.fire("p2", "a", applied=False)
    return made


def two_steps_at_once() -> Script:
    """The process has begun the second step before the first is recorded: it is a crew."""
    made = script()
    made.load("p1", 0)
    made.fire("p1", "a")
    made.compute("p1", "b", "x")
    made.record("p1", "b", "x")
    made.record("p1", "a")
    made.commit("p1", "u1", a="ok", b="x")
    return made


def a_crew_that_dies() -> Script:
    """What it had in hand is lost; what was recorded is not run again."""
    made = script()
    made.load("p1", 0)
    made.fire("p1", "a")
    made.compute("p1", "b", "x")
    made.record("p1", "b", "x")
    made.crash("p1")
    made.load("p2", 0)
    made.fire("p2", "a", applied=False)
    made.record("p2", "a")
    made.commit("p2", "u1", a="ok", b="x")
    return made


def a_crew_that_commits_too_early() -> Script:
    made = script()
    made.load("p1", 0)
    made.fire("p1", "a")
    made.compute("p1", "b", "x")
    made.record("p1", "b", "x")
    made.commit("p1", "u1", a="ok", b="x")
    return made


def an_effect_applied_again(sink: str) -> Script:
    made = script(sink)
    made.load("p1", 0)
    made.fire("p1", "a")
    made.crash("p1")
    made.load("p2", 0)
    made.fire("p2", "a")
    made.record("p2", "a")
    return made


def an_effect_answered_otherwise(sink: str) -> Script:
    """Applied again, it has another outcome: the reference's sink gives the first answer again, whatever the fault."""
    made = script(sink)
    made.load("p1", 0)
    made.fire("p1", "a")
    made.crash("p1")
    made.load("p2", 0)
    made.fire("p2", "a", outcome="other")
    return made


def an_abandoned_claim() -> Script:
    """Whoever passed is dead, and a resume gets nowhere."""
    made = at_the_gate()
    made.load("p2", 1)
    made.pass_gate("p2", "g", "yes")
    made.crash("p2")
    made.load("p3", 1)
    made.line("p3", "refused", what="gate", gate="g", error="Taken")
    made.line("p3", "resume_gave_up", seconds=1.0)
    return made


def a_claim_that_somebody_has() -> Script:
    made = at_the_gate()
    made.load("p2", 1)
    made.pass_gate("p2", "g", "yes")
    made.load("p3", 1)
    made.line("p3", "refused", what="gate", gate="g", error="Taken")
    made.line("p3", "resume_gave_up", seconds=1.0)
    return made


def two_claims_that_both_count() -> Script:
    made = at_the_gate()
    for actor in ("p2", "p3"):
        made.load(actor, 1)
        made.pass_gate(actor, "g", "yes")
    made.fire("p2", "e")
    made.fire("p3", "e", applied=False)
    made.record("p2", "e")
    made.record("p3", "e")
    return made


def a_take_over() -> Script:
    """The first owner does nothing more: that may be a lease that has ended."""
    made = at_the_gate()
    for actor in ("p2", "p3"):
        made.load(actor, 1)
        made.pass_gate(actor, "g", "yes")
    made.fire("p3", "e")
    made.record("p3", "e")
    made.commit("p3", "u2", g="yes", e="ok")
    made.read(checkpoint("u1", a="ok", b="x"), checkpoint("u2", g="yes", e="ok"), answers={"g": ["yes"]})
    return made


def an_answer_replaced(*stored: str) -> Script:
    """A second answer was accepted, and the store is read."""
    made = at_the_gate()
    made.answer("client", "g", "d2", "no")
    made.read(checkpoint("u1", a="ok", b="x"), answers={"g": list(stored)}, waiting=["g"])
    return made


def a_load_that_is_refused(held: bool) -> Script:
    """Where another process is at work on the branch, that is all right."""
    made = at_the_gate()
    if held:
        made.load("p2", 1)
    begun = made.begin("p3", "loaded")
    said = {"what": "load", "error": "Busy"}
    made.lines.append(Line(len(made.lines), "p3", "refused", "main", said, "end", begun.op))
    return made


def a_memo_of_what_was_recorded_before() -> Script:
    made = script()
    made.load("p1", 0)
    made.fire("p1", "a")
    made.record("p1", "a")
    made.crash("p1")
    made.load("p2", 0)
    made.line("p2", "memo_used", step="a")
    made.compute("p2", "b", "x")
    return made


def an_answer_of_no_delivery() -> Script:
    """Nobody gave this answer where every answer is shown."""
    made = at_the_gate()
    made.load("p2", 1)
    made.pass_gate("p2", "g", "no")
    return made


def an_answer_unseen() -> Script:
    made = script(unseen=("answer",))
    first_unit(made, "p1")
    made.park("p1", "g")
    made.load("p2", 1)
    made.pass_gate("p2", "g", "no")
    return made


def a_commit_that_comes_too_late(branch: str = "main", **named: str) -> Script:
    """Refused is what p2 would commit, of a unit that p1 has sealed meanwhile: if the refusal names that."""
    made = script()
    made.load("p2", 0)
    made.fire("p2", "a")
    made.record("p2", "a")
    made.compute("p2", "b", "x")
    made.record("p2", "b", "x")
    made.load("p1", 0)
    made.commit("p1", "u1", a="ok", b="x")
    made.fork(1, "child")
    made.line("p2", "refused", branch, what="commit", error="Stale", **named)
    return made


def an_outcome_that_is_refused(step: str) -> Script:
    made = script()
    made.load("p1", 0)
    made.fire("p1", "a")
    made.record("p1", "a")
    made.compute("p1", "b", "x", valid=False)
    made.line("p1", "refused", what="outcome", error="TypeError", step=step)
    return made


def an_answer_that_is_refused(answered: bool) -> Script:
    """The end of the operation does not say of which gate; its begin does."""
    made = script()
    first_unit(made, "p1")
    made.park("p1", "g")
    if answered:
        made.answer("client", "g", "d1", "yes")
    made.refuse(made.begin("client2", "answer", gate="g", delivery="d2", value="no"), "delivery")
    return made


def a_commit_that_is_refused(unit_name: str, **outcomes: str) -> Script:
    made = script()
    made.load("p2", 0)
    first_unit(made, "p1")
    made.fire("p2", "a", applied=False)
    made.record("p2", "a")
    made.compute("p2", "b", "x")
    made.record("p2", "b", "x")
    made.refuse(made.begin("p2", "committed", **made.commit_fields(unit_name, **outcomes)), "commit")
    return made


def a_gate_that_is_refused(**named: str) -> Script:
    made = at_the_gate()
    made.load("p2", 1)
    made.load("p3", 1)
    made.pass_gate("p2", "g", "yes")
    made.line("p3", "refused", what="gate", error="Claimed", **named)
    return made


CASES: dict[str, tuple[Callable[[], Script], str, set[tuple[str, ...]], dict[str, bool]]] = {
    "a fork inherits": (
        a_fork_that_inherits_after_the_last_line,
        "violates",
        {("answer_replaced", "fork_inherits_answer"), ("fork_inherits_answer", "late_answer_recorded")},
        {"CO-V": True},
    ),
    "only its end is shown": (one_of_whom_only_the_end_is_shown, "conforms", {()}, {}),
    "two steps at once": (two_steps_at_once, "conforms", {()}, {}),
    "a crew dies": (a_crew_that_dies, "conforms", {()}, {}),
    "a crew commits too early": (a_crew_that_commits_too_early, "violates", set(), {}),
    "plain sink": (
        lambda: an_effect_applied_again("plain"),
        "violates",
        {("unkeyed_effect",)},
        {"EO": True},
    ),
    "keyed sink": (
        lambda: an_effect_applied_again("keyed"),
        "violates",
        {("unstable_key",)},
        {"EO": True},
    ),
    "answered otherwise, plain": (lambda: an_effect_answered_otherwise("plain"), "violates", set(), {}),
    "answered otherwise, keyed": (lambda: an_effect_answered_otherwise("keyed"), "violates", set(), {}),
    "an abandoned claim": (an_abandoned_claim, "violates", {()}, {"LV": True}),
    "a claim that somebody has": (a_claim_that_somebody_has, "conforms", {()}, {}),
    "two claims": (two_claims_that_both_count, "violates", {("check_then_claim",)}, {"CO-C": True}),
    "a take-over": (a_take_over, "conforms", {()}, {}),
    "the new answer is stored": (
        lambda: an_answer_replaced("no"),
        "violates",
        {("answer_replaced",)},
        {"CO-V": True},
    ),
    "both answers are stored": (
        lambda: an_answer_replaced("yes", "no"),
        "violates",
        {("answer_replaced",), ("late_answer_recorded",)},
        {"CO-V": True},
    ),
    "the old answer is stored": (lambda: an_answer_replaced("yes"), "violates", set(), {}),
    "a load refused, held": (lambda: a_load_that_is_refused(True), "conforms", {()}, {}),
    "a load refused, free": (lambda: a_load_that_is_refused(False), "violates", set(), {}),
    "a memo": (a_memo_of_what_was_recorded_before, "conforms", {()}, {}),
    "no delivery": (an_answer_of_no_delivery, "violates", set(), {}),
    "a commit refused": (lambda: a_commit_that_comes_too_late(unit="u1"), "conforms", {()}, {}),
    "a commit refused, not said which": (a_commit_that_comes_too_late, "conforms", {()}, {}),
    "another unit refused": (lambda: a_commit_that_comes_too_late(unit="u2"), "violates", set(), {}),
    "refused elsewhere": (lambda: a_commit_that_comes_too_late("child", unit="u1"), "violates", set(), {}),
    "a commit refused at its end": (
        lambda: a_commit_that_is_refused("u1", a="ok", b="x"),
        "conforms",
        {()},
        {},
    ),
    "a commit of another unit refused at its end": (
        lambda: a_commit_that_is_refused("u2", g="yes", e="ok"),
        "violates",
        set(),
        {},
    ),
    "an answer refused at its end": (lambda: an_answer_that_is_refused(True), "conforms", {()}, {}),
    "an answer refused at an open gate": (lambda: an_answer_that_is_refused(False), "violates", set(), {}),
    "a commit of a step refused": (lambda: a_commit_that_comes_too_late(step="b"), "conforms", {()}, {}),
    "a commit of another step refused": (
        lambda: a_commit_that_comes_too_late(unit="u1", step="e"),
        "violates",
        set(),
        {},
    ),
    "a gate and another step refused": (
        lambda: a_gate_that_is_refused(gate="g", step="e"),
        "violates",
        set(),
        {},
    ),
    "an outcome refused": (lambda: an_outcome_that_is_refused("b"), "conforms", {()}, {}),
    "another outcome refused": (lambda: an_outcome_that_is_refused("a"), "violates", set(), {}),
    "a gate refused": (lambda: a_gate_that_is_refused(gate="g", unit="u2"), "conforms", {()}, {}),
    "a gate refused in another unit": (lambda: a_gate_that_is_refused(unit="u1"), "violates", set(), {}),
    "an answer unseen": (an_answer_unseen, "conforms", {()}, {}),
}


def test_each_comes_to_what_it_must(tmp_path: Path) -> None:
    traces = [
        read_trace(write(tmp_path / f"{name}.jsonl", make().rendering()))
        for name, (make, *_) in CASES.items()
    ]
    for trace, verdict, opinion in of_both(traces):
        _, expected, explanations, clauses = CASES[trace.path.stem]
        (thread,) = opinion.threads
        assert (opinion.verdict, set(opinion.explanations), thread.clauses) == (
            expected,
            explanations,
            clauses,
        ), trace
        assert compare(trace, verdict, opinion) == ((), ()), trace


def test_a_crew_goes_on_behind_what_was_recorded_and_never_fired(tmp_path: Path) -> None:
    """TLC found that the mirror did not see this."""
    made = Script(unit("u1", effect("a"), effect("c"), pure("d", "c")))
    made.load("p1", 0)
    made.record("p1", "c")
    made.compute("p1", "d", "x")
    recording = made.begin("p1", "recorded", step="d", outcome="x")
    made.fire("p1", "a")
    made.record("p1", "a")
    made.end(recording)
    made.commit("p1", "u1", a="ok", c="ok", d="x")
    trace = read_trace(write(tmp_path / "crew.jsonl", made.rendering()))
    ((_, verdict, opinion),) = of_both([trace])
    assert verdict.explanations == opinion.explanations == (("record_before_fire",),)
    assert compare(trace, verdict, opinion) == ((), ())


def test_explanations_that_may_not_be_the_smallest_are_held_to_less(tmp_path: Path) -> None:
    made = Script(unit("u1", effect("a"), pure("d", "a")))
    made.load("p1", 0)
    trace = read_trace(write(tmp_path / "any.jsonl", made.rendering()))
    ways = (("unkeyed_effect",), ("ledger_ignored",), ("check_then_claim", "unkeyed_effect"))

    def differs(
        mine: tuple[str, ...], theirs: tuple[str, ...], *clauses: str, smallest: bool = False
    ) -> bool:
        verdict = Verdict(
            str(trace.path),
            "violates",
            clauses=(BrokenClause("EO", 1, certain=True, thread="t1"),),
            explanations=(mine,),
            smallest=smallest,
            threads=1,
        )
        thread = ThreadOpinion("t1", (Explanation(theirs, clauses),), tried=2)
        differences, undecided = compare(trace, verdict, Opinion(str(trace.path), (thread,)))
        assert undecided == ()
        return bool(differences)

    one, other, two = ways
    assert not differs(two, one, "EO")
    assert differs(two, one, "EO", smallest=True)
    assert not differs(two, two, "EO")
    assert differs(one, two, "EO"), "TLC needs more"
    assert differs(one, other, "EO"), "as small, and not among what TLC finds"
    assert differs(two, one, "CO-C"), "what is certain doesn't break by TLC"
