"""The lattice: sets of clauses are realised exactly, and the kept certificate has all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pymodel.resume.clauses import CLAUSES
from resume_contract.manifest import ROOT
from separating_models.by_mirror import examine_by_mirror
from separating_models.configuration import Configuration, program_of
from separating_models.lattice import ANTECEDENTS, SAFETY, SPACE, breaking_alone, decide, elements, vacuous
from separating_models.models import configuration_from_json

RESULTS = Path(ROOT) / "results" / "independence.json"


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return data


def test_there_are_128_sets() -> None:
    sets = list(elements())
    assert len(sets) == len(set(sets)) == 2 ** len(SAFETY) == 128
    assert "FI" not in SAFETY
    assert ANTECEDENTS.keys() == set(CLAUSES)


def test_the_certificate_decides_all_of_them(certificate: dict[str, Any]) -> None:
    assert [tuple(each["breaks"]) for each in certificate["lattice"]] == list(elements())
    for each in certificate["lattice"]:
        assert each["found"], "every set is realised"
        assert list(each["depths"]) == each["breaks"]
        joint = each["joint_witness"]
        if {"PC", "FD", "CV"} <= set(each["breaks"]):
            assert joint is None, "within these bounds no behaviour has room for the three"
        elif each["breaks"]:
            assert joint is not None
            assert list(joint["broken_at"]) == each["breaks"]
            assert max(joint["broken_at"].values()) == joint["length"] == len(joint["steps"])


def test_tlc_agreed_on_every_set_that_is_small_enough(certificate: dict[str, Any]) -> None:
    asked = {"tlc" in each["engines"] for each in certificate["lattice"] if each["distinct"] <= 100_000}
    assert asked == {True}


def test_the_small_models_of_the_certificate_are_what_it_says(certificate: dict[str, Any]) -> None:
    small = [each for each in certificate["lattice"] if each["distinct"] <= 60_000]
    assert len(small) >= 10
    for each in small:
        found = examine_by_mirror(configuration_from_json(each["configuration"]))
        assert dict(found.breaks) == each["depths"]
        assert (found.distinct, found.generated) == (each["distinct"], each["generated"])
        assert vacuous(found) == ()


def test_the_certificate_separates_every_clause(certificate: dict[str, Any]) -> None:
    assert certificate["separating"].keys() == set(CLAUSES)
    for clause, each in certificate["separating"].items():
        assert list(each["breaks"]) == [clause]
        assert set(each["keeps"]) == set(CLAUSES) - {clause}
        assert (each["outcome"], each["others"]) == ("INVARIANT_VIOLATED", "SUCCESS")


def test_vacuous_clauses_are_told() -> None:
    _, bounds = SPACE[0]
    alone = examine_by_mirror(Configuration(program_of("gate"), bounds))
    assert {"EO", "RD"} <= set(vacuous(alone))
    assert "CO-C" not in vacuous(alone)


def test_faults_are_taken_by_what_they_break_alone() -> None:
    shape, bounds = SPACE[1]
    faults = ("unkeyed_effect", "record_before_fire", "invalid_persisted", "lost_commit")
    singles = [examine_by_mirror(Configuration(program_of(shape), bounds, (fault,))) for fault in faults]
    (breaking,) = breaking_alone([singles])
    assert breaking["EO"] == ("unkeyed_effect", "record_before_fire"), "the one with fewer states first"
    assert (breaking["CV"], breaking["PC"], breaking["RD"]) == (("invalid_persisted",), ("lost_commit",), ())
    nothing = decide(["RD"], [breaking] * len(SPACE))
    assert (nothing.found, nothing.tried) == (None, 0)
    both = decide(["PC", "EO"], [breaking, *[breaking] * (len(SPACE) - 1)])
    assert both.found is not None
    assert set(both.found.breaks) == {"PC", "EO"}
    assert both.joint is not None
    assert both.joint.broken_at.keys() == {"PC", "EO"}
