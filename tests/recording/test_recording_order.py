"""The order of a program's steps."""

from __future__ import annotations

import pytest

from trace_check.events import ProgramStep, ProgramUnit
from trace_check.recording.order import content_before, parts, rounds, sealed_units


def unit(name: str, **steps: str) -> ProgramUnit:
    """A unit of effects; each step with the names of the steps before it."""
    made = [ProgramStep(step=step, kind="effect", after=after.split()) for step, after in steps.items()]
    return ProgramUnit(name=name, steps=made)


FIRST = unit("first", e="")
DIAMOND = unit("diamond", d="b c", b="a", c="a", a="")
APART = unit("apart", x="", y="", z="x")


def names(groups: list[list[ProgramStep]]) -> list[list[str]]:
    return [[step.step for step in group] for group in groups]


def test_steps_that_may_run_at_once() -> None:
    assert names(rounds(DIAMOND)) == [["a"], ["b", "c"], ["d"]]
    assert names(rounds(APART)) == [["x", "y"], ["z"]]


def test_parts_without_an_order_between_them() -> None:
    assert names(parts(DIAMOND)) == [["a", "b", "c", "d"]]
    assert names(parts(APART)) == [["y"], ["x", "z"]]


def test_a_step_is_a_function_of_earlier_units_and_of_what_comes_before_it() -> None:
    outcomes = dict.fromkeys("eabcdxyz", "o")
    program = [FIRST, DIAMOND, APART]
    assert set(content_before(program, "e", outcomes)) == set()
    assert set(content_before(program, "b", outcomes)) == {"e", "a"}
    assert set(content_before(program, "d", outcomes)) == {"e", "a", "b", "c"}
    assert set(content_before(program, "z", outcomes)) == {"e", "a", "b", "c", "d", "x"}


def test_an_outcome_that_is_missing_and_a_step_that_is_unknown() -> None:
    with pytest.raises(KeyError, match="a"):
        content_before([DIAMOND], "b", {})
    with pytest.raises(KeyError, match="other"):
        content_before([DIAMOND], "other", {})


@pytest.mark.parametrize(("done", "sealed"), [("", 0), ("e", 1), ("eabc", 1), ("abcd", 0), ("eabcd", 2)])
def test_units_are_sealed_from_the_first_on(done: str, sealed: int) -> None:
    assert sealed_units([FIRST, DIAMOND], dict.fromkeys(done, 1)) == sealed
