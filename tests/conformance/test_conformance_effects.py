"""Why effects are applied again, and what profiles are made of."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trace_check.conformance.atlas import saturation_claim
from trace_check.conformance.effects import applied, repeats
from trace_check.conformance.judging import Evidence, Finding
from trace_check.conformance.plan import plan
from trace_check.conformance.profiles import profile_of
from trace_check.conformance.races import RaceRow, cells
from trace_check.errors import RecordingError
from trace_check.events import AnyEvent, Committed, EffectFired, Recorded
from trace_check.recording import SCENARIOS
from trace_check.recording.system import load_system


def fired(step: str = "e1", *, branch: str = "main", applied: bool = True) -> AnyEvent:
    return EffectFired(
        seq=1, thread="t1", branch=branch, actor="p1", t=1, step=step, key="k", applied=applied
    )


def recorded(step: str = "e1", phase: Any = "end") -> AnyEvent:
    return Recorded(
        seq=1, thread="t1", branch="main", actor="p1", t=1, step=step, outcome="x", phase=phase, op="p1.1"
    )


def committed(*steps: str) -> AnyEvent:
    return Committed(
        seq=1,
        thread="t1",
        branch="main",
        actor="p1",
        t=1,
        unit="u",
        steps=list(steps),
        outcomes={},
        checkpoint="c",
        parent=None,
        valid=True,
        next=[],
        phase="end",
        op="p1.2",
    )


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([fired()], []),
        ([fired(), fired()], [(2, "window")]),
        ([fired(), recorded(phase="begin"), fired()], [(3, "window")]),
        ([fired(), recorded(), fired()], [(3, "recorded")]),
        ([fired(), committed("e1"), fired(), fired()], [(3, "recorded"), (4, "recorded")]),
        ([fired(), committed("e2"), fired()], [(3, "window")]),
        ([fired(), fired(branch="main/2")], []),
        ([fired(), fired(applied=False)], []),
        ([fired("e1"), fired("e2")], []),
    ],
)
def test_why_an_effect_is_applied_again(events: list[AnyEvent], found: list[tuple[int, str]]) -> None:
    assert repeats(events) == found


def test_applied_counts_one_step_on_all_branches() -> None:
    assert applied([fired(), fired(branch="main/2"), fired("e2"), fired(applied=False)], "e1") == 2


def finding(scenario: str, verdict: str, **fields: Any) -> Finding:
    common = {"system": "s", "version": "1", "store": "db", "sink": "plain", "varies": False}
    return Finding(
        **(common | {"scenario": scenario, "trace": f"{scenario}.gz", "verdict": verdict} | fields)
    )


def breaking(clause: str, *, certain: bool) -> Evidence:
    return Evidence(clause, 7, 8, "effect_fired", "p2", certain)


def test_a_profile() -> None:
    findings = [
        finding("a", "violates", exercised=["PC", "EO"], breaks=[breaking("EO", certain=False)]),
        finding("b", "violates", exercised=["PC", "EO"], breaks=[breaking("EO", certain=True)]),
        finding("c", "conforms", exercised=["PC", "CV", "EO"]),
        finding("d", "unchecked", exercised=["RD"]),
        finding("torn-store", "violates", exercised=["PC"], breaks=[breaking("PC", certain=True)]),
    ]
    profile, proofs = profile_of(findings, can_fork=False)
    assert profile == {
        "PC": "holds",
        "EO": "breaks",
        "FD": "not_applicable",
        "CV": "holds",
        "CO-V": "not_exercised",
        "CO-C": "not_exercised",
        "RD": "not_exercised",
        "FI": "not_applicable",
        "LV": "not_exercised",
    }
    assert set(proofs) == {"PC", "EO", "CV"}
    assert (proofs["EO"].trace, proofs["EO"].line, proofs["EO"].certain, proofs["EO"].traces) == (
        "b.gz",
        8,
        True,
        2,
    )
    assert (proofs["PC"].trace, proofs["PC"].traces) == ("c.gz", 3)
    assert proofs["EO"].sinks == ["plain"]
    keyed = finding("e", "violates", sink="keyed", breaks=[breaking("EO", certain=False)])
    assert profile_of([*findings, keyed], can_fork=False)[1]["EO"].sinks == ["keyed", "plain"]
    assert profile_of(findings, can_fork=True)[0]["FI"] == "not_exercised"


def test_an_outcome_does_not_hang_on_places_and_order() -> None:
    one = finding("a", "violates", breaks=[breaking("EO", certain=True)], explanations=[["x", "y"], ["z"]])
    moved = msgspec.structs.replace(
        one, breaks=[Evidence("EO", 9, 10, "recorded", "p3", True)], explanations=[["z"], ["y", "x"]]
    )
    assert one.outcome == moved.outcome
    assert one.summary == "violates; EO; through x and y or z"
    for other in (
        msgspec.structs.replace(one, breaks=[breaking("EO", certain=False)]),
        msgspec.structs.replace(one, breaks=[breaking("PC", certain=True)]),
        msgspec.structs.replace(one, explanations=[["z"]]),
        msgspec.structs.replace(one, unmodelled=[3]),
        msgspec.structs.replace(one, verdict="unchecked"),
    ):
        assert other.outcome != one.outcome


def row(system: str, per_racer: float) -> RaceRow:
    return RaceRow(
        system=system,
        version="1",
        store="db",
        k=2,
        behind_gate=0.0,
        effects=[2],
        per_racer=per_racer,
        trace="t",
    )


def test_the_claim_on_races_leaves_the_reference_out() -> None:
    assert saturation_claim([row("reference", 0.5)]) == []
    (claim,) = saturation_claim([row("reference", 0.5), *[row("a", 1.0)] * 9, row("b", 0.5)])
    assert claim.reproduced
    assert claim.found == "1.0 in 9 of 10 cells; fewer with b (db)"
    assert not saturation_claim([*[row("a", 1.0)] * 8, row("b", 0.5), row("b", 0.5)])[0].reproduced


def test_a_plan_has_every_scenario_or_a_reason() -> None:
    recordings, omitted = plan(["reference"])
    named = {r.scenario for r in recordings} | {o.scenario for o in omitted}
    assert named == set(SCENARIOS) | {"races-crashes-and-a-fork"}
    assert {r.sink for r in recordings} == {"keyed"}
    assert all(o.reason and o.because == "not applicable" for o in omitted)
    with pytest.raises(RecordingError, match="nothing to record for 'no-such-thing'"):
        plan(["reference"], scenarios=["no-such-thing"])


def test_the_cells_of_a_system() -> None:
    found = cells(["reference"])
    assert [(cell.racers, cell.behind_gate) for cell in found] == [
        (k, seconds) for k in (2, 4, 8, 16) for seconds in (0.0, 0.5)
    ]
    assert {cell.store for cell in found} == set(load_system("reference").stores)
