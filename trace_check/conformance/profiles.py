"""From the findings on a system to its profile over the nine clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from trace_check.conformance.judging import Finding
from trace_check.explained import ALL_CLAUSES

__all__ = ["NEEDS_A_FORK", "OUTSIDE", "STANDINGS", "Proof", "Standing", "profile_of"]

Standing = Literal["holds", "breaks", "not_exercised", "not_applicable"]

STANDINGS: Final = ("holds", "breaks", "not_exercised", "not_applicable")

NEEDS_A_FORK: Final = ("FD", "FI")
"""The clauses that say something only where there are forks."""

OUTSIDE: Final = ("torn-store",)
"""Scenarios that no profile counts: they break what the contract takes the store to give."""


class Proof(msgspec.Struct, frozen=True):
    """Where the standing of a clause is seen.

    Attributes:
        trace: the file, below the folder of traces.
        scenario, sink: of what.
        event, line, kind: the event that breaks it; None where it holds.
        certain: it breaks in every smallest explanation (of what holds, that the trace conforms).
        traces: in how many traces it breaks, or is exercised and holds.
        sinks: the sinks of these traces; ["plain"] of a break says that none is seen where effects have keys.
    """

    trace: str
    scenario: str
    sink: str
    event: int | None
    line: int | None
    kind: str | None
    certain: bool
    traces: int
    sinks: list[str] = []


def profile_of(findings: Sequence[Finding], can_fork: bool) -> tuple[dict[str, Standing], dict[str, Proof]]:
    """The standing of each clause, and where it is seen.

    A clause breaks if some trace breaks it, for certain or possibly (the proof says which, and is a certain one if there
    is one). It holds if some trace puts it to a test and none breaks it.

    Args:
        findings: those on one system with one store.
        can_fork: whether it has any way to make a branch.
    """
    findings = [finding for finding in findings if finding.scenario not in OUTSIDE]
    standings: dict[str, Standing] = {}
    proofs: dict[str, Proof] = {}
    for clause in ALL_CLAUSES:
        broken = [(f, e) for f in findings for e in f.breaks if e.clause == clause]
        tested = [f for f in findings if f.verdict != "unchecked" and clause in f.exercised]
        if broken:
            finding, evidence = min(
                broken,
                key=lambda each: (
                    not each[1].certain,
                    each[0].varies,
                    each[0].sink != "keyed",
                    each[1].event,
                ),
            )
            standings[clause] = "breaks"
            proofs[clause] = Proof(
                finding.trace,
                finding.scenario,
                finding.sink,
                evidence.event,
                evidence.line,
                evidence.kind,
                evidence.certain,
                len({f.trace for f, _ in broken}),
                sorted({f.sink for f, _ in broken}),
            )
        elif tested:
            finding = next((f for f in tested if f.verdict == "conforms"), tested[0])
            standings[clause] = "holds"
            proofs[clause] = Proof(
                finding.trace,
                finding.scenario,
                finding.sink,
                None,
                None,
                None,
                True,
                len(tested),
                sorted({f.sink for f in tested}),
            )
        elif clause in NEEDS_A_FORK and not can_fork:
            standings[clause] = "not_applicable"
        else:
            standings[clause] = "not_exercised"
    return standings, proofs
