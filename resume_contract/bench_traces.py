"""How fast traces are checked: whole commands, timed from outside by the processor time that they take."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pymodel.resume.layout import MOST_STEPS
from resume_contract.errors import CHECKED, DIFFERS, ResumeContractError
from resume_contract.places import ROOT
from trace_check.by_tlc.rate import LEAST_RATIO, Rate, measure_rate
from trace_check.by_tlc.running import Tlc
from trace_check.streaming.generate import MODELS, write_log

__all__ = ["TARGETS", "Measured", "TraceBench", "bench_traces"]

SHORT = ("park-and-resume.jsonl",)
CONFORMING = ("races-crashes-and-a-fork.jsonl",)
SMALL = "kill-after-effect.jsonl"
MIXED = (
    *SHORT,
    SMALL,
    "race-two-resumers.jsonl",
    "second-answer-at-old-checkpoint.jsonl",
)

TARGETS = {"conforming": 400_000.0, "mixed": 50_000.0}
"""Least events a second of processor time, the command's start not counted."""

MANY_THREADS = 100_000
"""Of a conforming log of fewer no rate is asked: the start that is taken off is then as long as the rest."""

MOST_MEGABYTES = 500.0
"""At the peak, of the same logs."""

MOST_SMALL_SECONDS = 1.0

MOST_RACE_SECONDS = 1.0
"""For a race of 16, in process."""

_TRACES = ROOT / "results" / "traces"
_RACES = "racers-16x*.jsonl.gz"


