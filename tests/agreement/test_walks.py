"""Beyond what can be searched: on random walks TLC's own Next and the mirror give the same successors."""

from __future__ import annotations

import random

import pytest

from pymodel.resume.layout import Bounds
from pymodel.resume.program import PROGRAMS, Program, Step
from pymodel.resume.stepping import Stepper
from pymodel.resume.transitions import ACTIONS
from resume_contract.agreement import oracle_for, walk
from resume_contract.manifest import load_manifest

SCALED = next(model for model in load_manifest().models if model.name == "scaled")
# A gate in each of two units, a step that stands before its predecessor, and two effects in no order.
TWICE = Program(
    "Twice",
    (
        (Step("a", "effect"), Step("b", "gate")),
        (Step("c", "pure", ("d",)), Step("d", "effect"), Step("e", "gate", ("c",))),
        (Step("f", "pure"), Step("g", "effect"), Step("h", "effect")),
    ),
)
WALKS = {
    "scaled": (PROGRAMS[SCALED.program], SCALED.limits, 1000),
    "mixed": (PROGRAMS["Mixed"], Bounds(3, 3, answers=2, values=3, crashes=2, expiries=2, invalid=2), 1000),
    "sandwich": (
        PROGRAMS["Sandwich"],
        Bounds(3, 2, answers=3, values=3, crashes=2, expiries=1, invalid=2),
        500,
    ),
    "parallel": (PROGRAMS["Parallel"], Bounds(3, 3, answers=2, crashes=2, expiries=2, invalid=1), 500),
    "twice": (TWICE, Bounds(2, 3, answers=2, values=4, crashes=3, expiries=2, invalid=2), 500),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
def test_the_successors_are_the_same_action_by_action(name: str) -> None:
    program, bounds, states = WALKS[name]
    report = walk(program, bounds, states=states, seed=2608, length=150)
    assert [difference.describe() for difference in report.differences] == []
    assert report.agree
    assert report.states == states
    assert [
        action for action, count in report.actions.items() if not count and possible(action, bounds)
    ] == []


def possible(action: str, bounds: Bounds) -> bool:
    """Do the bounds leave room for an action?"""
    budgets = {"Reject": bounds.invalid, "Crash": bounds.crashes, "Fork": bounds.branches - 1}
    return budgets.get(action, 1) > 0


def test_a_walk_finds_a_slip() -> None:
    program, bounds = PROGRAMS["Gated"], Bounds(2, 1, answers=1, expiries=1)
    oracle = oracle_for(program, bounds)
    # one live expiry fewer than TLC has
    report = walk(program, bounds, states=1000, seed=1, oracle=oracle, stepper=Stepper(program, Bounds(2, 1)))
    assert not report.agree
    assert {(d.action, d.tlc, d.mirror) for d in report.differences} == {("Expire", 1, 0)}
    assert report.states < 1000

    agreed = walk(program, bounds, states=60, seed=random.Random(1).randrange(100), oracle=oracle)
    assert agreed.agree
    assert agreed.states == 60
    assert agreed.transitions == sum(agreed.actions.values()) > 60
    assert list(agreed.actions) == list(ACTIONS)
