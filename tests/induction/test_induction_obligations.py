"""The list of obligations: what it may say, and what it has to agree with."""

from __future__ import annotations

from pathlib import Path

import pytest

from resume_contract.cli import run
from resume_contract.induction import CONJUNCTS, OBLIGATIONS, InductionError, load_obligations, select
from tlc_runner.config import read_config


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_every_configuration_file_is_an_obligation() -> None:
    known = load_obligations()
    files = {path.name for path in (OBLIGATIONS.parent / "tla").glob("MCResumeInduction_*.cfg")}
    assert {known.cfg(obligation).name for obligation in known.obligations} == files


def test_sampled_is_said_where_states_are_drawn() -> None:
    for obligation in load_obligations().obligations:
        assert (obligation.method == "sampled") == obligation.name.startswith("sampled-")
        text = read_config(OBLIGATIONS.parent / obligation.cfg).portable_text
        assert ("Sample = 0\n" in text) == (obligation.method != "sampled")


def test_every_conjunct_is_part_of_ind_and_named_in_the_module() -> None:
    folder = OBLIGATIONS.parent / "tla"
    text = (folder / "ResumeInduction.tla").read_text(encoding="utf-8")
    ind = text[text.index("\nInd ==") : text.index("(* The generator: branches.")]
    assert (
        tuple(word for word in ind.replace("/\\", " ").split() if word.isalpha() and word != "Ind")
        == CONJUNCTS
    )
    named = (folder / "MCResumeInduction.tla").read_text(encoding="utf-8")
    listed = named[named.index("ConjunctNames ==") : named.index("Names == ConjunctNames")]
    assert tuple(listed.split('"')[1::2]) == CONJUNCTS


def test_an_unknown_name_is_told_with_those_that_there_are(capfd: pytest.CaptureFixture[str]) -> None:
    known = load_obligations()
    status = run(["induction", "nonsense"])
    err = capfd.readouterr().err
    names = ", ".join(obligation.name for obligation in known.obligations)
    assert (status, err) == (2, f"error: obligation nonsense is unknown: one of {names}\n")


def test_the_order_of_the_list_is_kept() -> None:
    known = load_obligations()
    chosen = select(known, ["necessity", "tiny-gated"])
    assert [obligation.name for obligation in chosen] == ["tiny-gated", "necessity"]
    assert select(known) == known.obligations


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("induction.yaml", "version: 1", "version: 2", "mend it there"),
        ("induction.yaml", "kind: initiation", "kind: magic", "mend it there"),
        ("induction.yaml", "program: Brief", "program: Linear", "wants UnitOf = LinearUnitOf"),
        ("induction.yaml", "name: tiny-gated", "name: tiny-work", "obligation tiny-work stands twice"),
        ("induction.yaml", "equals: tiny-gated", "equals: tiny-asked", "make the two agree"),
        ("induction.yaml", "equals: tiny-gated", "equals: nothing", "equals nothing, which is no obligation"),
        ("induction.yaml", "outcome: SUCCESS", "outcome: FINE", "outcome FINE is unknown"),
        ("induction.yaml", "      Hands: {step: [Records]}\n", "", "nothing fails without Hands"),
        ("tla/MCResumeInduction_tiny-gated.cfg", " Frontier", "", "does not check Frontier"),
        ("tla/MCResumeInduction_tiny-gated.cfg", "NEXT OneStep", "NEXT NoStep", "wants NEXT = OneStep"),
        ("tla/MCResumeInduction_tiny-gated.cfg", "Sample = 0", "Sample = 3", "wants Sample = 0"),
    ],
)
def test_what_does_not_agree_is_refused(specs: Path, file: str, old: str, new: str, reason: str) -> None:
    _replace(specs / file, old, new)
    with pytest.raises(InductionError) as error:
        load_obligations(specs / "induction.yaml")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_list_that_is_missing_is_one_line(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["induction", "--obligations", str(tmp_path / "none.yaml")]) == 2
    err = capfd.readouterr().err
    assert err.startswith(f"error: {tmp_path / 'none.yaml'}: cannot be read")
    assert err.count("\n") == 1