@dataclass(frozen=True)
class Measured:
    """One command.

    Attributes:
        events, threads: of its log.
        cpu_seconds: processor time, of user and system.
        wall_seconds: from start to end.
        peak_megabytes: its memory at its peak.
        verdict: what it said.
        start_seconds: processor time of the same command on a log of a few thousand events: that it starts.
    """

    events: int
    threads: int
    cpu_seconds: float
    wall_seconds: float
    peak_megabytes: float
    verdict: str
    start_seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Events for each second of processor time, the start not counted."""
        return self.events / max(self.cpu_seconds - self.start_seconds, 1e-3)

    def to_json(self) -> dict[str, Any]:
        return {
            "events": self.events,
            "threads": self.threads,
            "cpu_seconds": round(self.cpu_seconds, 3),
            "wall_seconds": round(self.wall_seconds, 3),
            "start_seconds": round(self.start_seconds, 3),
            "events_per_cpu_second": round(self.rate),
            "peak_megabytes": round(self.peak_megabytes, 1),
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Races:
    """The kept races of 16, in process.

    Attributes:
        traces: how many there are.
        unchecked: how many of them come to no verdict.
        slowest: the one that takes longest, with its system.
        slowest_cpu_seconds: of that, from what was read to the verdict.
        cpu_seconds: of all.
    """

    traces: int
    unchecked: int
    slowest: str
    slowest_cpu_seconds: float
    cpu_seconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "traces": self.traces,
            "unchecked": self.unchecked,
            "slowest": self.slowest,
            "slowest_cpu_seconds": round(self.slowest_cpu_seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
        }


@dataclass(frozen=True)
class TraceBench:
    """What the bench measured: by "small", "mixed N", "conforming N" and "short N", N being events.

    The threads of "short" have 22 events each, those of "conforming" 81, so that it has four times as many.

    Attributes:
        rows: the commands.
        races: what racers take.
        beside_tlc: the mirror and TLC on one long trace, in process.
    """

    rows: dict[str, Measured]
    races: Races
    beside_tlc: Rate

    @property
    def missed(self) -> tuple[str, ...]:
        """Which targets are missed, one line each."""
        lines = []
        for name, row in self.rows.items():
            least = TARGETS.get(name.partition(" ")[0])
            is_large = not name.startswith("conforming") or row.threads >= MANY_THREADS
            if least is not None and is_large and row.rate < least:
                lines.append(f"{name}: {row.rate:,.0f} events a second, the target is at least {least:,.0f}")
            if least is not None and row.peak_megabytes > MOST_MEGABYTES:
                lines.append(
                    f"{name}: {row.peak_megabytes:.0f} MB, the target is at most {MOST_MEGABYTES:.0f}"
                )
        if self.rows["small"].cpu_seconds > MOST_SMALL_SECONDS:
            lines.append(
                f"small: {self.rows['small'].cpu_seconds:.2f} s, the target is {MOST_SMALL_SECONDS:g} s"
            )
        if self.races.unchecked:
            lines.append(f"races of 16: {self.races.unchecked} come to no verdict")
        if self.races.slowest_cpu_seconds > MOST_RACE_SECONDS:
            lines.append(
                f"races of 16: {self.races.slowest} takes {self.races.slowest_cpu_seconds:.2f} s, the target is"
                f" {MOST_RACE_SECONDS:g} s"
            )
        if self.beside_tlc.ratio < LEAST_RATIO:
            lines.append(
                f"beside TLC: {self.beside_tlc.ratio:.1f} times as fast, the target is {LEAST_RATIO:g} times"
            )
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        return {
            "version": 1,
            "rows": {name: row.to_json() for name, row in self.rows.items()},
            "races": self.races.to_json(),
            "beside_tlc": self.beside_tlc.to_json(),
            "targets": {
                "events_per_cpu_second": TARGETS,
                "peak_megabytes": MOST_MEGABYTES,
                "small_cpu_seconds": MOST_SMALL_SECONDS,
                "race_cpu_seconds": MOST_RACE_SECONDS,
                "times_tlc": LEAST_RATIO,
            },
            "processors": os.cpu_count(),
        }


def bench_traces(
    events: Sequence[int] = (1_000_000, 10_000_000),
    *,
    runs: int = 3,
    units: int = MOST_STEPS,
    rounds: int = 5,
    tlc: Tlc | None = None,
    on_run: Callable[[str], None] | None = None,
) -> TraceBench:
    """Time `trace check` on one small trace and on logs of about so many events, and a long trace beside TLC.

    The scanner is compiled beforehand, as after any first use.

    Args:
        events: sizes of the conforming logs; the smallest is also that of the mixed one, the largest that of the short.
        runs: of the small trace and of each race: the median counts.
        units: of the program of the trace that TLC is timed on.
        rounds: how often it is, see `measure_rate`.
        tlc: what to run it with.
        on_run: told which run begins.

    Raises:
        ResumeContractError: a command came to no verdict.
        TLCError: TLC cannot run.
    """
    from trace_check.reader import read_trace
    from trace_check.streaming.compiling import kernels

    say = on_run or (lambda _: None)
    kernels()
    rows: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory(prefix="resume-contract-bench-") as folder:
        log = Path(folder) / "log.jsonl"

        def large(names: Sequence[str], size: int) -> Measured:
            models = [read_trace(MODELS / name) for name in names]
            threads = max(1, size * len(models) // sum(len(model.events) for model in models))
            return replace(_measured(log, write_log(log, models, threads), threads), start_seconds=start)

        write_log(log, [read_trace(MODELS / SHORT[0])], 200)
        _measured(log, 1, 1)  # compiles
        start = statistics.median(_measured(log, 1, 1).cpu_seconds for _ in range(runs))
        say("small")
        small = [_measured(MODELS / SMALL, len(read_trace(MODELS / SMALL).events), 1) for _ in range(runs)]
        middle = statistics.median(row.cpu_seconds for row in small)
        rows["small"] = next(row for row in small if row.cpu_seconds >= middle)
        say("mixed")
        rows[f"mixed {min(events)}"] = large(MIXED, min(events))
        for size in sorted(events):
            say(f"conforming {size:,}")
            rows[f"conforming {size}"] = large(CONFORMING, size)
        say(f"short {max(events):,}")
        rows[f"short {max(events)}"] = large(SHORT, max(events))
    say("races of 16")
    races = _races(runs)
    say("beside TLC")
    return TraceBench(rows, races, measure_rate(units, rounds=rounds, tlc=tlc))


def _races(runs: int) -> Races:
    """Decide every kept race of 16, each so many times, the median of which counts."""
    from trace_check.checker import check_trace
    from trace_check.reader import read_trace

    took: dict[str, float] = {}
    unchecked = 0
    for path in sorted(_TRACES.rglob(_RACES)):
        trace = read_trace(path)
        times = []
        for _ in range(runs):
            begun = time.process_time()
            verdict = check_trace(trace)
            times.append(time.process_time() - begun)
        took[f"{path.parent.name}/{path.name}"] = statistics.median(times)
        unchecked += verdict.verdict == "unchecked"
    if not took:
        raise ResumeContractError(f"{_TRACES}: there is no race of 16: run conform --races --write results")
    slowest = max(took, key=took.__getitem__)
    return Races(len(took), unchecked, slowest, took[slowest], sum(took.values()))


def _measured(path: Path, events: int, threads: int) -> Measured:
    """Run the command on a trace."""
    command = [sys.executable, "-m", "resume_contract", "trace", "check", "--json", str(path)]
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (CHECKED, DIFFERS):
        raise ResumeContractError(f"{path}: no verdict: run trace check on it to see why")
    verdict = "conforms" if process.returncode == CHECKED else "violates"
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    megabytes = used.ru_maxrss * unit / 1e6
    return Measured(events, threads, used.ru_utime + used.ru_stime, took, megabytes, verdict)
