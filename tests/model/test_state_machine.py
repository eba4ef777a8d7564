"""The mirror as a Hypothesis state machine, beyond what can be searched: actions are rules, clauses invariants."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from strategies import bounds, programs
from type_ok import ill_typed

from pymodel.resume import clauses
from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program
from pymodel.resume.stepping import Step, Stepper
from pymodel.resume.transitions import ACTIONS

# What an action may change; all else stays.
CHANGES = {
    "Load": {"run"},
    "Compute": {"run", "computed", "invalid"},
    "Fire": {"run", "world", "invalid"},
    "Record": {"run", "ledger"},
    "Memo": {"run"},
    "Commit": {"run", "ckpt", "own", "gate", "status"},
    "Park": {"run", "gate"},
    "Claim": {"run", "gate"},
    "TakeOver": {"run", "gate"},
    "Refuse": {"run"},
    "Stale": {"run"},
    "Reject": {"run", "status"},
    "Deliver": {"gate"},
    "Expire": {"gate", "expiries"},
    "Crash": {"run", "crashes"},
    "Fork": {"ckpt", "origin", "gate", "status", "declared"},
}


class ResumeContract(RuleBasedStateMachine):
    """Walks through a drawn program within drawn bounds; the rules are added below, one for each action."""

    def __init__(self) -> None:
        super().__init__()
        self.enabled: dict[str, list[Step]] = {}
        self.ended = False

    @initialize(program=programs(), bounds=bounds())
    def begin(self, program: Program, bounds: Bounds) -> None:
        self.program, self.bounds = program, bounds
        self.stepper = Stepper(program, bounds)
        self.config = self.stepper.config
        self.before: dict[str, Any] = {}
        self.action = ""
        self.enter(self.stepper.initial)

    def enter(self, state: bytes) -> None:
        self.state = state
        self.decoded: dict[str, Any] = dict(self.stepper.decode(state))
        self.enabled = {}
        for step in self.stepper.successors(state):
            self.enabled.setdefault(step.action, []).append(step)
        self.ended = not self.enabled

    def take(self, action: str, pick: int) -> None:
        steps = self.enabled[action]
        self.before, self.action = self.decoded, action
        self.enter(steps[pick % len(steps)].state)

    @precondition(lambda self: self.ended)
    @rule()
    def begin_again(self) -> None:
        """A finished state is terminal: the walk goes back to the start."""
        assert set(self.decoded["status"]) <= {"done", "failed", "absent"}
        self.action = ""
        self.enter(self.stepper.initial)

    @invariant()
    def types(self) -> None:
        assert ill_typed(self.program, self.bounds, self.decoded) == []

    @invariant()
    def never_stuck(self) -> None:
        assert clauses.NeverStuck(self.config, self.state, bytearray(self.state))

    @invariant()
    def nothing_is_broken(self) -> None:
        assert self.stepper.broken(self.state) == ()

    @invariant()
    def an_action_changes_its_variables_only(self) -> None:
        if self.action:
            changed = {name for name in self.decoded if self.decoded[name] != self.before[name]}
            assert changed <= CHANGES[self.action]

    @invariant()
    def what_is_durable_stays(self) -> None:
        """Checkpoints are appended, outcomes are recorded once, nothing is applied twice or undone."""
        if self.action:
            for old, new in zip(self.before["ckpt"], self.decoded["ckpt"], strict=True):
                assert new[: len(old)] == old
            for old, new in zip(self.before["ledger"], self.decoded["ledger"], strict=True):
                assert all(a["out"] == 0 or a == b for a, b in zip(old, new, strict=True))
            assert self.before["declared"] <= self.decoded["declared"]
            assert self.before["computed"] <= self.decoded["computed"]


def _invariant(name: str) -> Any:
    def holds(self: ResumeContract) -> None:
        assert name != "always_broken", "never holds"
        assert getattr(clauses, name)(self.config, self.state)

    holds.__name__ = name
    return invariant()(holds)


def _rule(action: str) -> Any:
    def take(self: ResumeContract, pick: int) -> None:
        self.take(action, pick)

    take.__name__ = action
    guarded = precondition(lambda self: action in self.enabled)(take)
    return rule(pick=st.integers(0, 999))(guarded)


CLAUSES = ("PC", "EO", "FD1", "FD2", "CV", "COV", "COC", "RD", "FI")
for _name in CLAUSES:
    setattr(ResumeContract, _name, _invariant(_name))
for _name in ACTIONS:
    setattr(ResumeContract, _name, _rule(_name))

SETTINGS = settings(
    max_examples=50,
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_the_contract_holds_on_every_walk() -> None:
    assert CHANGES.keys() == set(ACTIONS)
    taken = dict.fromkeys(ACTIONS, 0)
    largest = 0

    class Counted(ResumeContract):
        def take(self, action: str, pick: int) -> None:
            nonlocal largest
            super().take(action, pick)
            taken[action] += 1
            largest = max(largest, self.bounds.runners * self.bounds.branches)

    # A take-over is rare, and what is drawn depends on the constants of all modules that are imported.
    run_state_machine_as_test(Counted, settings=settings(SETTINGS, max_examples=300))
    assert [action for action, count in taken.items() if not count] == []
    assert largest == 16


@pytest.mark.parametrize("clause", CLAUSES)
def test_each_clause_is_an_invariant_of_the_machine(clause: str) -> None:
    """A clause that doesn't hold ends the walk."""
    broken = type("Broken", (ResumeContract,), {clause: _invariant("always_broken")})
    with pytest.raises(AssertionError, match="never holds"):
        run_state_machine_as_test(
            broken, settings=settings(SETTINGS, max_examples=1, phases=[Phase.generate])
        )


def test_the_machine_finds_a_fault() -> None:
    """It would not do to look and see nothing."""
    seen: set[tuple[str, ...]] = set()

    class Faulty(ResumeContract):
        @initialize(program=programs(), bounds=bounds())
        def begin(self, program: Program, bounds: Bounds) -> None:
            super().begin(program, bounds)
            self.stepper = Stepper(program, bounds, ["unkeyed_effect"])
            self.config = self.stepper.config
            self.enter(self.stepper.initial)

        def enter(self, state: bytes) -> None:
            super().enter(state)
            seen.add(self.stepper.broken(state))

    quick = settings(SETTINGS, print_blob=False, report_multiple_bugs=False, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Faulty, settings=quick)
    assert seen == {(), ("EO",)}
