"""Traces whose header says "dynamic": the program is learned, and judged by what the checkpoints declare."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from script import Script

from pymodel.resume.layout import Bounds
from pymodel.resume.program import PROGRAMS
from trace_check.checker import Verdict, check_file
from trace_check.events import ACTION_KINDS, CheckpointRead
from trace_check.learning import NEEDED
from trace_check.observations import Thread, threads
from trace_check.reader import read_trace
from trace_check.trials.programs import random_bounds, random_program
from trace_check.trials.rendering import random_behaviour, render, write


class Dynamic(Script):
    """A script without a program, whose commits say what comes next."""

    def __init__(self, *, sink: str = "keyed", observes: frozenset[str] = ACTION_KINDS) -> None:
        super().__init__(sink=sink, observes=observes)
        self.header = msgspec.structs.replace(self.header, program="dynamic")

    def seal(
        self,
        actor: str,
        unit: str,
        following: list[str],
        checkpoint: str,
        parent: str | None,
        branch: str = "main",
        **outcomes: str,
    ) -> int:
        fields: dict[str, Any] = {
            "unit": unit,
            "steps": list(outcomes),
            "outcomes": outcomes,
            "checkpoint": checkpoint,
            "parent": parent,
            "valid": True,
            "next": following,
        }
        return self.op(actor, "committed", branch, **fields)

    def go_on(self, actor: str, checkpoint: str, index: int, branch: str = "main") -> int:
        return self.op(actor, "loaded", branch, {"checkpoint": checkpoint, "index": index})

    def pure(self, actor: str, step: str, outcome: str = "ok", branch: str = "main") -> None:
        self.compute(actor, step, outcome, branch=branch)
        self.record(actor, step, outcome, branch=branch)

    def effect(self, actor: str, step: str, outcome: str = "ok", branch: str = "main") -> None:
        self.fire(actor, step, branch=branch, outcome=outcome)
        self.record(actor, step, outcome, branch=branch)


def stored(*sealed: tuple[str, str, str]) -> list[CheckpointRead]:
    """Checkpoints as the store shows them: id, unit, step; each step's outcome is "ok"."""
    parents = [None, *(one[0] for one in sealed)]
    return [
        CheckpointRead(
            id=name,
            parent=parent,
            unit=unit,
            outcomes={step: "ok"},
            digest="-",
            valid=True,
            complete=True,
            next=[],
        )
        for (name, unit, step), parent in zip(sealed, parents, strict=False)
    ]


def learned(script: Script, folder: Path) -> Thread:
    [thread] = threads(read_trace(write(folder / "trace.jsonl", script.rendering())))
    return thread


def units(thread: Thread) -> list[list[tuple[str, str, tuple[str, ...]]]]:
    return [[(step.name, step.kind, step.after) for step in unit] for unit in thread.program.units]


def broken(found: Verdict) -> set[tuple[str, bool]]:
    return {(clause.clause, clause.certain) for clause in found.clauses}


def straight() -> Dynamic:
    """a, then b, then c."""
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    script.pure("p1", "b1")
    script.seal("p1", "b", ["c"], "k2", "k1", b1="ok")
    script.effect("p1", "c1")
    script.seal("p1", "c", [], "k3", "k2", c1="ok")
    return script


def test_a_straight_line_conforms(tmp_path: Path) -> None:
    script = straight()
    script.line("p1", "completed", outcome="ok")
    script.read(*stored(("k1", "a", "a1"), ("k2", "b", "b1"), ("k3", "c", "c1")))
    thread = learned(script, tmp_path)
    assert thread.units == {"a": 1, "b": 2, "c": 3}
    assert units(thread) == [[("a1", "effect", ())], [("b1", "pure", ())], [("c1", "effect", ())]]
    assert thread.unpromised == frozenset()
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations, found.hidden_steps) == ("conforms", ((),), 0)
    assert {"PC", "CV", "EO", "LV"} <= set(found.exercised)


