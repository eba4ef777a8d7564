"""What the events put to a test, and what they don't."""

from __future__ import annotations

from pathlib import Path

from races import one_passes, parked
from script import Script, checkpoint, effect, pure, unit

from resume_contract.verdicts import verdict_lines


def test_nothing_but_a_load_exercises_nothing(tmp_path: Path) -> None:
    script = Script(unit("u1", effect("e1")))
    script.load("p1", 0)
    found = script.check(tmp_path)
    assert (found.verdict, found.exercised, found.hidden_steps) == ("conforms", (), 0)
    assert verdict_lines(found)[0].endswith(
        ": conforms, and is no evidence: no event puts a clause to a test"
    )
    script.read()
    assert script.check(tmp_path).exercised == ()
    script.fire("p1", "e1")
    assert verdict_lines(script.check(tmp_path))[0].endswith(": conforms")


def test_one_who_passes_alone_says_nothing_of_consumption(tmp_path: Path) -> None:
    script = parked("keyed")
    assert script.check(tmp_path).exercised == ("PC", "EO", "CV")
    script.answer("client", "g", "d1", "yes")
    script.load("p2", 1)
    script.pass_gate("p2", "g", "yes")
    assert script.check(tmp_path).exercised == ("PC", "EO", "CV", "CO-V")
    assert one_passes(2).check(tmp_path).exercised == ("PC", "EO", "CV", "CO-V", "CO-C")


def test_forks_recomputation_and_the_end(tmp_path: Path) -> None:
    script = Script(unit("u1", pure("p")), unit("u2", effect("e")))
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    assert script.check(tmp_path).exercised == ()
    script.load("p2", 0)
    script.compute("p2", "p", "a")
    assert script.check(tmp_path).exercised == ("RD",)
    script.fork(0, "child")
    assert script.check(tmp_path).exercised == ("RD", "FI")
    script.record("p1", "p", "a")
    script.commit("p1", "u1", p="a")
    script.read(checkpoint("u1", p="a"))
    assert script.check(tmp_path).exercised == ("PC", "FD", "CV", "RD", "FI")
    script.fire("p1", "e")
    script.record("p1", "e")
    script.commit("p1", "u2", e="ok")
    script.line("p1", "completed", outcome="ok")
    assert script.check(tmp_path).exercised == ("PC", "EO", "FD", "CV", "RD", "FI", "LV")


def test_hidden_steps_are_those_supposed(tmp_path: Path) -> None:
    program = unit("u1", pure("p")), unit("u2", effect("e"))
    script = Script(*program, observes=["loaded", "computed", "committed"])
    script.load("p1", 0)
    script.compute("p1", "p", "a")
    script.commit("p1", "u1", p="a")
    found = script.check(tmp_path)
    assert (found.verdict, found.hidden_steps) == ("conforms", 1)  # that p was recorded
    assert found.to_json()["hidden_steps"] == 1
    assert found.to_json()["exercised"] == ["PC", "CV"]
