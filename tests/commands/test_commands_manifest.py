"""The manifest: what it holds, what is refused, and that it cannot drift from the configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import replace_in

from pymodel.resume.program import PROGRAMS
from resume_contract.manifest import BOUNDS, Manifest, ManifestError, load_manifest
from tlc_runner.outcome import Outcome


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load_manifest()


def test_every_bound_has_a_model_of_both_engines(manifest: Manifest) -> None:
    for bound in BOUNDS:
        assert any(model.engines == ("tlc", "mirror") for model in manifest.of_bound(bound))


def test_the_scaled_bound_is_large_enough(manifest: Manifest) -> None:
    (scaled,) = manifest.of_bound("scaled")
    assert scaled.expect.distinct >= 7_400_000


def test_small_models_are_small(manifest: Manifest) -> None:
    assert all(model.expect.distinct <= 5_000 for model in manifest.of_bound("small"))


def test_the_programs_have_what_the_contract_is_about(manifest: Manifest) -> None:
    programs = [PROGRAMS[model.program] for model in manifest.models]
    assert any(all(len(unit) == 1 for unit in program.units) for program in programs)
    assert any(
        len(unit) > 1 and not any(step.after for step in unit)
        for program in programs
        for unit in program.units
    )
    assert any(
        [step.kind for step in unit] == ["effect", "gate", "effect"]
        for program in programs
        for unit in program.units
    )


def test_the_reference_is_expected_to_hold(manifest: Manifest) -> None:
    """Only liveness fails anywhere: in the models that leave out a part of its fairness."""
    for model in manifest.models:
        if "mirror" in model.engines:
            assert (model.expected_outcome, model.expect.property) == (Outcome.SUCCESS, None)
        elif model.expected_outcome is not Outcome.SUCCESS:
            assert (model.expected_outcome, model.expect.property) == (Outcome.LIVENESS_VIOLATED, "LV")


def test_liveness_is_checked_at_small(manifest: Manifest) -> None:
    (liveness,) = manifest.select(["small-liveness"])
    assert liveness.bound == "small"
    assert liveness.engines == ("tlc",)


def test_selecting_by_bound_and_name(manifest: Manifest) -> None:
    assert [model.name for model in manifest.select([], ["scaled"])] == ["scaled"]
    assert [model.name for model in manifest.select(["base", "small"])] == ["small", "base"]
    with pytest.raises(ManifestError, match=r"no model of small is of bound base: leave out one of the two"):
        manifest.select(["small"], ["base"])


EXCUSED = "excused: [{{bound: base, because: so, {}}}]\nmodels:"
SMALL = "cfg: tla/MCResumeContract_small.cfg\n    program: Gated\n    bounds: {runners: 2, "


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "version: 1",
            "version: 2",
            r"manifest\.yaml: Invalid enum value 2 - at `\$\.version`: mend it there",
        ),
        (
            "version: 1",
            "version: [",
            r"manifest\.yaml: while parsing a flow node .* line \d+, column \d+: mend it there",
        ),
        (
            "program: Gated",
            "program: Nope",
            r"model small: program Nope is unknown: one of Linear, Parallel, ",
        ),
        ("outcome: SUCCESS", "outcome: FINE", r"model small: outcome FINE is unknown: one of SUCCESS, "),
        (
            "{runners: 2",
            "{racers: 2",
            r"Object contains unknown field `racers` - at `\$\.models\[0\]\.bounds`",
        ),
        (
            "distinct: 3505",
            "distinct: many",
            r"Expected `int`, got `str` - at `\$\.models\[0\]\.expect\.distinct`",
        ),
        ("name: small-answers", "name: small", r"model small stands twice: model names must be unique"),
        (
            "answers: 1, expiries: 1, invalid: 1",
            "answers: 3, expiries: 1, invalid: 1",
            r"model small: bound answers = 3 is impossible: each answer is a value, and there are 2: lower it or raise",
        ),
        (
            SMALL,
            SMALL.replace("runners: 2", "runners: 0"),
            r"bound runners = 0 is impossible: give a number from 1 to",
        ),
        (
            SMALL,
            SMALL.replace("runners: 2", "runners: 3"),
            r"model small wants Runners = \{1,2,3\}, tla/MCResumeContract_small\.cfg has \{1,2\}: make the two agree",
        ),
        (
            "program: Gated",
            "program: Asked",
            r"model small wants UnitOf = AskedUnitOf, .*\.cfg has GatedUnitOf: make",
        ),
        ("MCResumeContract_small.cfg", "gone.cfg", r"gone\.cfg: configuration file cannot be read"),
        (
            "MCResumeContract.tla",
            "gone.tla",
            r"model small: module tla/gone\.tla is no file: name one that exists",
        ),
        (
            "models:",
            EXCUSED.format("actions: [Leap]"),
            r"excused at base: action Leap is unknown: one of Load, ",
        ),
        (
            "models:",
            EXCUSED.format("sometimes: [Never]"),
            r"excused at base: sometimes property Never is unknown: one of RaceAtGate, ",
        ),
    ],
)
def test_what_is_refused(specs: Path, old: str, new: str, message: str) -> None:
    replace_in(specs / "manifest.yaml", old, new)
    with pytest.raises(Exception, match=message) as caught:
        load_manifest(specs / "manifest.yaml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MaxExpiries = 1", "MaxExpiries = 2", r"wants MaxExpiries = 1, .* has 2: make the two agree"),
        (
            "Branches = {1, 2}",
            "Branches = {1, 2, 3}",
            r"wants Branches = \{1,2\}, .* has \{1,2,3\}: make the two",
        ),
        ("  MaxInvalid = 1\n", "", r"wants MaxInvalid = 1, .* has none: make the two agree"),
        ("MaxCrashes = 0", "(* MaxCrashes = 0 *)", r"wants MaxCrashes = 0, .* has none: make the two agree"),
        (" COC ", " ", r"model small: tla/MCResumeContract_small\.cfg does not check COC: list it there"),
    ],
)
def test_a_configuration_file_that_drifts_is_refused(specs: Path, old: str, new: str, message: str) -> None:
    replace_in(specs / "tla" / "MCResumeContract_small.cfg", old, new)
    with pytest.raises(ManifestError, match=message):
        load_manifest(specs / "manifest.yaml")


def test_a_liveness_model_must_check_liveness(specs: Path) -> None:
    replace_in(specs / "tla" / "MCResumeContract_small-liveness.cfg", "PROPERTIES LV", "INVARIANTS PC")
    with pytest.raises(ManifestError, match=r"small-liveness\.cfg does not check LV: list it there"):
        load_manifest(specs / "manifest.yaml")


def test_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(
        ManifestError, match=r"nowhere\.yaml: cannot be read \(No such file or directory\): run from a"
    ):
        load_manifest(tmp_path / "nowhere.yaml")