def test_a_crash_and_a_resume_conform(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    script.compute("p1", "b1", "ok")
    script.crash("p1")
    script.go_on("p2", "k1", 1)
    script.pure("p2", "b1")
    script.seal("p2", "b", [], "k2", "k1", b1="ok")
    script.line("p2", "completed", outcome="ok")
    found = script.check(tmp_path)
    assert (found.verdict, found.hidden_steps) == ("conforms", 0)
    assert "RD" in found.exercised


def test_recomputing_another_outcome_breaks_rd(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.pure("p1", "a1", "one")
    script.crash("p1")
    script.go_on("p2", "k0", 0)
    script.compute("p2", "a1", "two")
    script.seal("p2", "a", [], "k1", None, a1="one")
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert ("RD", True) in broken(found)


@pytest.mark.parametrize("is_run", [True, False])
def test_a_skipped_unit_breaks_pc(is_run: bool, tmp_path: Path) -> None:
    """`a` declares `b`; what is sealed is `c`.  Whether b's step was run before makes no difference to that."""
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    if is_run:
        script.pure("p1", "b1")
    script.effect("p1", "c1")
    last = script.seal("p1", "c", [], "k3", "k1", c1="ok")
    assert list(learned(script, tmp_path).units) == ["a", "b", "c"]
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations) == ("violates", (("skip_uncommitted",),))
    assert [(clause.clause, clause.event, clause.certain) for clause in found.clauses] == [("PC", last, True)]
    assert found.unmodelled == ()


def test_a_repeated_unit_breaks_pc(tmp_path: Path) -> None:
    """After a crash `b`, which is sealed already and was not declared to come again, is sealed once more."""
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    script.pure("p1", "b1")
    script.seal("p1", "b", ["c"], "k2", "k1", b1="ok")
    script.crash("p1")
    script.go_on("p2", "k1", 1)
    script.compute("p2", "b1", "ok")
    script.record("p2", "b1")
    script.seal("p2", "b", ["c"], "k2b", "k1", b1="ok")
    script.read(*stored(("k1", "a", "a1"), ("k2", "b", "b1"), ("k2b", "b", "b1")))
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert broken(found) == {("PC", True)}
    assert all("restart_from_earlier" in names for names in found.explanations)


def test_a_loop_is_unrolled(tmp_path: Path) -> None:
    """`agent` declares `tools` and `tools` declares `agent`: each turn is a unit of its own."""
    script = Dynamic()
    script.load("p1", 0)
    script.pure("p1", "call", "use a tool")
    script.seal("p1", "agent", ["tools"], "k1", None, call="use a tool")
    script.effect("p1", "run", "first")
    script.seal("p1", "tools", ["agent"], "k2", "k1", run="first")
    script.crash("p1")
    script.go_on("p2", "k2", 2)
    script.pure("p2", "call", "use another")
    script.seal("p2", "agent", ["tools"], "k3", "k2", call="use another")
    script.effect("p2", "run", "second")
    script.seal("p2", "tools", ["agent"], "k4", "k3", run="second")
    script.pure("p2", "call", "done")
    script.seal("p2", "agent", [], "k5", "k4", call="done")
    script.line("p2", "completed", outcome="done")
    thread = learned(script, tmp_path)
    assert list(thread.units) == ["agent", "tools", "agent#2", "tools#2", "agent#3"]
    assert [step.name for step in thread.program.steps] == ["call", "run", "call#2", "run#2", "call#3"]
    assert script.check(tmp_path).verdict == "conforms"


def test_an_effect_of_a_turn_fired_twice_breaks_eo(tmp_path: Path) -> None:
    """The second firing of one turn's effect is told from the first firing of the next turn's."""
    script = Dynamic(sink="plain")
    script.load("p1", 0)
    script.effect("p1", "run", "first")
    script.seal("p1", "tools", ["tools"], "k1", None, run="first")
    script.fire("p1", "run", outcome="second")
    script.crash("p1")
    script.go_on("p2", "k1", 1)
    again = script.fire("p2", "run", outcome="second")
    script.record("p2", "run", "second")
    script.seal("p2", "tools", [], "k2", "k1", run="second")
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations) == ("violates", (("unkeyed_effect",),))
    assert [(clause.clause, clause.event) for clause in found.clauses] == [("EO", again)]


