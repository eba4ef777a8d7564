"""At the small bound TLC and the mirror have the same state graph, state by state and edge by edge."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodel.resume.layout import Bounds
from pymodel.resume.program import Program, Step
from pymodel.resume.transitions import ACTIONS
from resume_contract.agreement import SPECS, Size, compare_graphs
from resume_contract.manifest import ModelEntry, load_manifest

MANIFEST = load_manifest()
SMALL = [model for model in MANIFEST.of_bound("small") if "mirror" in model.engines]
# Smaller than any of the manifest's: what is asked of the comparison itself.
TINY = Program("Tiny", ((Step("s1", "pure"), Step("s2", "gate", ("s1",))),))


@pytest.mark.slow
@pytest.mark.parametrize("model", SMALL, ids=lambda model: model.name)
def test_the_whole_labelled_state_graph_is_the_same(model: ModelEntry) -> None:
    files = (MANIFEST.module(model), MANIFEST.cfg(model))
    report = compare_graphs(model.program, model.limits, model=files)
    assert [difference.describe() for difference in report.differences] == []
    expected = Size(model.expect.distinct, model.expect.generated, model.expect.depth)
    assert report.tlc == report.mirror == expected
    assert report.agree
    assert sum(report.actions.values()) == report.mirror.generated - 1


@pytest.fixture(scope="module")
def slipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The specs, with a runner that goes idle after Park left where it is."""
    folder = tmp_path_factory.mktemp("specs")
    for path in SPECS.glob("*.tla"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "ResumeContract":
            old = '.status = "parked"]\n  /\\ run\' = [run EXCEPT ![r] = Idle]'
            assert old in text
            text = text.replace(old, '.status = "parked"]\n  /\\ run\' = run')
        (folder / path.name).write_text(text, encoding="utf-8")
    return folder


def test_a_slip_is_a_difference_with_its_place(slipped: Path) -> None:
    bounds = Bounds(runners=1, branches=1, answers=1)
    report = compare_graphs(TINY, bounds, specs=slipped)
    assert not report.agree
    assert report.tlc != report.mirror
    (both,) = {d.action for d in report.differences if d.action == "Park"}
    assert both == "Park"
    park = next(d for d in report.differences if d.action == "Park" and d.mirror)
    assert (park.tlc, park.mirror) == (0, 1)
    assert 'gate[1][2][status]: "closed" -> "parked"' in park.describe()
    assert set(report.actions) == set(ACTIONS)


def test_any_program_can_be_compared() -> None:
    report = compare_graphs(TINY, Bounds(runners=1, branches=1, answers=1))
    assert report.agree
    assert report.actions["Commit"] == 1
    assert report.actions["Fork"] == report.actions["Fire"] == 0
