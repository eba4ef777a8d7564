"""The sequencer refines the contract, and its mirror is it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pymodel import sequencer
from pymodel.constants import Constant
from pymodel.engine import ModelError, explore
from pymodel.liveness import fair_trap
from pymodel.plain_search import search_plainly
from pymodel.resume.program import PROGRAMS, Program, Step
from pymodel.sequencer import reading as at
from pymodel.sequencer.model import Bounds, build
from pymodel.sequencer.refinement import Refinement, check_refinement
from pymodel.sequencer.steps import LABELS
from resume_contract.pluscal.configuration import constants_of, with_constants
from resume_contract.pluscal.manifest import MANIFEST, Manifest
from resume_contract.pluscal.running import run_mirror
from tlc_runner import Outcome, TLCResult, run_tlc, state_graph, translate

LINEAR = Bounds(runners=2, answers=2, crashes=1, overruns=1)
SANDWICH = Bounds(runners=2, answers=1, crashes=1, overruns=1)
GATED = Bounds(runners=2, answers=1, crashes=1, overruns=1)
# distinct, generated, depth
LINEAR_SIZE = (7726, 18705, 38)
SANDWICH_SIZE = (4712, 11921, 38)
LIVE_SIZE = (435, 1043, 21)

# Everything that the contract can do without forks and invalid outcomes.
ACTIONS = {
    *("Load", "Compute", "Fire", "Record", "Memo", "Commit", "Park", "Claim", "TakeOver", "Refuse", "Stale"),
    *("Deliver", "Expire", "Crash"),
}

PLUSCAL = MANIFEST.parent
MC = PLUSCAL / "MCSequencer.tla"
LIBRARY = PLUSCAL.parent / "tla"


def tlc(cfg: Path, module: Path = MC) -> TLCResult:
    return run_tlc(module, cfg, module_path=[LIBRARY], java_args=("-XX:TieredStopAtLevel=1",), timeout=300)


def size(found: Any) -> tuple[int | None, int | None, int | None]:
    return found.distinct, found.generated, found.depth


# ---------------------------------------------------------------------------------------------------------
# TLC.  `resume-contract pluscal Sequencer` runs all models, at their full size.


def test_the_translation_is_a_fresh_one() -> None:
    file = PLUSCAL / "Sequencer.tla"
    assert translate(file).encode() == file.read_bytes()


def smaller(folder: Path, name: str, **constants: int) -> Path:
    """A configuration with other values for some constants."""
    source = PLUSCAL / name
    path = folder / name
    path.write_text(with_constants(source, source.read_text(encoding="utf-8"), constants), encoding="utf-8")
    return path


def test_tlc_finds_that_it_refines_the_contract(tmp_path: Path) -> None:
    result = tlc(smaller(tmp_path, "MCSequencer_sandwich.cfg", MaxCrashes=0))
    assert result.outcome is Outcome.SUCCESS, result.message
    assert size(result) == (861, 1880, 32)


def test_tlc_finds_that_a_wrong_one_does_not_refine() -> None:
    result = tlc(PLUSCAL / "MCSequencer_blind-claim.cfg")
    assert result.outcome is Outcome.ACTION_PROPERTY_VIOLATED, result.message
    assert result.property == "RefinesNext"  # the part of Refinement that is about steps
    assert [state.action for state in result.trace[-2:]] == ["Insert", "Insert"]
    assert len(result.trace) == 11


def test_tlc_finds_the_fairness_of_the_contract_and_liveness(tmp_path: Path) -> None:
    result = tlc(smaller(tmp_path, "MCSequencer_live.cfg", MaxOverruns=0))
    assert result.outcome is Outcome.SUCCESS, result.message
    assert size(result) == LIVE_SIZE


def test_tlc_misses_the_fairness_of_the_contract_where_a_dead_claim_stays() -> None:
    result = tlc(PLUSCAL / "MCSequencer_unfair-clock.cfg")
    assert (result.outcome, result.property) == (Outcome.LIVENESS_VIOLATED, "FairExpiry")


def test_the_conditions_of_fairness_are_those_of_enabled() -> None:
    result = tlc(PLUSCAL / "MCSequencerEnabled.cfg", PLUSCAL / "MCSequencerEnabled.tla")
    assert result.outcome is Outcome.SUCCESS, result.message
    assert size(result) == (603, 1507, 19)


# ---------------------------------------------------------------------------------------------------------
# The mirror


NAMES = [
    "linear",
    "sandwich",
    "live",
    "unfair-clock",
    "unfair-runner",
    "unfair-load",
    "blind-claim",
    "attempt-keys",
]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("linear", "sandwich")])
def test_the_mirror_comes_to_the_manifests_figures(manifest: Manifest, name: str) -> None:
    (model,) = manifest.select([f"sequencer-{name}"])
    run = run_mirror(manifest, model, compiled=False)
    assert size(run) == size(model.expect)
    assert run.fails == {}
    assert set(run.judged) == {
        *{"AimIsAhead", "EffectOnce", "ClaimedOnce"}.intersection(manifest.config_of(model).invariants),
        *{"LV"}.intersection(manifest.properties_of(model)),
    }


def test_the_manifest_has_no_other_models(manifest: Manifest) -> None:
    assert {model.name for model in manifest.select(["Sequencer"])} == {f"sequencer-{name}" for name in NAMES}


@pytest.mark.slow
def test_compiled_it_comes_to_the_same_and_every_situation_occurs() -> None:
    found = explore(build(PROGRAMS["Linear"], LINEAR), workers=1)
    assert size(found) == LINEAR_SIZE
    assert found.violations == {}
    assert found.complete
    assert [name for name, depth in found.sometimes.items() if depth is None] == []
    assert {name for name, count in found.actions.items() if count.generated} == set(LABELS)


def test_lv_needs_each_part_of_the_fairness() -> None:
    search = search_plainly(build(PROGRAMS["Gated"], GATED))
    wanted = sequencer.LIVENESS["LV"]
    assert fair_trap(search, wanted, sequencer.fair_process) is None
    for unfair in (1, 2, -1):  # a process that stands still with a claim that it holds, or the clock

        def fair(label: tuple[int, ...], unfair: int = unfair) -> int | None:
            process = sequencer.fair_process(label)
            return None if process == unfair else process

        assert fair_trap(search, wanted, fair) is not None


def test_the_labelled_state_graph_is_tlcs(tmp_path: Path) -> None:
    cfg = smaller(tmp_path, "MCSequencer_live.cfg", MaxOverruns=0)
    theirs = state_graph(MC, cfg, module_path=[LIBRARY])
    states = {node: frozenset(state.items()) for node, state in theirs.nodes(data="state")}
    wanted: Counter[Any] = Counter()
    for source, target, data in theirs.edges(data=True):
        wanted[states[source], data["action"], states[target]] += data["count"]
    search = search_plainly(sequencer.build(constants_of(cfg.read_text(encoding="utf-8"))))
    mine = [
        frozenset(search.model.decode(np.frombuffer(record, np.uint8)).items()) for record in search.records
    ]
    found = Counter((mine[source], LABELS[label[0]], mine[target]) for source, target, label in search.edges)
    assert len(set(mine)) == len(mine) == len(states) == LIVE_SIZE[0]
    assert found == wanted


# ---------------------------------------------------------------------------------------------------------
# The refinement, by the two mirrors


@pytest.mark.parametrize(
    ("name", "program", "bounds"),
    [("linear", "Linear", LINEAR), ("sandwich", "Sandwich", SANDWICH), ("live", "Gated", GATED)],
)
def test_the_mirror_refines_the_mirror_of_the_contract(
    manifest: Manifest, name: str, program: str, bounds: Bounds
) -> None:
    report = check_refinement(PROGRAMS[program], bounds)
    assert report.slip is None
    assert report.starts
    assert report.refines
    (model,) = manifest.select([f"sequencer-{name}"])
    assert size(report) == size(model.expect)
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


@pytest.mark.parametrize(
    ("bounds", "fails"),
    [
        (Bounds(atomic_claim=False), {"ClaimedOnce": 11}),
        (Bounds(step_keys=False, overruns=1), {"EffectOnce": 18}),
    ],
)
def test_a_wrong_one_breaks_its_clause(bounds: Bounds, fails: dict[str, int]) -> None:
    assert search_plainly(build(PROGRAMS["Gated"], bounds)).violations == fails


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


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"Q": 1}, f"Sequencer: constant Q is unknown: give {', '.join(sequencer.CONSTANTS)}"),
        ({"Kind": "GatedKind"}, "Sequencer: constant Kind is 'GatedKind': give one of LinearKind"),
        ({"UnitCount": 3}, "Sequencer: constant UnitCount is 3: give a number from 4 to 4"),
        (
            {"UnitOf": "BesideUnitOf"},
            "Sequencer: constant UnitOf is 'BesideUnitOf': give one of LinearUnitOf, SandwichUnitOf, GatedUnitOf",
        ),
        ({"StepKeys": 1}, "Sequencer: constant StepKeys is 1: give TRUE or FALSE"),
    ],
)
def test_constants_are_refused(constants: dict[str, Constant], message: str) -> None:
    text = (PLUSCAL / "MCSequencer_linear.cfg").read_text(encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        sequencer.build(constants_of(text) | constants)
    assert str(caught.value) == message


def test_a_set_of_processes_with_a_gap_is_refused() -> None:
    text = (PLUSCAL / "MCSequencer_linear.cfg").read_text(encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"^Sequencer: constant Runners is '\{1,3\}': give one of \{1\}, \{1,2\}, "
    ):
        sequencer.build(constants_of(text) | {"Runners": "{1,3}"})
