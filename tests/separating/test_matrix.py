"""The fault matrix: what each cell breaks, in the mirror and by TLC, and that a cell can come out clean."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from separating_models import by_tlc
from separating_models.by_mirror import examine_by_mirror
from separating_models.by_tlc import examine_by_tlc
from separating_models.configuration import Configuration, program_of, shape
from separating_models.errors import SeparationError
from separating_models.matrix import REFERENCE, Cell, Matrix, fill_matrix
from separating_models.paths import EXTRA_FAULTS, LIVENESS_FAULTS, MATRIX_FAULTS, PATHS, cell

# fault -> the clause that it breaks, and where it acts
PC, EO, FD, CV, COV, COC, RD, FI = CLAUSES
EVERYWHERE = ("interrupt", "crash", "fork")
EXPECTED = {
    "restart_from_earlier": (PC, EVERYWHERE),
    "skip_uncommitted": (PC, EVERYWHERE),
    "unkeyed_effect": (EO, EVERYWHERE),
    "ledger_ignored": (EO, EVERYWHERE),
    "record_before_fire": (EO, EVERYWHERE),
    "fork_nondeterminism": (FD, ("fork",)),
    "fork_aliases_parent": (FD, ("fork",)),
    "invalid_persisted": (CV, ("interrupt", "crash")),
    "torn_checkpoint": (CV, ("crash",)),
    "late_answer_recorded": (COV, EVERYWHERE),
    "check_then_claim": (COC, EVERYWHERE),
    "recompute_differs": (RD, EVERYWHERE),
    "implicit_fork": (FI, ("fork",)),
    "answer_replaced": (COV, EVERYWHERE),
    "fork_inherits_answer": (COV, ("fork",)),
    "lost_answer": (COV, ("crash",)),
    "lost_commit": (PC, ("crash",)),
    "unstable_key": (EO, EVERYWHERE),
}


@pytest.fixture(scope="module")
def by_mirror() -> dict[tuple[str, str], Cell]:
    found = {}
    for fault in (*FAULTS, REFERENCE):
        for path in PATHS:
            found[fault, path] = Cell(fault, path, "mirror", examine_by_mirror(cell(fault, path)))
    return found


def test_the_matrix_has_39_cells_and_the_other_faults_beside_it() -> None:
    assert len(MATRIX_FAULTS) * len(PATHS) == 39
    assert (*MATRIX_FAULTS, *EXTRA_FAULTS, *LIVENESS_FAULTS) == FAULTS
    assert EXPECTED.keys() == {*MATRIX_FAULTS, *EXTRA_FAULTS}
    assert shape(cell(REFERENCE, "fork").program) == "pure | effect ; gate ; effect"


def test_each_cell_breaks_the_clause_of_its_fault_or_is_unreached(
    by_mirror: dict[tuple[str, str], Cell],
) -> None:
    for fault, (clause, paths) in EXPECTED.items():
        for path in PATHS:
            found = by_mirror[fault, path]
            assert found.verdict == ("breaks" if path in paths else "unreached"), (fault, path)
            assert found.found is not None
            assert list(found.found.breaks) == ([clause] if path in paths else []), (fault, path)


def test_faults_of_liveness_act_and_break_no_clause_of_safety(by_mirror: dict[tuple[str, str], Cell]) -> None:
    for fault in LIVENESS_FAULTS:
        verdicts = {path: by_mirror[fault, path].verdict for path in PATHS}
        assert verdicts == {"interrupt": "unreached", "crash": "clean", "fork": "unreached"}


def test_an_unreached_cell_is_the_reference(by_mirror: dict[tuple[str, str], Cell]) -> None:
    for (_, path), found in by_mirror.items():
        reference = by_mirror[REFERENCE, path]
        assert reference.verdict == "reference"
        assert found.found is not None
        assert reference.found is not None
        if found.verdict == "unreached":
            assert found.found.figures == reference.found.figures
        elif found.verdict != "reference":
            assert found.found.distinct != reference.found.distinct


@pytest.mark.slow
def test_both_engines_agree_and_a_matrix_says_so() -> None:
    matrix = fill_matrix(["check_then_claim", REFERENCE], ["interrupt"], ["tlc", "mirror"], jobs=2)
    assert matrix.disagreements == matrix.failures == ()
    assert [(each.engine, each.verdict) for each in matrix.cells] == [
        ("tlc", "breaks"),
        ("mirror", "breaks"),
        ("tlc", "reference"),
        ("mirror", "reference"),
    ]
    data = matrix.to_json()
    assert [(each["fault"], each["breaks"]) for each in data["cells"]] == [
        ("check_then_claim", {COC: 14})
    ] * 2
    assert all(each["reached"] for each in data["cells"])


def test_a_difference_between_the_engines_is_told(by_mirror: dict[tuple[str, str], Cell]) -> None:
    one, other = by_mirror["unkeyed_effect", "interrupt"], by_mirror[REFERENCE, "interrupt"]
    matrix = Matrix((one, Cell(one.fault, one.path, "tlc", other.found)))
    assert "unkeyed_effect on interrupt: breaks is {} by TLC, {'EO': 8} by the mirror" in [
        line.replace("'EO': 7", "'EO': 8") for line in matrix.disagreements
    ]
    broken = Matrix((Cell(REFERENCE, "interrupt", "mirror", one.found),))
    assert broken.disagreements == ("reference on interrupt by mirror: the reference breaks EO",)


def test_a_cell_that_fails_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from separating_models import examining

    def refuse(*_: object, **__: object) -> None:
        raise SeparationError("no: not this one")

    matrix = fill_matrix([REFERENCE], ["interrupt", "crash"], ["mirror"], jobs=1)
    assert matrix.failures == ()
    monkeypatch.setattr(examining, "examine_by_mirror", refuse)
    with pytest.raises(SeparationError):
        examining.examine(examining.Task(cell(REFERENCE, "crash"), "mirror"))
    failed = Matrix((*matrix.cells, Cell("unkeyed_effect", "crash", "mirror", None, "no: not this one")))
    assert failed.failures == ("unkeyed_effect on crash by mirror: no: not this one",)
    assert failed.to_json()["cells"][0]["verdict"] == "failed"


# The operator that is the deviation: without it nothing deviates.
DEVIATIONS = {
    "skip_uncommitted": "CommitSkipping(r)",
    "unkeyed_effect": "FireUnkeyed(r)",
    "late_answer_recorded": "DeliverLate(b, g, d, v)",
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", DEVIATIONS)
def test_without_its_deviation_a_cell_is_clean_by_tlc(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = tmp_path / "tla"
    shutil.copytree(by_tlc.SPECS, specs)
    path = specs / "ResumeFaults.tla"
    text = path.read_text(encoding="utf-8")
    head = f"{DEVIATIONS[fault]} =="
    assert text.count(head) == 1
    path.write_text(text.replace(head, f"{head} FALSE /\\"), encoding="utf-8")
    monkeypatch.setattr(by_tlc, "SPECS", specs)
    found = examine_by_tlc(cell(fault, "interrupt"))
    reference = examine_by_mirror(cell(REFERENCE, "interrupt"))
    assert (dict(found.breaks), found.reached) == ({}, frozenset())
    assert found.figures == reference.figures


# The function of the mirror that is the deviation, and a small model in which its clause breaks.
MIRRORED = {
    "restart_from_earlier": ("LoadEarlier", "pure | pure", 1, 1),
    "skip_uncommitted": ("CommitSkipping", "pure | pure", 1, 1),
    "unkeyed_effect": ("FireAgain", "effect", 2, 1),
    "ledger_ignored": ("LoadIgnoringLedger", "effect | pure", 2, 1),
    "record_before_fire": ("RecordUnfired", "effect", 1, 1),
    "fork_nondeterminism": ("ComputeForked", "pure", 1, 2),
    "fork_aliases_parent": ("alias_parent", "gate", 1, 2),
    "invalid_persisted": ("RecordInvalid", "pure", 1, 1),
    "torn_checkpoint": ("CrashTearing", "pure", 1, 1),
    "late_answer_recorded": ("DeliverLate", "gate", 1, 1),
    "check_then_claim": ("ClaimWriting", "gate", 2, 1),
    "recompute_differs": ("ComputeDiffering", "pure", 2, 1),
    "implicit_fork": ("LoadForking", "pure", 1, 2),
}


@pytest.mark.parametrize("fault", MATRIX_FAULTS)
def test_without_its_deviation_nothing_breaks_in_the_mirror(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pymodel.plain_search import search_plainly
    from pymodel.resume import faulty

    function, text, runners, branches = MIRRORED[fault]
    bounds = Bounds(
        runners=runners, branches=branches, answers=2, invalid=1, crashes=1, length=3, computations=3
    )
    configuration = Configuration(program_of(text), bounds, (fault,))
    broken = search_plainly(configuration.model()).violations
    assert set(broken) == {EXPECTED[fault][0]}
    monkeypatch.setattr(faulty, function, lambda *_: False)
    if fault == "ledger_ignored":
        monkeypatch.setattr(faulty, "FireAgain", lambda *_: False)
    assert search_plainly(configuration.model()).violations == {}
