"""A process that runs unordered steps at once is as many runners as that takes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from processes import random_processes, unordered_program
from script import Script, effect, gate, pure, unit

from trace_check.checker import check_file
from trace_check.observations import threads
from trace_check.reader import read_trace
from trace_check.trials.rendering import Line, Rendering, write

TWO = (unit("u1", effect("a"), effect("b")), unit("u2", effect("c")))


def both_fired(sink: str = "keyed") -> Script:
    script = Script(*TWO, sink=sink)
    script.load("p1", 0)
    script.fire("p1", "a")
    script.fire("p1", "b")
    return script


def recorded(script: Script, actor: str) -> Script:
    script.record(actor, "a")
    script.record(actor, "b")
    script.commit(actor, "u1", a="ok", b="ok")
    script.fire(actor, "c")
    return script


def crews(path: Path) -> dict[str, int]:
    return {actor: len(runners) for actor, runners in threads(read_trace(path))[0].runners.items()}


def test_only_who_needs_it_is_several_runners(tmp_path: Path) -> None:
    script = recorded(both_fired(), "p1")
    script.load("p2", 1)
    script.fire("p2", "c", applied=False)
    assert script.check(tmp_path).verdict == "conforms"
    assert crews(tmp_path / "hand.jsonl") == {"p1": 2, "p2": 1}


def test_one_load_is_the_load_of_all_and_one_crash_the_end_of_all(tmp_path: Path) -> None:
    script = both_fired()
    script.crash("p1")
    number = script.record("p1", "b")
    found = script.check(tmp_path)
    assert (found.verdict, found.unmodelled) == ("violates", (number,))
    again = both_fired()
    again.crash("p1")
    again.load("p2", 0)
    again.fire("p2", "a", applied=False)
    again.fire("p2", "b", applied=False)
    assert recorded(again, "p2").check(tmp_path).verdict == "conforms"


def test_without_a_load_nobody_does_anything(tmp_path: Path) -> None:
    script = Script(*TWO)
    number = script.fire("p1", "a")
    script.fire("p1", "b")
    found = script.check(tmp_path)
    assert found.unmodelled[0] == number


def test_each_effect_still_fires_once(tmp_path: Path) -> None:
    script = both_fired("plain")
    number = script.fire("p1", "a")
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    script = both_fired("plain")
    script.crash("p1")
    script.load("p2", 0)
    number = script.fire("p2", "b")
    script.fire("p2", "a")
    found = script.check(tmp_path)
    assert found.explanations == (("unkeyed_effect",),)
    assert [(c.clause, c.event, c.certain) for c in found.clauses] == [("EO", number, True)]


def test_a_commit_waits_for_all_of_them(tmp_path: Path) -> None:
    script = both_fired()
    script.record("p1", "a")
    number = script.commit("p1", "u1", a="ok", b="ok")
    found = script.check(tmp_path)
    assert found.verdict == "violates"
    assert found.first_unexplained is not None
    assert found.first_unexplained.event == number


def test_a_process_that_has_parked_a_gate_may_go_on_beside_it(tmp_path: Path) -> None:
    script = Script(unit("u1", gate("g"), effect("b")), unit("u2", effect("c")))
    script.load("p1", 0)
    script.park("p1", "g")
    script.fire("p1", "b")
    script.record("p1", "b")
    script.answer("client", "g", "d1", "yes")
    assert script.check(tmp_path).verdict == "conforms"
    script.pass_gate("p1", "g", "yes")  # what is done with b goes on to the gate
    assert script.check(tmp_path).verdict == "conforms"
    script.pass_gate("p1", "g", "yes")
    assert script.check(tmp_path).explanations == (("check_then_claim",),)


def test_what_runs_behind_a_gate_shares_its_claim(tmp_path: Path) -> None:
    script = Script(unit("u1", gate("g"), effect("a", "g"), pure("p", "g")))
    script.load("p1", 0)
    script.park("p1", "g")
    script.answer("client", "g", "d1", "yes")
    script.load("p2", 0)
    script.pass_gate("p2", "g", "yes")
    script.fire("p2", "a")
    script.compute("p2", "p", "x")
    script.record("p2", "a")
    script.record("p2", "p", "x")
    script.commit("p2", "u1", g="yes", a="ok", p="x")
    found = script.check(tmp_path)
    assert (found.verdict, found.explanations) == ("conforms", ((),))


def test_a_gate_beside_an_effect_and_the_commit_of_both(tmp_path: Path) -> None:
    script = Script(unit("u1", gate("g"), effect("a", "g"), effect("b")))
    script.load("p1", 0)
    script.park("p1", "g")
    script.answer("client", "g", "d1", "yes")
    script.load("p2", 0)
    script.fire("p2", "b")
    script.pass_gate("p2", "g", "yes")
    script.fire("p2", "a")
    script.record("p2", "a")
    script.record("p2", "b")
    script.commit("p2", "u1", g="yes", a="ok", b="ok")
    assert script.check(tmp_path).verdict == "conforms"


@pytest.mark.parametrize("at_once", [1, 3])
def test_processes_with_a_thread_for_every_step_conform(at_once: int, tmp_path: Path) -> None:
    several = 0
    for seed in range(100):
        rng = random.Random(seed)
        rendering = random_processes(rng, unordered_program(rng), rng.randint(20, 120), at_once)
        path = write(tmp_path / "trace.jsonl", rendering)
        found = check_file(path, budget=10_000)
        assert found.verdict == "conforms", f"seed {seed}: {found}"
        several += max(crews(path).values()) > 1
    assert several >= 70


def test_what_a_thread_did_can_not_be_missing(tmp_path: Path) -> None:
    """Without its firing a recorded effect is one that wasn't fired, however many threads there are."""
    checked = 0
    for seed in range(30):
        rng = random.Random(seed)
        rendering = random_processes(rng, unordered_program(rng), 60)
        lost = [n for n, line in enumerate(rendering.lines) if _is_recorded(rendering.lines, n)]
        if not lost:
            continue
        n = rng.choice(lost)
        lines = [*rendering.lines[:n], *rendering.lines[n + 1 :]]
        found = check_file(write(tmp_path / "trace.jsonl", Rendering(rendering.header, lines)), budget=10_000)
        assert found.verdict == "violates", f"seed {seed}, line {n}"
        checked += 1
    assert checked >= 20


def _is_recorded(lines: list[Line], n: int) -> bool:
    """Is this the one firing of an effect that its process then records?"""
    line = lines[n]
    if line.kind != "effect_fired":
        return False
    fires = [x for x in lines if x.kind == "effect_fired" and x.fields["step"] == line.fields["step"]]
    ends = [x for x in lines[n:] if x.phase == "end" and x.actor == line.actor and x.kind == "recorded"]
    return len(fires) == 1 and any(x.fields["step"] == line.fields["step"] for x in ends)


def test_who_passes_a_gate_first_may_be_a_crew(tmp_path: Path) -> None:
    """Its other step was open when it loaded, and recorded by another one when it came to it."""
    script = Script(unit("u1", gate("g"), effect("e")))
    script.load("p1", 0)
    script.fire("p1", "e")
    script.park("p1", "g")
    script.load("p2", 0)
    script.record("p1", "e")
    script.answer("client", "g", "d1", "yes")
    script.pass_gate("p2", "g", "yes")
    script.fire("p2", "e", applied=False)
    script.record("p2", "e")
    script.commit("p2", "u1", g="yes", e="ok")
    assert script.check(tmp_path).verdict == "conforms"
