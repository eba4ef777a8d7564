"""``resume-contract pluscal``: exit statuses, what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from resume_contract.manifest import ManifestError
from resume_contract.pluscal.configuration import constants_of, with_constants
from resume_contract.pluscal.manifest import MANIFEST, Manifest, load_manifest, verdict

ZOMBIE = "replay-check-then-set-zombie"


def replace_in(path: Path, old: str, new: str) -> None:
    """Put one text in the place of another, which must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_model_that_is_as_expected(command: Any) -> None:
    status, out, err = command(ZOMBIE, "--engine", "mirror")
    assert (status, err) == (0, "")
    header, line = Text.from_ansi(out).plain.splitlines()
    assert header.split() == [
        *("model", "engine", "outcome", "fails", "at", "most", "distinct", "generated", "depth", "seconds")
    ]
    fields = f"{ZOMBIE} mirror INVARIANT_VIOLATED AtMostOnce 11, ExactlyOneEffect ∞ Applied 2, Executing 2 219 427 16"
    assert line.split()[:-1] == fields.split()


def test_json(command: Any) -> None:
    status, out, err = command(ZOMBIE, "--engine", "mirror", "--json")
    assert (status, err) == (0, "")
    data = json.loads(out)
    assert data["version"] == 1
    assert data["translations"] == {"IdempotentReplay": True}
    assert data["differences"] == []
    (run,) = data["runs"]
    assert run.pop("seconds") >= 0
    assert run.pop("actions")["Set"] == 40
    assert run == {
        "model": ZOMBIE,
        "engine": "mirror",
        "outcome": "INVARIANT_VIOLATED",
        "property": "AtMostOnce",
        "fails": {"AtMostOnce": 11, "ExactlyOneEffect": None},
        "judged": ["TypeOK", "InOrder", "AtMostOnce", "ExactlyOneEffect"],
        "most": {"Applied": 2, "Executing": 2},
        "distinct": 219,
        "generated": 427,
        "depth": 16,
        "message": "",
    }


def test_differences_are_told_and_exit_with_1(command: Any, specs: Path) -> None:
    replace_in(specs / MANIFEST.name, "distinct: 219, generated: 427", "distinct: 220, generated: 427")
    replace_in(specs / MANIFEST.name, "fails: {AtMostOnce: 11,", "fails: {AtMostOnce: 12,")
    replace_in(specs / "IdempotentReplay.tla", "      recorded := TRUE;", "      recorded := intent;")
    status, _, err = command(ZOMBIE, "--engine", "mirror", "--manifest", specs / MANIFEST.name)
    assert status == 1
    assert err.splitlines() == [
        f"difference: {specs}/IdempotentReplay.tla: the translation is not that of the algorithm:"
        f" python -m tlc_runner translate --in-place {specs}/IdempotentReplay.tla makes it anew",
        f"difference: {ZOMBIE} by mirror: what fails: AtMostOnce 11, ExactlyOneEffect for ever,"
        " the manifest expects AtMostOnce 12, ExactlyOneEffect for ever",
        f"difference: {ZOMBIE} by mirror: distinct: 219, the manifest expects 220",
    ]


def test_what_cannot_be_checked_exits_with_2(command: Any, specs: Path) -> None:
    replace_in(specs / "IdempotentReplay.tla", "AtMostOnce == applied <= 1", "AtMostOnce == aplied <= 1")
    status, _, err = command(ZOMBIE, "--engine", "tlc", "--manifest", specs / MANIFEST.name)
    assert status == 2
    (error,) = err.splitlines()
    assert "aplied" in error
    assert error.startswith(f"error: {ZOMBIE} by tlc: {specs}/IdempotentReplay.tla line ")


def test_an_unknown_model(command: Any, manifest: Manifest) -> None:
    status, out, err = command("claim-gate-2")
    assert (status, out) == (2, "")
    known = ", ".join([*manifest.algorithms, *manifest.names])
    assert err == f"error: model claim-gate-2 is unknown: one of {known}\n"
    status, _, err = command("--engine", "python")
    assert (status, err) == (2, "error: engine python is unknown: one of tlc, mirror, both\n")


def test_no_table_of_a_part(command: Any, tmp_path: Path) -> None:
    for arguments in ([ZOMBIE], ["ClaimGate", "--engine", "mirror"]):
        status, out, err = command(*arguments, "--write", tmp_path / "results")
        assert (status, out) == (2, "")
        assert err == (
            "error: --write needs all models of ClaimGate and both engines:"
            " run `resume-contract pluscal ClaimGate --write …`\n"
        )
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'translator: ["-nocfg"',
            'translator: ["-wf", "-nocfg"',
            "translator is -wf -nocfg -lineWidth 78 -unixEOL, the translations are made with"
            " -nocfg -lineWidth 78 -unixEOL: write that",
        ),
        (
            "claim-gate-absent-race-3",
            "claim-gate-absent-race-2",
            "model claim-gate-absent-race-2: stands twice: model names must be unique",
        ),
        (
            "{K: 3}",
            "{k: 3}",
            None,
        ),
        (
            "property: AtMostOnce, distinct: 219",
            "property: InOrder, distinct: 219",
            f"model {ZOMBIE}: what fails makes the outcome INVARIANT_VIOLATED AtMostOnce: make the two agree",
        ),
        (
            "fails: {AtMostOnce: 11, ExactlyOneEffect",
            "fails: {AtMostOnce: 11, Consumed",
            f"model {ZOMBIE}: Consumed fails, and is not checked: one of ExactlyOneEffect could",
        ),
        (
            "most: {Firing: 2, Applied: 2}",
            "most: {Firing: 2}",
            "model claim-gate-absent-race-2: most must give Firing, Applied, in this order",
        ),
    ],
)
def test_a_manifest_that_cannot_be_right(specs: Path, old: str, new: str, message: str | None) -> None:
    path = specs / MANIFEST.name
    replace_in(path, old, new)
    if message is None:
        cfg = specs / "ClaimGate_absent-race.cfg"
        whole = f"{cfg}: 0 lines begin with k = …, which is to be replaced: write one such line"
    else:
        whole = f"{path}: {message}"
    with pytest.raises(Exception) as caught:  # noqa: PT011
        load_manifest(path)
    assert str(caught.value) == whole
    assert isinstance(caught.value, ManifestError) == (message is not None)


def test_verdicts_are_those_of_a_search_that_stops_at_the_first() -> None:
    assert verdict({}, ["L"]) == ("SUCCESS", None)
    assert verdict({"L": None}, ["L"]) == ("LIVENESS_VIOLATED", "L")
    assert verdict({"L": None, "A": 9, "B": 7}, ["L"]) == ("INVARIANT_VIOLATED", "B")
    assert verdict({"A": 9, "P": 7}, ["P"]) == ("ACTION_PROPERTY_VIOLATED", "P")


def test_constants() -> None:
    text = 'CONSTANTS\n  K = 2  \\* racers: K = 9\n  V = "a b"\n  T = TRUE\n  S = {1, 2}\n  F <- Other\nINVARIANT I\n'
    assert constants_of(text) == {"K": 2, "V": "a b", "T": True, "S": "{1,2}", "F": "Other"}
    replaced = with_constants(Path("x.cfg"), text, {"K": 3, "V": "c", "T": False})
    assert constants_of(replaced) == {"K": 3, "V": "c", "T": False, "S": "{1,2}", "F": "Other"}
    assert replaced == text.replace("K = 2", "K = 3").replace("a b", "c").replace("TRUE", "FALSE")
