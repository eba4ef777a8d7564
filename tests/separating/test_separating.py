"""Separating models: what is kept verifies, the search finds it again, and what does not verify is an error."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from separating_models.by_mirror import examine_by_mirror
from separating_models.certificate import verify
from separating_models.configuration import Configuration, program_of, shape
from separating_models.errors import SeparationError
from separating_models.models import FOLDER, liveness_models, read_models, separating_model
from separating_models.programs import small_programs
from separating_models.search import find_separating
from separating_models.standalone import LIVENESS, Standalone


@pytest.fixture(scope="module")
def kept() -> dict[str, Standalone]:
    return {model.name: model for model in read_models()}


def test_every_clause_is_separated_by_a_kept_model(kept: dict[str, Standalone]) -> None:
    separating = {model.broken: model for model in kept.values() if not model.live}
    assert separating.keys() == {(clause,) for clause in CLAUSES}
    for (clause,), model in separating.items():
        found = examine_by_mirror(model.configuration)
        assert set(found.breaks) == {clause}
        assert found.reached == set(model.configuration.faults)
        assert {clause, *model.kept} == set(CLAUSES)


def test_models_of_liveness_are_kept(kept: dict[str, Standalone]) -> None:
    live = {model.name: model for model in kept.values() if model.live}
    assert live.keys() == {model.name for model in liveness_models()}
    assert [name for name, model in live.items() if model.broken == (LIVENESS,)] == [
        "BreaksLVOrphanedClaim",
        "BreaksLVStuckRunning",
    ]
    assert LIVENESS in live["KeepsLV"].kept


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SeparatesCOC", "BreaksLVOrphanedClaim"])
def test_a_kept_model_verifies_by_both_engines_and_by_plain_tlc(
    name: str, kept: dict[str, Standalone]
) -> None:
    found = verify(kept[name], FOLDER)
    assert found.tlc.figures == found.mirror.figures
    assert found.others.outcome.name == "SUCCESS"
    outcome = (found.plain.outcome.name, found.plain.property)
    assert outcome == {
        "SeparatesCOC": ("INVARIANT_VIOLATED", "COC"),
        "BreaksLVOrphanedClaim": ("LIVENESS_VIOLATED", LIVENESS),
    }.get(name)


@pytest.mark.slow
def test_a_model_that_does_not_verify_is_an_error(kept: dict[str, Standalone]) -> None:
    model = kept["SeparatesEO"]
    harmless = replace(model, configuration=replace(model.configuration, faults=()))
    with pytest.raises(
        SeparationError, match="SeparatesEO does not verify: the mirror finds that it breaks nothing"
    ):
        verify(harmless)
    # nobody would notice that another clause is broken, were it not checked
    both = Configuration(
        program_of("effect"),
        Bounds(runners=1, branches=1, invalid=1),
        ("record_before_fire", "invalid_persisted"),
    )
    with pytest.raises(SeparationError, match="it breaks EO, CV, not EO"):
        verify(replace(model, configuration=both))


def test_the_search_finds_the_kept_models(kept: dict[str, Standalone]) -> None:
    found = find_separating(["EO", "CV"])
    assert found.keys() == {"EO", "CV"}
    for clause, each in found.items():
        assert separating_model(each).text == kept[f"Separates{clause}"].text
        assert each.smaller > 300


def test_small_programs_are_different_and_all_there() -> None:
    one = [shape(program) for program in small_programs(1, 2)]
    assert len(one) == len(set(one)) == 3 + 8 + 5
    assert one[:3] == ["pure", "effect", "gate"]
    two = [shape(program) for program in small_programs(2, 2)]
    assert len(two) == len(set(two)) == 9
    assert all(len(program.units) == 2 for program in small_programs(2, 3))


def test_a_changed_module_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(FOLDER, folder)
    module = folder / "SeparatesPC.tla"
    module.write_text(
        module.read_text(encoding="utf-8").replace("MaxLength == ", "MaxLength ==  "), encoding="utf-8"
    )
    with pytest.raises(
        SeparationError, match=r"SeparatesPC\.tla: it is not what SeparatesPC\.json and the specs"
    ):
        read_models(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"breaks": ["XX"]}, "clause XX is unknown: one of PC,"),
        (
            {"configuration": {"program": "effect", "bounds": {"runners": 0}, "faults": []}},
            "bound runners = 0",
        ),
        ({"configuration": {"program": "effect", "bounds": {}, "faults": ["none"]}}, "fault none is unknown"),
        ({"configuration": {}}, "it is no model"),
    ],
)
def test_a_model_that_is_none_is_refused(change: dict[str, object], said: str, tmp_path: Path) -> None:
    data = json.loads((FOLDER / "SeparatesPC.json").read_text(encoding="utf-8"))
    (tmp_path / "SeparatesPC.json").write_text(json.dumps(data | change), encoding="utf-8")
    with pytest.raises(SeparationError, match=said):
        read_models(tmp_path)
    with pytest.raises(SeparationError, match="there is no model"):
        read_models(tmp_path / "nowhere")


def test_a_module_stands_alone(kept: dict[str, Standalone]) -> None:
    for model in kept.values():
        text = model.text
        assert "EXTENDS Naturals, Sequences, FiniteSets, TLC\n" in text
        assert "CONSTANT" not in text
        assert "Did(" not in text
        (fault,) = model.configuration.faults
        assert f'Faults == {{"{fault}"}}' in text
        assert all(len(line) <= 114 for line in text.splitlines())


def test_shapes_are_read_back() -> None:
    for text in ("pure", "pure | effect ; gate ; effect", "gate || effect | pure"):
        assert shape(program_of(text)) == text