def test_steps_of_a_unit_that_overlap_are_parallel(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.fire("p1", "left")
    script.compute("p1", "right", "ok")
    script.record("p1", "left")
    script.record("p1", "right")
    script.compute("p1", "join", "ok")
    script.record("p1", "join")
    script.seal("p1", "both", [], "k1", None, left="ok", right="ok", join="ok")
    [unit] = units(learned(script, tmp_path))
    assert unit == [("left", "effect", ()), ("right", "pure", ()), ("join", "pure", ("left", "right"))]
    assert script.check(tmp_path).verdict == "conforms"


def test_units_declared_together_come_in_either_order(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.pure("p1", "a1")
    script.seal("p1", "a", ["b", "c"], "k1", None, a1="ok")
    script.pure("p1", "c1")
    script.seal("p1", "c", ["b"], "k2", "k1", c1="ok")
    script.pure("p1", "b1")
    script.seal("p1", "b", [], "k3", "k2", b1="ok")
    script.line("p1", "completed", outcome="ok")
    assert list(learned(script, tmp_path).units) == ["a", "c", "b"]
    assert script.check(tmp_path).verdict == "conforms"


def test_one_unit_may_seal_several_declared_nodes(tmp_path: Path) -> None:
    """A superstep: what comes next is named by its nodes, and they are the steps of one unit."""
    script = Dynamic()
    script.load("p1", 0)
    script.pure("p1", "a")
    script.seal("p1", "step 1", ["b", "c"], "k1", None, a="ok")
    script.compute("p1", "b", "ok")
    script.compute("p1", "c", "ok")
    script.record("p1", "b")
    script.record("p1", "c")
    script.seal("p1", "step 2", [], "k2", "k1", b="ok", c="ok")
    script.line("p1", "completed", outcome="ok")
    assert list(learned(script, tmp_path).units) == ["step 1", "step 2"]
    assert script.check(tmp_path).verdict == "conforms"


def test_what_was_declared_and_is_missing_at_the_end(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.pure("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    assert script.check(tmp_path).verdict == "conforms"  # it may still come
    end = script.line("p1", "completed", outcome="ok")
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert found.first_unexplained is not None
    assert found.first_unexplained.event == end


def test_what_nobody_declared(tmp_path: Path) -> None:
    """Another process seals a unit that no checkpoint declares, where a declared one is sealed already."""
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    script.pure("p1", "b1")
    script.seal("p1", "b", ["c"], "k2", "k1", b1="ok")
    script.go_on("p2", "k2", 2)
    script.effect("p1", "c1")
    script.seal("p1", "c", ["d"], "k3", "k2", c1="ok")
    strange = script.seal("p2", "x", [], "k9", "k2", x1="ok")
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert found.unmodelled == (strange,)
    assert broken(found) == {("PC", False)}  # what is only asserted is no more than possible


def test_a_gate_of_a_loop(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.park("p1", "ask")
    script.answer("client1", "ask", "d1", "no")
    script.load("p2", 0)
    script.pass_gate("p2", "ask", "no")
    script.effect("p2", "tell")
    script.seal("p2", "review", ["review"], "k1", None, ask="no", tell="ok")
    script.park("p2", "ask")
    script.read(*stored(("k1", "review", "tell")), answers={"ask": ["no"]}, waiting=["ask"])
    script.answer("client2", "ask", "d2", "yes")
    script.go_on("p3", "k1", 1)
    script.pass_gate("p3", "ask", "yes")
    script.effect("p3", "tell", "fine")
    script.seal("p3", "review", [], "k2", "k1", ask="yes", tell="fine")
    thread = learned(script, tmp_path)
    assert units(thread) == [
        [("ask", "gate", ()), ("tell", "effect", ("ask",))],
        [("ask#2", "gate", ()), ("tell#2", "effect", ("ask#2",))],
    ]
    assert script.check(tmp_path).verdict == "conforms"


def test_each_thread_has_a_program_of_its_own(tmp_path: Path) -> None:
    one, two = straight().rendering(), Dynamic()
    two.load("p1", 0)
    two.pure("p1", "z1")
    two.seal("p1", "z", [], "k1", None, z1="ok")
    other = two.rendering()
    other.thread = "t2"
    path = write(tmp_path / "trace.jsonl", one, other)
    first, second = threads(read_trace(path))
    assert (list(first.units), list(second.units)) == (["a", "b", "c"], ["z"])
    assert check_file(path).verdict == "conforms"


def unchecked(script: Script, folder: Path) -> str:
    found = script.check(folder)
    assert (found.verdict, found.exit_status) == ("unchecked", 2)
    assert found.error is not None
    assert "\n" not in found.error
    return found.error


def test_a_step_of_two_kinds_is_refused(tmp_path: Path) -> None:
    script = straight()
    line = script.fire("p1", "b1") + 1
    error = unchecked(script, tmp_path)
    assert error.startswith(f"{tmp_path / 'hand.jsonl'}:{line}: step 'b1' is a pure step in one event and")


def test_branches_that_take_different_ways_are_refused(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.pure("p1", "a1")
    script.seal("p1", "a", ["b"], "k1", None, a1="ok")
    script.seal("p1", "b", [], "k2", "k1", b1="ok")
    script.fork(0, "other")
    script.op("p2", "loaded", "other", {"checkpoint": None, "index": 0})
    script.pure("p2", "a1", branch="other")
    script.seal("p2", "a", ["x"], "k3", None, "other", a1="ok")
    line = script.seal("p2", "x", [], "k4", "k3", "other", x1="ok")
    error = unchecked(script, tmp_path)
    assert f":{line}: unit 'x' is sealed where another branch or process goes on with 'b'" in error


def test_two_gates_in_one_unit_are_refused(tmp_path: Path) -> None:
    script = Dynamic()
    script.load("p1", 0)
    script.park("p1", "g1")
    script.load("p2", 0)
    script.park("p2", "g2")
    assert "has the gates g1 and g2" in unchecked(script, tmp_path)


def test_a_fork_goes_the_same_way(tmp_path: Path) -> None:
    script = straight()
    script.fork(1, "other")
    script.op("p2", "loaded", "other", {"checkpoint": "k1", "index": 1})
    script.pure("p2", "b1", branch="other")
    script.seal("p2", "b", ["c"], "k4", "k1", "other", b1="ok")
    found = script.check(tmp_path)
    assert (found.verdict, {"FD", "FI"} <= set(found.exercised)) == ("conforms", True)


def test_what_happens_unseen_is_refused(tmp_path: Path) -> None:
    script = straight()
    script.header = msgspec.structs.replace(script.header, observes=["committed", "computed", "effect_fired"])
    assert unchecked(script, tmp_path).startswith(
        f"{tmp_path / 'hand.jsonl'}:1: the program is dynamic, and 'observes' does not promise loaded, parked;"
    )


def test_the_reference_conforms_without_its_program(tmp_path: Path) -> None:
    """Whatever of the other kinds goes unseen: what is learned allows what happened."""
    others = sorted(ACTION_KINDS - set(NEEDED))
    checked = 0
    for seed in range(120):
        rng = random.Random(seed)
        behaviour = random_behaviour(rng, random_program(rng), random_bounds(rng), length=rng.randint(3, 30))
        observes = frozenset(NEEDED) | {kind for kind in others if rng.random() < 0.7}
        rendering = render(rng, behaviour, observes=observes, overlap=rng.choice((0, 0.3, 0.7)), pending=0.4)
        if not rendering.lines:
            continue
        rendering.header = msgspec.structs.replace(rendering.header, program="dynamic")
        found = check_file(write(tmp_path / "trace.jsonl", rendering), budget=10_000)
        assert (found.verdict, found.error) == ("conforms", None), f"seed {seed}: {found}"
        checked += 1
    assert checked >= 110


def test_a_fault_shows_without_the_program(tmp_path: Path) -> None:
    """Of behaviours that break a clause of effects or of order, the learned program hides none."""
    shown = 0
    for fault in ("restart_from_earlier", "unkeyed_effect", "invalid_persisted", "recompute_differs"):
        for seed in range(30):
            rng = random.Random(f"{fault}{seed}")
            bounds = Bounds(runners=2, answers=1, values=3, crashes=2, invalid=1, computations=3)
            behaviour = random_behaviour(rng, PROGRAMS["Linear"], bounds, [fault], 25)
            if not behaviour.broken() - {"NeverStuck"}:
                continue
            rendering = render(rng, behaviour)
            rendering.header = msgspec.structs.replace(rendering.header, program="dynamic")
            found = check_file(write(tmp_path / "trace.jsonl", rendering), budget=10_000)
            assert found.verdict == "violates", f"{fault} {seed}: {found}"
            shown += 1
    assert shown >= 40


def test_a_refusal_at_the_second_visit_is_of_that_visit(tmp_path: Path) -> None:
    """The unit that it names is the one that its process stands in, not the first of that name."""
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "call")
    script.seal("p1", "agent", ["agent"], "k1", None, call="ok")
    script.go_on("p2", "k1", 1)
    script.effect("p1", "call")
    script.line("p2", "memo_used", step="call")
    script.seal("p1", "agent", ["end"], "k2", "k1", call="ok")
    late = script.begin(
        "p2", "committed", unit="agent", steps=["call"], outcomes={"call": "ok"}, checkpoint="k2b",
        parent="k1", valid=True, next=["end"],
    )  # fmt: skip
    script.refuse(late, "commit", unit="agent")
    assert script.check(tmp_path).verdict == "conforms"


def test_a_refusal_may_name_a_gate_and_a_step(tmp_path: Path) -> None:
    """Nobody stands at both."""
    script = Dynamic()
    script.load("p1", 0)
    script.effect("p1", "a")
    script.line("p1", "refused", what="record", error="Late", gate="g", step="a")
    found = script.check(tmp_path)
    assert (found.verdict, found.unmodelled) == ("violates", (6,))


@pytest.mark.parametrize("last", [("refused", {"what": "gate", "gate": "g"}), ("parked", {"gate": "g"})])
def test_who_is_refused_at_a_gate_has_come_to_it(tmp_path: Path, last: tuple[str, dict[str, str]]) -> None:
    """So that the gate, which another one came to after the effect, doesn't wait for it."""
    script = Dynamic()
    script.load("p1", 0)
    script.load("p2", 0)
    script.effect("p1", "e")
    script.park("p1", "g")
    if last[0] == "parked":
        script.park("p2", "g")
    else:
        script.line("p2", last[0], error="Held", **last[1])
    assert script.check(tmp_path).verdict == "conforms"
