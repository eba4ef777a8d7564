"""The concurrency table: k processes resume one parked gate at once; how many effects are fired?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from trace_check.conformance.effects import applied
from trace_check.conformance.judging import Finding, judge
from trace_check.conformance.plan import Recording
from trace_check.reader import TraceStream, read_trace
from trace_check.recording.catalogue import race
from trace_check.recording.harness import record
from trace_check.recording.system import SYSTEMS, load_system

__all__ = [
    "GATE_SECONDS",
    "RACERS",
    "REPETITIONS",
    "Cell",
    "RaceRow",
    "cells",
    "effects_a_racer",
    "fired_in",
    "judge_race",
    "race_scenario",
    "run_race",
]

RACERS: Final = (2, 4, 8, 16)
GATE_SECONDS: Final = (0.0, 0.5)
REPETITIONS: Final = 3

_ALSO_WITH: Final = ("postgres",)
"""Stores that are raced besides the first of a system."""

_RACED = "race-two-resumers"
_EFFECT = "e2"


class Cell(msgspec.Struct, frozen=True, order=True):
    """A cell of the table: a system with a store, racers, and seconds that lie behind the gate."""

    system: str
    store: str
    racers: int
    behind_gate: float

    @property
    def label(self) -> str:
        """In a few words."""
        return f"{self.system} {self.store} race of {self.racers}, {self.behind_gate:g} s"


class RaceRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell came to.

    Attributes:
        system, version, store, k, behind_gate: which.
        effects: the gated effects that were fired, in each repetition.
        per_racer: their mean, divided by k: 1.0 means that every racer fires.
        trace: that of the first repetition that has a verdict, below the folder of traces.
        finding: what that trace shows.
    """

    system: str
    version: str
    store: str
    k: int
    behind_gate: float
    effects: list[int]
    per_racer: float
    trace: str
    finding: Finding | None = None


def effects_a_racer(effects: Sequence[int], racers: int) -> float:
    """The mean of the effects in each repetition, divided by the racers: 1.0 means that every racer fires."""
    return round(sum(effects) / len(effects) / racers, 3)


def judge_race(path: Path, folder: Path, *, system: str, version: str, store: str) -> Finding:
    """Check the trace of a race.

    Args:
        path: the trace.
        folder: the folder of traces that it is in.
        system, version, store: what raced.

    Raises:
        TraceError: it has no header that can be read.
    """
    with TraceStream(path) as stream:
        header = stream.header
    return judge(Recording(system, store, header.scenario, header.sink, varies=True), version, path, folder)


def cells(systems: Sequence[str] = (), racers: Sequence[int] = RACERS) -> list[Cell]:
    """The cells of some systems, or of all that can race."""
    found = []
    for name in dict.fromkeys(systems or SYSTEMS):
        first, *others = load_system(name).stores
        for store in [first, *(other for other in others if other in _ALSO_WITH)]:
            if _RACED in load_system(name, store).scenarios():
                found += [Cell(name, store, k, seconds) for k in racers for seconds in GATE_SECONDS]
    return found


def fired_in(path: Path) -> int:
    """How often the gated effect was fired in the trace of a race.

    Raises:
        TraceError: it can't be read.
    """
    return applied(read_trace(path).events, _EFFECT)


def race_scenario(racers: int, behind_gate: float) -> str:
    """The scenario of a cell's traces: another name than that of the race that is recorded for its verdict."""
    return f"racers-{racers}x{behind_gate:g}s"


def run_race(cell: Cell, folder: Path) -> tuple[int, Path]:
    """Record one repetition; how many gated effects were fired, and the trace.

    None may be fired: racers can stop each other.

    Raises:
        RecordingError: it could not be recorded.
    """
    sink = load_system(cell.system).scenarios()[_RACED].sink
    path = record(
        cell.system,
        msgspec.structs.replace(
            race(cell.racers, cell.behind_gate),
            name=race_scenario(cell.racers, cell.behind_gate),
        ),
        folder,
        store=cell.store,
        sink=sink,
        compress=True,
    )
    return fired_in(path), path
