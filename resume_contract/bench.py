"""How fast the mirror is beside TLC: whole commands, as a user runs them, timed from outside."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resume_contract.errors import CHECKED, ResumeContractError

__all__ = ["TARGETS", "BenchReport", "bench"]

TARGETS = {"mirror_warm_vs_tlc": 25.0, "mirror_cold_vs_tlc": 8.0}
"""Least ratios at the bound scaled."""

MOST_BYTES_PER_STATE = 120.0
"""The mirror's memory at its peak, by distinct state, at the bound scaled."""

_TLC_WORKERS = 2


@dataclass(frozen=True)
class BenchReport:
    """What a bench measured.

    Attributes:
        model, bound: what ran.
        seconds: wall time of each command, by "tlc", "mirror_cold" and "mirror_warm" (the median of its runs).
        warm_runs: each of the warm runs.
        rows: the row of each, as `check --json` gives it.
        versions: what ran, by name.
    """

    model: str
    bound: str
    seconds: dict[str, float]
    warm_runs: tuple[float, ...]
    rows: dict[str, dict[str, Any]]
    versions: dict[str, str]

    @property
    def ratios(self) -> dict[str, float]:
        """How many times as fast the mirror is."""
        tlc = self.seconds["tlc"]
        return {
            "mirror_warm_vs_tlc": round(tlc / self.seconds["mirror_warm"], 2),
            "mirror_cold_vs_tlc": round(tlc / self.seconds["mirror_cold"], 2),
        }

    @property
    def missed(self) -> tuple[str, ...]:
        """Which targets are missed, one line each; only the bound scaled has any."""
        if self.bound != "scaled":
            return ()
        lines = [
            f"{name} is {self.ratios[name]}, the target is at least {target:g}"
            for name, target in TARGETS.items()
            if self.ratios[name] < target
        ]
        each = self.rows["mirror_warm"]["peak_bytes_per_state"]
        if each > MOST_BYTES_PER_STATE:
            lines.append(
                f"the mirror takes {each} bytes a state, the target is at most {MOST_BYTES_PER_STATE:g}"
            )
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        return {
            "version": 1,
            "model": self.model,
            "ratios": self.ratios,
            "targets": TARGETS if self.bound == "scaled" else {},
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "warm_runs": [round(value, 3) for value in self.warm_runs],
            "peak_bytes_per_state": {name: row["peak_bytes_per_state"] for name, row in self.rows.items()},
            "distinct": self.rows["tlc"]["distinct"],
            "processors": os.cpu_count(),
            "versions": self.versions,
        }


def bench(
    model: str,
    *,
    runs: int = 3,
    arguments: Sequence[str] = (),
    on_run: Callable[[str], None] | None = None,
) -> BenchReport:
    """Time TLC with two workers, and the mirror with an empty and with a filled compile cache.

    Args:
        model: a name in the manifest.
        runs: warm runs; their median counts.
        arguments: options of `check` for all runs.
        on_run: told which run begins.

    Raises:
        ResumeContractError: a run does not come to what the manifest expects.
    """
    seconds: dict[str, float] = {}
    rows: dict[str, dict[str, Any]] = {}
    versions: dict[str, str] = {}

    def measure(name: str, engine: str, cache: Path | None) -> float:
        if on_run is not None:
            on_run(name)
        took, found = _timed(model, engine, arguments, cache)
        (rows[name],) = found["rows"]
        versions.update(found["versions"])
        return took

    with tempfile.TemporaryDirectory(prefix="resume-contract-bench-") as folder:
        cache = Path(folder)
        seconds["mirror_cold"] = measure("mirror_cold", "mirror", cache)
        warm = tuple(measure("mirror_warm", "mirror", cache) for _ in range(runs))
    seconds["mirror_warm"] = statistics.median(warm)
    seconds["tlc"] = measure("tlc", "tlc", None)
    return BenchReport(model, rows["tlc"]["bound"], seconds, warm, rows, versions)


def _timed(
    model: str, engine: str, arguments: Sequence[str], cache: Path | None
) -> tuple[float, dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "resume_contract",
        "check",
        model,
        "--engine",
        engine,
        "--json",
        *arguments,
    ]
    if engine == "tlc":
        command += ["--workers", str(_TLC_WORKERS), "--no-coverage"]
    environment = dict(os.environ)
    if cache is not None:
        environment["RESUME_CONTRACT_CACHE"] = str(cache)
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    took = time.perf_counter() - begun
    if done.returncode != CHECKED:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ResumeContractError(
            f"{model} by {engine} ended with status {done.returncode} ({reason}): mend that before timing it"
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return took, found
