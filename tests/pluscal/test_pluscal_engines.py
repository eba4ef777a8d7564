"""TLC and the mirrors: the same figures and the same labelled graphs; translations; and that the checks can fail."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pymodel.plain_search import search_plainly
from resume_contract.engines import Tools
from resume_contract.pluscal.manifest import MANIFEST, Manifest, load_manifest
from resume_contract.pluscal.running import run_mirror, run_with_tlc
from tlc_runner import Outcome, run_tlc, state_graph
from tlc_runner.pluscal import translate

QUICK = ["-XX:TieredStopAtLevel=1"]  # what Java compiles better is over too soon


@pytest.mark.parametrize("name", ["ClaimGate", "IdempotentReplay"])
def test_the_translation_is_fresh(manifest: Manifest, name: str) -> None:
    file = manifest.place(manifest.algorithms[name].file)
    assert translate(file).encode() == file.read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "claim-gate-check-then-set-take-over-2",
        "claim-gate-read-path-take-over-3",
        "replay-keyed-crash-zombie",
    ],
)
def test_both_engines_come_to_the_same(manifest: Manifest, name: str) -> None:
    (model,) = manifest.select([name])
    tlc, mirror = run_with_tlc(manifest, model, Tools()), run_mirror(manifest, model)
    expect = model.expect
    for run in (tlc, mirror):
        assert (run.outcome, run.violated) == (expect.outcome, expect.property)
        assert (run.distinct, run.generated, run.depth) == (expect.distinct, expect.generated, expect.depth)
        assert run.fails == expect.fails
        assert run.most == expect.most
    assert tlc.judged == mirror.judged


@pytest.mark.parametrize("name", ["claim-gate-read-path-zombie-2", "replay-bare-append-crash"])
def test_the_labelled_graphs_are_the_same(manifest: Manifest, name: str) -> None:
    (model,) = manifest.select([name])
    theirs = state_graph(manifest.module_of(model), manifest.place(model.cfg))
    states = {node: frozenset(state.items()) for node, state in theirs.nodes(data="state")}
    wanted: Counter[object] = Counter()
    for source, target, data in theirs.edges(data=True):
        wanted[states[source], data["action"], states[target]] += data["count"]
    mirror = importlib.import_module(manifest.algorithm_of(model).mirror)
    search = search_plainly(mirror.build(manifest.constants_of(model)))
    mine = [
        frozenset(search.model.decode(np.frombuffer(record, np.uint8)).items()) for record in search.records
    ]
    found = Counter(
        (mine[source], search.model.actions[label[0]], mine[target]) for source, target, label in search.edges
    )
    assert len(set(mine)) == len(mine) == len(states)
    assert found == wanted


def test_plain_tlc_names_the_property_and_its_counterexample_is_as_long(manifest: Manifest) -> None:
    for name in ("claim-gate-absent-race-2", "replay-check-then-set-zombie"):
        (model,) = manifest.select([name])
        result = run_tlc(manifest.module_of(model), manifest.place(model.cfg), java_args=QUICK)
        assert result.outcome is Outcome.INVARIANT_VIOLATED
        assert result.property == model.expect.property
        assert len(result.trace) == model.expect.fails[result.property or ""]


def test_the_read_path_in_two_steps_is_not_consume_once(specs: Path) -> None:
    file, cfg = specs / "ClaimGate.tla", specs / "ClaimGate_read-path-race.cfg"
    text = file.read_text(encoding="utf-8")
    atomic = "        epoch := 1;\n        by := self;\n"
    assert text.count(atomic) == 1
    file.write_text(text.replace(atomic, f"      Late:\n{atomic}"), encoding="utf-8")
    translate(file, in_place=True)
    result = run_tlc(file, cfg, java_args=QUICK)
    assert (result.outcome, result.property) == (Outcome.INVARIANT_VIOLATED, "ConsumeOnce")


def test_the_key_looked_at_and_not_bound_is_not_enough(specs: Path) -> None:
    """What the sink is asked in one step and told in another is refuted by the manifest's own model."""
    (model,) = load_manifest(specs / MANIFEST.name).select(["replay-check-then-set-crash"])
    calm = run_mirror(load_manifest(specs / MANIFEST.name), model)
    assert calm.fails == {}
    text = (specs / model.cfg).read_text(encoding="utf-8")
    (specs / model.cfg).write_text(text.replace("MaxExpiries = 0", "MaxExpiries = 1"), encoding="utf-8")
    zombie = run_mirror(load_manifest(specs / MANIFEST.name), model)
    assert zombie.fails == {"AtMostOnce": 11, "ExactlyOneEffect": None}
