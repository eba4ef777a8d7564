"""The verdict on a recording, and what of it has to be the same when the recording is made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from trace_check.checker import Verdict, check_trace
from trace_check.conformance.effects import repeats
from trace_check.conformance.plan import Recording
from trace_check.errors import TraceError
from trace_check.events import event_kind
from trace_check.explained import ALL_CLAUSES
from trace_check.reader import read_trace

__all__ = ["Evidence", "Finding", "judge"]


class Evidence(msgspec.Struct, frozen=True):
    """Where a clause breaks: an event, counted from 1, and whether it does in every smallest explanation."""

    clause: str
    event: int
    line: int
    kind: str
    actor: str
    certain: bool


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one recording shows.

    Attributes:
        system, version, store, scenario, sink, varies: what was recorded.
        trace: its file, below the folder of traces.
        verdict: "conforms", "violates" or "unchecked".
        breaks: the clauses that break.
        explanations: the smallest sets of faults that explain it.
        unmodelled: events that no fault accounts for.
        smallest: whether it is known that no smaller set of faults explains it, or none where events are unmodelled.
        exercised: the clauses that its events put to a test.
        repeated: how often an effect was applied again, by cause.
        error: why it is unchecked.
    """

    system: str
    version: str
    store: str
    scenario: str
    sink: str
    varies: bool
    trace: str
    verdict: str
    breaks: list[Evidence] = []
    explanations: list[list[str]] = []
    unmodelled: list[int] = []
    smallest: bool = True
    exercised: list[str] = []
    repeated: dict[str, int] = {}
    error: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What was recorded."""
        return self.system, self.version, self.store, self.scenario, self.sink

    @property
    def leaves_out_an_effect(self) -> bool:
        """Whether EO breaks where nothing is fired: an effect counts as done there and was not applied."""
        return any(e.clause == "EO" and e.kind != "effect_fired" for e in self.breaks)

    @property
    def outcome(self) -> tuple[Any, ...]:
        """What has to be the same of another recording of the same, unless it varies."""
        breaks = tuple(sorted({(e.clause, e.certain) for e in self.breaks}))
        ways = tuple(sorted(tuple(sorted(names)) for names in self.explanations))
        return self.verdict, breaks, ways, len(self.unmodelled)

    @property
    def summary(self) -> str:
        """The outcome in words; the clauses are in the contract's order."""
        words = [self.verdict]
        if self.breaks:
            found = {(ALL_CLAUSES.index(e.clause), not e.certain) for e in self.breaks}
            words.append(", ".join("possibly " * possibly + ALL_CLAUSES[n] for n, possibly in sorted(found)))
        ways = [" and ".join(names) for names in self.explanations if names]
        if ways:
            words.append(f"through {' or '.join(ways)}")
        if self.unmodelled:
            words.append(f"{len(self.unmodelled)} unmodelled")
        if not self.smallest:
            words.append("perhaps less")
        return "; ".join(words)


def judge(recording: Recording, version: str, path: Path, folder: Path) -> Finding:
    """Check a trace.

    Args:
        recording: what it is of.
        version: the system's version.
        path: the trace.
        folder: the folder of traces that it is in.
    """
    common: dict[str, Any] = {
        "system": recording.system,
        "version": version,
        "store": recording.store,
        "scenario": recording.scenario,
        "sink": recording.sink,
        "varies": recording.varies,
        "trace": path.relative_to(folder).as_posix(),
    }
    try:
        trace = read_trace(path)
        verdict: Verdict = check_trace(trace)
    except (TraceError, ValueError) as error:
        return Finding(**common, verdict="unchecked", error=str(error))
    again = [cause for _, cause in repeats(trace.events)]
    return Finding(
        **common,
        verdict=verdict.verdict,
        breaks=[
            Evidence(
                b.clause,
                b.event,
                trace.lines[b.event - 1],
                event_kind(trace.events[b.event - 1]),
                trace.events[b.event - 1].actor,
                b.certain,
            )
            for b in verdict.clauses
        ],
        explanations=[list(names) for names in verdict.explanations],
        unmodelled=list(verdict.unmodelled),
        smallest=verdict.smallest,
        exercised=list(verdict.exercised),
        repeated={cause: again.count(cause) for cause in ("recorded", "window") if cause in again},
        error=verdict.error,
    )
