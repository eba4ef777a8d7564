"""How fast each engine explains one long trace."""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pymodel.resume.layout import MOST_STEPS
from tlc_runner import TLCError
from trace_check.by_tlc.running import Tlc, explain_by_tlc
from trace_check.checker import check_trace
from trace_check.events import ProgramStep, ProgramUnit
from trace_check.observations import Thread, threads
from trace_check.reader import Trace, read_trace
from trace_check.writer import TraceWriter, start_trace

__all__ = ["LEAST_RATIO", "Rate", "measure_rate", "write_long_trace"]

LEAST_RATIO = 50.0
"""How many times as fast the mirror's checker has to be."""

_EVERY = 8  # each so-manieth unit is a gate
_OUTCOME = "ok"
_RUNS = 6  # of the mirror, before each of TLC


@dataclass(frozen=True)
class Rate:
    """Processor time that each engine takes for one conforming trace of one thread.

    Attributes:
        units: of the program.
        observations: what has to be explained.
        mirror_seconds: of the mirror's checker, reading the file not included: the mean of all its runs.
        tlc_seconds: of a run of TLC, all its threads together: the mean.
        start_seconds: of a run of TLC on the same module with the first observation only, the mean: of Java, parsing and
            compiling.
        distinct: states of TLC.
        rounds: of every round, in order, what TLC takes without its start.
    """

    units: int
    observations: int
    mirror_seconds: float
    tlc_seconds: float
    start_seconds: float
    distinct: int
    rounds: tuple[float, ...] = ()

    @property
    def mirror_rate(self) -> float:
        """Observations explained in a second."""
        return self.observations / self.mirror_seconds

    @property
    def tlc_rate(self) -> float:
        """The same of TLC, without its start."""
        return self.observations / max(self.tlc_seconds - self.start_seconds, 1e-3)

    @property
    def ratio(self) -> float:
        """How many times as fast the mirror is."""
        return self.mirror_rate / self.tlc_rate

    def to_json(self) -> dict[str, Any]:
        """As JSON values; see docs/json.md."""
        return {
            "units": self.units,
            "observations": self.observations,
            "mirror_cpu_seconds": round(self.mirror_seconds, 4),
            "tlc_cpu_seconds": round(self.tlc_seconds, 3),
            "tlc_start_cpu_seconds": round(self.start_seconds, 3),
            "tlc_rounds_cpu_seconds": [round(seconds, 3) for seconds in self.rounds],
            "tlc_distinct": self.distinct,
            "mirror_observations_per_second": round(self.mirror_rate, 1),
            "tlc_observations_per_second": round(self.tlc_rate, 1),
            "ratio": round(self.ratio, 2),
        }


def measure_rate(units: int = MOST_STEPS, *, rounds: int = 5, tlc: Tlc | None = None) -> Rate:
    """Time both engines in turn on a trace of the reference.

    Args:
        units: of its program; the more, the less do single runs of Java differ.
        rounds: how many, each of two runs of TLC and some of the mirror before either.
        tlc: what to run it with; by default as `--engine tlc` does, with the quicker one of Java's compilers.

    Raises:
        TLCError: TLC cannot run, or does not find that the trace conforms.
    """
    with TemporaryDirectory(prefix="resume-contract-") as folder:
        path = Path(folder) / "long.jsonl"
        write_long_trace(path, units)
        trace = read_trace(path)
    (thread,) = threads(trace)
    brief = replace(thread, observations=thread.observations[:1])
    _by_mirror(trace)  # the first run also imports
    mirror: list[float] = []
    starts: list[float] = []
    wholes: list[float] = []
    for _ in range(rounds):
        mirror += [_by_mirror(trace) for _ in range(_RUNS)]
        starts.append(_by_tlc(brief, tlc)[0])
        mirror += [_by_mirror(trace) for _ in range(_RUNS)]
        whole, distinct = _by_tlc(thread, tlc)
        wholes.append(whole)
    # Means of all, as a run of TLC is so long that it is a mean of what the machine does meanwhile.
    return Rate(
        units,
        len(thread.observations),
        statistics.mean(mirror),
        statistics.mean(wholes),
        statistics.mean(starts),
        distinct,
        tuple(whole - start for whole, start in zip(wholes, starts, strict=True)),
    )


def _by_mirror(trace: Trace) -> float:
    """Processor time of the mirror's checker, in seconds."""
    begun = time.process_time()
    if check_trace(trace).verdict != "conforms":
        raise TLCError("the long trace does not conform by the mirror: mend write_long_trace")
    return time.process_time() - begun


def _by_tlc(thread: Thread, tlc: Tlc | None) -> tuple[float, int]:
    """Processor time of a run of TLC, in seconds, and its distinct states."""
    begun = _of_children()
    run = explain_by_tlc([thread], [0], tlc)
    if not any(explanation.is_clean for explanation in run.threads[0].cheapest):
        raise TLCError(
            f"the long trace does not conform by TLC ({run.why or 'it violates'}): mend write_long_trace"
        )
    return _of_children() - begun, run.distinct


def write_long_trace(path: Path, units: int) -> None:
    """Write what one process after the other does of a long program that no one interrupts but its own gates."""
    kinds = ["gate" if n % _EVERY == _EVERY - 1 else ("effect", "pure")[n % 2] for n in range(units)]
    program = [
        ProgramUnit(name=f"u{n}", steps=[ProgramStep(step=f"s{n}", kind=kind)])  # type: ignore[arg-type]
        for n, kind in enumerate(kinds)
    ]
    start_trace(path, program=program, observes="all", sink="keyed")
    log = _start(path, 0)
    for n, kind in enumerate(kinds):
        step = {"branch": "main", "step": f"s{n}"}
        if kind == "gate":
            with log.operation("parked", branch="main", gate=f"s{n}"):
                pass
            log.close()
            log = _resume(path, n)
        elif kind == "effect":
            log.emit("effect_fired", **step, key=f"k{n}", applied=True, outcome=_OUTCOME)
        else:
            log.emit("computed", **step, outcome=_OUTCOME, valid=True)
        if kind != "gate":
            with log.operation("recorded", **step, outcome=_OUTCOME):
                pass
        _commit(log, n)
    log.emit("completed", branch="main", outcome=_OUTCOME)
    log.close()


def _start(path: Path, n: int) -> TraceWriter:
    """A process that goes on at the n-th unit."""
    log = TraceWriter(path, f"p{n}")
    with log.operation("loaded", branch="main") as load:
        load.end(checkpoint=f"c{n - 1}" if n else None, index=n)
    return log


def _resume(path: Path, n: int) -> TraceWriter:
    """The gate is answered, and another process passes it."""
    client = TraceWriter(path, f"client{n}")
    with client.operation("answer", branch="main", gate=f"s{n}", delivery=f"d{n}", value=_OUTCOME) as answer:
        answer.end(accepted=True)
    client.close()
    log = _start(path, n)
    log.emit("gate_passed", branch="main", gate=f"s{n}", value=_OUTCOME)
    return log


def _commit(log: TraceWriter, n: int) -> None:
    said = {
        "unit": f"u{n}",
        "steps": [f"s{n}"],
        "outcomes": {f"s{n}": _OUTCOME},
        "checkpoint": f"c{n}",
        "parent": f"c{n - 1}" if n else None,
        "valid": True,
        "next": [],
    }
    with log.operation("committed", branch="main", **said):
        pass


def _of_children() -> float:
    """Processor time of the processes that this one has started and that have ended, in seconds."""
    times = os.times()
    return times.children_user + times.children_system
