"""The compiled mirror comes to the counts of the manifest, which are TLC's, at small and base."""

from __future__ import annotations

import pytest

from pymodel.engine import explore
from pymodel.resume.model import build
from pymodel.resume.program import PROGRAMS
from resume_contract.manifest import ModelEntry, load_manifest

MODELS = [model for model in load_manifest().models if "mirror" in model.engines and model.bound != "scaled"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_counts_are_tlcs(model: ModelEntry) -> None:
    found = explore(build(PROGRAMS[model.program], model.limits), workers=1)
    expect = model.expect
    assert (found.distinct, found.generated, found.depth) == (expect.distinct, expect.generated, expect.depth)
    assert found.violations == {}
    assert found.complete
    assert sum(found.levels) == found.distinct
