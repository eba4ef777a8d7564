"""No check holds for want of anything to judge: every action fires, every situation occurs, every clause can break."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pymodel.engine import counterexample, explore
from pymodel.resume.clauses import CLAUSES, SOMETIMES
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS, build
from pymodel.resume.program import PROGRAMS
from pymodel.resume.transitions import ACTIONS
from resume_contract.manifest import load_manifest

SMALL = [model for model in load_manifest().of_bound("small") if "mirror" in model.engines]

# The clause that each fault breaks, and it alone (the pages of the contract say why).
BREAKS = {
    "restart_from_earlier": "PC",
    "skip_uncommitted": "PC",
    "unkeyed_effect": "EO",
    "ledger_ignored": "EO",
    "record_before_fire": "EO",
    "fork_nondeterminism": "FD",
    "fork_aliases_parent": "FD",
    "invalid_persisted": "CV",
    "torn_checkpoint": "CV",
    "late_answer_recorded": "CO-V",
    "check_then_claim": "CO-C",
    "recompute_differs": "RD",
    "implicit_fork": "FI",
    "answer_replaced": "CO-V",
    "fork_inherits_answer": "CO-V",
    "lost_answer": "CO-V",
    "lost_commit": "PC",
    "unstable_key": "EO",
}
# For liveness; safety holds with them.
LIVENESS = ("orphaned_claim", "stuck_running")

# The three recovery paths, each as small as lets its faults act.
WIDE = {"answers": 2, "computations": 3, "length": 4}
PATHS: Mapping[str, Bounds] = {
    "interrupt": Bounds(runners=2, branches=1, invalid=1, **WIDE),
    "crash": Bounds(runners=2, branches=1, invalid=1, crashes=1, expiries=1, **WIDE),
    "fork": Bounds(runners=1, branches=2, invalid=1, crashes=1, **WIDE),
}
# Where a fault can act at all.
FORK_ONLY = {"fork_nondeterminism", "fork_aliases_parent", "implicit_fork", "fork_inherits_answer"}
CRASH_ONLY = {"torn_checkpoint", "lost_answer", "lost_commit"}
# A second runner has to stand where the first one does.
RACE_ONLY = {"check_then_claim", "recompute_differs"}


def violated(path: str, *faults: str) -> set[str]:
    found = explore(build(PROGRAMS["Sandwich"], PATHS[path], faults), workers=1)
    assert found.complete
    return set(found.violations)


def test_every_action_fires_at_the_small_bound() -> None:
    fired = dict.fromkeys(ACTIONS, 0)
    for model in SMALL:
        for action, count in explore(build(PROGRAMS[model.program], model.limits), workers=1).actions.items():
            fired[action] += count.generated
    assert [action for action, count in fired.items() if not count] == []


def test_every_situation_occurs_at_the_small_bound() -> None:
    seen: set[str] = set()
    for model in SMALL:
        seen |= explore(build(PROGRAMS[model.program], model.limits), workers=1).witnesses.keys()
    assert [name for name in SOMETIMES if name not in seen] == []


def test_each_fault_and_each_clause_has_its_place() -> None:
    assert {*BREAKS, *LIVENESS} == set(FAULTS)
    assert set(BREAKS.values()) == set(CLAUSES)


@pytest.mark.parametrize("path", PATHS)
def test_the_reference_breaks_nothing(path: str) -> None:
    assert violated(path) == set()


@pytest.mark.parametrize("fault", LIVENESS)
def test_faults_of_liveness_break_no_clause_of_safety(fault: str) -> None:
    assert violated("crash", fault) == set()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fault", BREAKS)
def test_a_fault_breaks_its_clause_and_no_other(fault: str, path: str) -> None:
    acts = (
        (fault not in FORK_ONLY or path == "fork")
        and (fault not in CRASH_ONLY or path != "interrupt")
        and (fault not in RACE_ONLY or path != "fork")
    )
    assert violated(path, fault) == ({BREAKS[fault]} if acts else set())


@pytest.mark.parametrize("fault", BREAKS)
def test_the_counterexample_uses_the_fault(fault: str) -> None:
    path = "fork" if fault in FORK_ONLY else "crash"
    found = explore(build(PROGRAMS["Sandwich"], PATHS[path], [fault]), workers=1, stop_at_first=True)
    assert BREAKS[fault] in found.violations
    steps = counterexample(found, BREAKS[fault]).steps
    used = [step for step in steps if step.label is not None and step.label[5]]
    assert used
    assert {step.label[5] for step in used if step.label} == {1 << FAULTS.index(fault)}
