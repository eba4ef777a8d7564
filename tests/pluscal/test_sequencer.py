"""The sequencer refines the contract, and its mirror is it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pymodel.engine import ModelError, explore, state_graph
from pymodel.resume.program import PROGRAMS, Program, Step
from pymodel.sequencer import reading as at
from pymodel.sequencer.judging import SITUATIONS
from pymodel.sequencer.model import Bounds, build
from pymodel.sequencer.refinement import Refinement, check_refinement
from pymodel.sequencer.steps import LABELS
from tlc_runner import Outcome, TLCResult, is_translation_current, run_tlc
from tlc_runner import state_graph as tlc_state_graph

SPECS = Path(__file__).resolve().parents[2] / "specs"
PLUSCAL = SPECS / "pluscal"
MC = PLUSCAL / "MCSequencer.tla"

LINEAR = Bounds(runners=2, answers=2, crashes=1, overruns=1)
SANDWICH = Bounds(runners=2, answers=1, crashes=1, overruns=1)
LIVE = Bounds(runners=2, answers=1, crashes=1, overruns=1)
# distinct, generated, depth
LINEAR_SIZE = (7726, 18705, 38)
SANDWICH_SIZE = (4712, 11921, 38)
LIVE_SIZE = (1625, 3943, 27)

# Everything that the contract can do without forks and invalid outcomes.
ACTIONS = {
    *("Load", "Compute", "Fire", "Record", "Memo", "Commit", "Park", "Claim", "TakeOver", "Refuse", "Stale"),
    *("Deliver", "Expire", "Crash"),
}


def tlc(name: str, module: Path = MC) -> TLCResult:
    return run_tlc(
        module,
        PLUSCAL / f"{name}.cfg",
        module_path=[SPECS / "tla"],
        java_args=("-XX:TieredStopAtLevel=1",),
        timeout=300,
    )


def size(result: TLCResult) -> tuple[int | None, int | None, int | None]:
    return result.distinct, result.generated, result.depth


# ---------------------------------------------------------------------------------------------------------
# TLC


def test_the_translation_is_a_fresh_one() -> None:
    assert is_translation_current(PLUSCAL / "Sequencer.tla")


def test_tlc_finds_that_it_refines_the_contract() -> None:
    result = tlc("MCSequencer_sandwich")
    assert (result.outcome, result.message) == (Outcome.SUCCESS, result.message)
    assert size(result) == SANDWICH_SIZE


@pytest.mark.slow
def test_tlc_finds_that_it_refines_the_contract_on_a_linear_program() -> None:
    result = tlc("MCSequencer_linear")
    assert result.outcome is Outcome.SUCCESS, result.message
    assert size(result) == LINEAR_SIZE


@pytest.mark.slow
def test_tlc_finds_the_fairness_of_the_contract_and_liveness() -> None:
    result = tlc("MCSequencer_live")
    assert result.outcome is Outcome.SUCCESS, result.message
    assert size(result) == LIVE_SIZE


@pytest.mark.slow
def test_the_conditions_of_fairness_are_those_of_enabled() -> None:
    result = tlc("MCSequencerEnabled", PLUSCAL / "MCSequencerEnabled.tla")
    assert result.outcome is Outcome.SUCCESS, result.message


@pytest.mark.parametrize(
    ("cfg", "action", "change"),
    [
        ("MCSequencer_blind-claim", "Insert", lambda before, after: claims(before, after)),
        ("MCSequencer_attempt-keys", "Send", lambda before, after: keys(before, after)),
    ],
)
def test_tlc_finds_that_a_wrong_one_does_not_refine(cfg: str, action: str, change: Any) -> None:
    result = tlc(cfg)
    assert result.outcome is Outcome.ACTION_PROPERTY_VIOLATED, result.message
    assert result.property == "Refinement"
    before, after = result.trace[-2:]
    assert after.action == action
    assert change(before.variables, after.variables) == (1, 2)


def claims(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[int, int]:
    """How often the gate of the Gated program was claimed."""
    first, then = (variables["claims"][0]["inserts"] for variables in (before, after))
    return first, then


def keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[int, int]:
    """How many keys the sink has seen of the effect of the Gated program."""
    first, then = (dict(variables["sink"])[2]["keys"] for variables in (before, after))
    return first, then


# ---------------------------------------------------------------------------------------------------------
# The mirror


@pytest.mark.parametrize(
    ("program", "bounds", "expected"),
    [("Linear", LINEAR, LINEAR_SIZE), ("Sandwich", SANDWICH, SANDWICH_SIZE), ("Gated", LIVE, LIVE_SIZE)],
)
def test_the_mirror_has_tlcs_counts_and_breaks_nothing(
    program: str, bounds: Bounds, expected: tuple[int, int, int]
) -> None:
    found = explore(build(PROGRAMS[program], bounds), workers=1)
    assert (found.distinct, found.generated, found.depth) == expected
    assert found.violations == {}
    assert found.complete
    if program != "Gated":
        assert [name for name, depth in found.sometimes.items() if depth is None] == []
        taken = {name for name, count in found.actions.items() if count.generated}
        assert taken == set(LABELS)


def test_every_situation_is_named_once() -> None:
    assert len(SITUATIONS) == 9


def test_the_state_graph_is_tlcs(tmp_path: Path) -> None:
    """State by state and step by step, as multisets."""
    graph = tlc_state_graph(
        MC,
        PLUSCAL / "MCSequencer_live.cfg",
        module_path=[SPECS / "tla"],
    )
    theirs: Counter[tuple[Any, str, Any]] = Counter()
    states = {node: frozenset(data["state"].items()) for node, data in graph.nodes(data=True)}
    for source, target, data in graph.edges(data=True):
        theirs[states[source], data["action"], states[target]] += data["count"]
    model = build(PROGRAMS["Gated"], LIVE)
    mirror = state_graph(model, compiled=False)
    ours: Counter[tuple[Any, str, Any]] = Counter()
    nodes = {node: frozenset(node.items()) for node in mirror}
    for source, target, action in mirror.edges(data="action"):
        ours[nodes[source], action, nodes[target]] += 1
    assert set(nodes.values()) == set(states.values())
    assert len(nodes) == LIVE_SIZE[0]
    # The graph of the mirror has equal steps once, TLC's as often as they are there.
    assert set(ours) == set(theirs)
    assert sum(theirs.values()) == LIVE_SIZE[1] - 1


# ---------------------------------------------------------------------------------------------------------
# The refinement, by the two mirrors


@pytest.mark.parametrize(
    ("program", "bounds", "expected"),
    [
        ("Linear", LINEAR, LINEAR_SIZE),
        ("Sandwich", SANDWICH, SANDWICH_SIZE),
        ("Gated", LIVE, LIVE_SIZE),
    ],
)
def test_the_mirror_refines_the_mirror_of_the_contract(
    program: str, bounds: Bounds, expected: tuple[int, int, int]
) -> None:
    report = check_refinement(PROGRAMS[program], bounds)
    assert report.slip is None
    assert report.starts
    assert report.refines
    assert (report.distinct, report.generated, report.depth) == expected
    assert set(report.actions) == ACTIONS - ({"Compute"} if program == "Gated" else set())
    assert report.stuttering + sum(report.actions.values()) == report.generated - 1


@pytest.mark.parametrize(
    ("bounds", "step"),
    [
        (Bounds(atomic_claim=False), "Insert(r=2) is no step of the contract"),
        (Bounds(step_keys=False, overruns=1), "Send(r=2) is no step of the contract"),
    ],
)
def test_a_wrong_one_does_not_refine(bounds: Bounds, step: str) -> None:
    report = check_refinement(PROGRAMS["Gated"], bounds)
    assert not report.refines
    assert report.slip is not None
    assert report.slip.describe() == step


@pytest.mark.parametrize("invariant", ["ClaimedOnce", "EffectOnce"])
def test_a_wrong_one_breaks_its_clause(invariant: str) -> None:
    wrong = {"ClaimedOnce": Bounds(atomic_claim=False), "EffectOnce": Bounds(step_keys=False, overruns=1)}
    model = build(PROGRAMS["Gated"], wrong[invariant])
    broken = set()
    for node in state_graph(model, compiled=False).nodes(data="record"):
        broken.update(model.violated(bytes_to_record(node[1])))
    assert broken == {invariant}


def bytes_to_record(record: bytes) -> Any:
    import numpy as np

    return np.frombuffer(record, np.uint8)


class Careless(Refinement):
    """A mapping that takes a process to be where its next read is, not behind what is recorded."""

    def image(self, state: bytes) -> bytes:
        moved = bytearray(state)
        for r in range(1, self.model.config.R + 1):
            p = at.runner_at(self.model.config, r)
            moved[p + at.AIM] = moved[p + at.AT]
        return super().image(bytes(moved))


def test_the_history_variable_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pymodel.sequencer.refinement.Refinement", Careless)
    report = check_refinement(PROGRAMS["Sandwich"], SANDWICH)
    assert not report.refines


def test_the_history_variable_decides_nothing() -> None:
    """Without it, states that differ in it alone have the same successors."""
    mapping = Refinement(PROGRAMS["Sandwich"], SANDWICH)
    aims = [at.runner_at(mapping.model.config, r) + at.AIM for r in (1, 2)]

    def without(state: bytes) -> bytes:
        row = bytearray(state)
        for aim in aims:
            row[aim] = 0
        return bytes(row)

    seen = {mapping.initial}
    todo = [mapping.initial]
    successors: dict[bytes, frozenset[tuple[tuple[int, ...], bytes]]] = {}
    while todo:
        state = todo.pop()
        steps = list(mapping.successors(state))
        bare = frozenset((label, without(after)) for label, after in steps)
        assert successors.setdefault(without(state), bare) == bare
        for _, after in steps:
            if after not in seen:
                seen.add(after)
                todo.append(after)
    assert len(seen) == SANDWICH_SIZE[0]
    assert len(successors) < len(seen)


# ---------------------------------------------------------------------------------------------------------
# What doesn't fit


def test_a_program_whose_steps_are_not_in_line_is_refused() -> None:
    with pytest.raises(
        ModelError, match=r"^program Parallel, step s2: the sequencer runs the steps of a unit in line"
    ):
        build(PROGRAMS["Parallel"], Bounds())
    with pytest.raises(ModelError, match=r"^program Long: it has 251 steps: at most 250 fit a record$"):
        build(Program("Long", tuple((Step(f"s{i}", "pure"),) for i in range(251))), Bounds())


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"runners": 0}, "bound runners = 0 is impossible: give a number from 1 to 255"),
        ({"crashes": True}, "bound crashes = True is impossible: give a number from 0 to 255"),
        ({"step_keys": 1}, "bound step_keys = 1 is impossible: give True or False"),
        (
            {"answers": 3},
            "bound answers = 3 is impossible: each answer is a value, and there are 2: lower it or raise `values`",
        ),
    ],
)
def test_impossible_bounds_are_refused(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        Bounds(**bounds)
    assert str(caught.value) == message
