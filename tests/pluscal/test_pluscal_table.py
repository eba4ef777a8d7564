"""The table of racers: it says what the rows say, and the one that is kept is the manifest's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from resume_contract.manifest import ROOT
from resume_contract.pluscal.claim_gate import GateRow, gate_rows, markdown
from resume_contract.pluscal.manifest import Manifest
from resume_contract.pluscal.running import Run, run_mirror

VERSIONS = {"tlc": "2.15"}
PAPER = "k racers can fire k effects"
ONLY = "Only the atomic insert on the read path is consume-once"
BOTH = "only that one with take-over is consume-once and live"


def rows_of(manifest: Manifest, racers: int) -> list[GateRow]:
    """The rows for some racers, by the mirror."""
    runs: list[Run] = [
        run_mirror(manifest, model, compiled=False)
        for model in manifest.models
        if model.algorithm == "ClaimGate" and manifest.constants_of(model)["K"] == racers
    ]
    return gate_rows(manifest, runs)


def test_the_table_says_what_the_rows_say(manifest: Manifest) -> None:
    rows = rows_of(manifest, 2)
    assert len(rows) == 12
    text = markdown(rows, VERSIONS)
    assert "| no claim | 0 | no | 0 | 2 / 2 | no | yes |" in text
    assert "| atomic insert on the read path | 1 | no | 0 | 1 / 1 | yes | no |" in text
    assert "| atomic insert on the read path | 1 | yes | 0 | 1 / 2 | yes | yes |" in text
    for sentence in (PAPER, ONLY, BOTH):
        assert sentence in text


def test_a_sentence_that_the_rows_refute_is_not_there(manifest: Manifest) -> None:
    rows = rows_of(manifest, 2)
    absent = next(row for row in rows if row.case == ("absent", 0, False, 0))
    assert PAPER not in markdown([replace(absent, firing=1), *(r for r in rows if r != absent)], VERSIONS)
    second = next(row for row in rows if row.variant == "write_path")
    other = [replace(second, consume_once=True), *(r for r in rows if r.variant != "write_path")]
    assert ONLY not in markdown(other, VERSIONS)
    stuck = [replace(row, live=False) if row.take_over else row for row in rows]
    assert BOTH not in markdown(stuck, VERSIONS)


def test_the_kept_table_is_the_manifests(manifest: Manifest) -> None:
    data = json.loads((ROOT / "results" / "claim-gate.json").read_text(encoding="utf-8"))
    assert data["version"] == 1
    assert data["engines"] == ["tlc", "mirror"]
    assert data["k_effects_without_a_claim"] == {"2": True, "3": True, "4": True, "5": True}
    found: dict[tuple[Any, ...], Any] = {
        (row["variant"], row["crashes"], row["take_over"], row["expiries"], row["k"]): row
        for row in data["rows"]
    }
    models = [model for model in manifest.models if model.algorithm == "ClaimGate"]
    assert len(found) == len(data["rows"]) == len(models) == 48
    for model in models:
        constants, expect = manifest.constants_of(model), model.expect
        row = found[
            tuple(constants[name] for name in ("Variant", "MaxCrashes", "TakeOver", "MaxExpiries", "K"))
        ]
        assert {"Firing": row["firing"], "Applied": row["applied"]} == expect.most
        assert row["depth"] == expect.fails.get("ConsumeOnce")
        assert row["consume_once"] == ("ConsumeOnce" not in expect.fails)
        if model.temporal:
            assert row["live"] == ("Consumed" not in expect.fails)
        else:
            assert row["live"] is None
    rows = [GateRow(**{**row, "judges_of_live": tuple(row["judges_of_live"])}) for row in data["rows"]]
    text = (ROOT / "results" / "claim-gate.md").read_text(encoding="utf-8")
    assert text == markdown(rows, data["versions"])
    for sentence in (PAPER, ONLY, BOTH):
        assert sentence in text
