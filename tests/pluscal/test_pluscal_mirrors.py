"""The mirrors come to what the manifest says: counts, what fails and where, and the greatest values."""

from __future__ import annotations

import pytest

from pymodel import claim_gate, idempotent_replay
from pymodel.constants import Constant
from pymodel.engine import ModelError
from pymodel.plain_search import search_plainly
from resume_contract.pluscal.manifest import Manifest, ModelEntry, load_manifest
from resume_contract.pluscal.running import Run, run_mirror

MINE = [model for model in load_manifest().models if model.algorithm in ("ClaimGate", "IdempotentReplay")]
SMALL = [model for model in MINE if model.expect.distinct <= 800]
LARGER = ["claim-gate-check-then-set-race-4", "claim-gate-read-path-take-over-4", "claim-gate-absent-crash-5"]


def compare(run: Run, model: ModelEntry) -> None:
    """Hold a run against the manifest, in what it judged."""
    expect = model.expect
    assert (run.distinct, run.generated, run.depth) == (expect.distinct, expect.generated, expect.depth)
    assert run.fails == {name: depth for name, depth in expect.fails.items() if name in run.judged}
    assert run.most == expect.most
    assert run.is_decided


@pytest.mark.parametrize("model", SMALL, ids=lambda model: model.name)
def test_the_plain_mirror_comes_to_the_manifests_figures(manifest: Manifest, model: ModelEntry) -> None:
    run = run_mirror(manifest, model, compiled=False)
    compare(run, model)
    assert run.judged == (
        *manifest.config_of(model).invariants,
        *manifest.config_of(model).properties,
    )
    assert (run.outcome, run.violated) == (model.expect.outcome, model.expect.property)


@pytest.mark.slow
def test_the_compiled_mirror_comes_to_them_too(manifest: Manifest) -> None:
    for model in manifest.select(LARGER):
        run = run_mirror(manifest, model, compiled=True)
        compare(run, model)
        assert run.judged == manifest.config_of(model).invariants


def test_small_models_are_there() -> None:
    algorithms = {model.algorithm for model in SMALL}
    assert algorithms == {"ClaimGate", "IdempotentReplay"}
    cases = {model.name.rsplit("-", 1)[0] for model in MINE if model.algorithm == "ClaimGate"}
    assert cases == {model.name.rsplit("-", 1)[0] for model in SMALL if model.algorithm == "ClaimGate"}
    for case in cases:
        assert {model.name for model in MINE if model.name.startswith(f"{case}-")} == {
            f"{case}-{k}" for k in (2, 3, 4, 5)
        }


def test_every_label_is_taken_somewhere(manifest: Manifest) -> None:
    for package, algorithm in ((claim_gate, "ClaimGate"), (idempotent_replay, "IdempotentReplay")):
        taken: set[str] = set()
        names: tuple[str, ...] = ()
        for model in SMALL:
            if model.algorithm == algorithm and model.expect.distinct < 300:
                search = search_plainly(package.build(manifest.constants_of(model)))
                names = search.model.actions
                taken |= {name for name, count in search.actions.items() if count}
        assert taken == set(names)


def test_without_a_claim_k_racers_fire_k_effects(manifest: Manifest) -> None:
    models = {int(model.name[-1]): model for model in MINE if model.name.startswith("claim-gate-absent-race")}
    assert {k: model.expect.most for k, model in models.items()} == {
        k: {"Firing": k, "Applied": k} for k in (2, 3, 4, 5)
    }


def test_only_the_read_path_is_consume_once_and_only_with_take_over_is_it_live() -> None:
    gates = [model for model in MINE if model.algorithm == "ClaimGate"]
    once = [model for model in gates if "ConsumeOnce" not in model.expect.fails]
    assert {model.name.rsplit("-", 1)[0] for model in once} == {
        "claim-gate-read-path-race",
        "claim-gate-read-path-crash",
        "claim-gate-read-path-take-over",
        "claim-gate-read-path-zombie",
    }
    stuck = {model.name.rsplit("-", 1)[0] for model in gates if "Consumed" in model.expect.fails}
    assert stuck == {
        "claim-gate-check-then-set-crash",
        "claim-gate-write-path-crash",
        "claim-gate-read-path-crash",
    }


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({}, "ClaimGate: constant K has no value: give K, Variant, TakeOver, MaxCrashes, MaxExpiries"),
        ({"Q": 1}, "ClaimGate: constant Q is unknown: give K, Variant, TakeOver, MaxCrashes, MaxExpiries"),
        ({"K": 9}, "ClaimGate: constant K is 9: give a number from 1 to 8"),
        ({"K": True}, "ClaimGate: constant K is True: give a number from 1 to 8"),
        ({"TakeOver": 1}, "ClaimGate: constant TakeOver is 1: give TRUE or FALSE"),
        (
            {"Variant": "none"},
            "ClaimGate: constant Variant is 'none': give one of absent, check_then_set, write_path, read_path",
        ),
    ],
)
def test_constants_are_refused(constants: dict[str, Constant], message: str) -> None:
    whole: dict[str, Constant] = {
        "K": 2,
        "Variant": "absent",
        "TakeOver": False,
        "MaxCrashes": 0,
        "MaxExpiries": 0,
    }
    with pytest.raises(ModelError) as caught:
        claim_gate.build({**whole, **constants} if constants else {})
    assert str(caught.value) == message
