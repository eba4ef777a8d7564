"""The fault matrix: every cell examined by every engine, and held against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from separating_models.by_tlc import Tlc
from separating_models.examination import Examination
from separating_models.examining import Task, examine_all
from separating_models.paths import EXTRA_FAULTS, LIVENESS_FAULTS, MATRIX_FAULTS, PATHS, cell
from separating_models.pool import Failure

__all__ = ["FORMAT_VERSION", "REFERENCE", "Cell", "Matrix", "fill_matrix"]

FORMAT_VERSION = 1
"""The version of the JSON."""

REFERENCE = ""
"""The row without a fault."""


@dataclass(frozen=True)
class Cell:
    """A fault on a recovery path, examined by an engine; `found` is None where that failed, `problem` then says why."""

    fault: str
    path: str
    engine: str
    found: Examination | None
    problem: str = ""

    @property
    def verdict(self) -> str:
        """ "breaks", "clean" (it acts and breaks nothing), "unreached" (it never acts), "failed", or "reference"."""
        if self.found is None:
            return "failed"
        if self.found.breaks:
            return "breaks"
        if self.fault == REFERENCE:
            return "reference"
        return "clean" if self.fault in self.found.reached else "unreached"

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        data: dict[str, Any] = {
            "fault": self.fault or None,
            "path": self.path,
            "engine": self.engine,
            "verdict": self.verdict,
        }
        if self.found is None:
            return data | {"problem": self.problem}
        return data | {
            "reached": self.fault in self.found.reached,
            "breaks": dict(self.found.breaks),
            "distinct": self.found.distinct,
            "generated": self.found.generated,
            "depth": self.found.depth,
            "seconds": round(self.found.seconds, 3),
        }


@dataclass(frozen=True)
class Matrix:
    """All cells that were examined."""

    cells: tuple[Cell, ...]

    def rows(self, faults: Sequence[str]) -> tuple[Cell, ...]:
        """The cells of some faults."""
        return tuple(each for each in self.cells if each.fault in faults)

    def cell(self, fault: str, path: str, engine: str | None = None) -> Cell | None:
        """One cell, of any engine if None; None if there is none."""
        for each in self.cells:
            if (each.fault, each.path) == (fault, path) and engine in (None, each.engine):
                return each
        return None

    @property
    def failures(self) -> tuple[str, ...]:
        """The cells that could not be examined, one line each."""
        return tuple(
            f"{_name(each)} by {each.engine}: {each.problem}" for each in self.cells if each.found is None
        )

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Where the engines differ, and where a path's reference breaks a clause; one line each."""
        return tuple(self._disagreements())

    def _disagreements(self) -> Iterator[str]:
        for each in self.cells:
            if each.fault == REFERENCE and each.found is not None and each.found.breaks:
                yield f"{_name(each)} by {each.engine}: the reference breaks {', '.join(each.found.breaks)}"
            other = self.cell(each.fault, each.path, "tlc")
            if each.engine != "mirror" or other is None or each.found is None or other.found is None:
                continue
            mine, theirs = each.found.figures, other.found.figures
            for name in mine:
                if mine[name] != theirs[name]:
                    yield f"{_name(each)}: {name} is {theirs[name]} by TLC, {mine[name]} by the mirror"

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        versions: dict[str, str] = {}
        for each in self.cells:
            versions |= each.found.versions if each.found else {}
        return {
            "version": FORMAT_VERSION,
            "paths": {path: cell(REFERENCE, path).to_json() for path in PATHS},
            "cells": [each.to_json() for each in self.rows(MATRIX_FAULTS)],
            "extra": [each.to_json() for each in self.rows((*EXTRA_FAULTS, *LIVENESS_FAULTS))],
            "reference": [each.to_json() for each in self.rows([REFERENCE])],
            "disagreements": list(self.disagreements),
            "failures": list(self.failures),
            "versions": versions,
        }


def fill_matrix(
    faults: Sequence[str],
    paths: Sequence[str],
    engines: Sequence[str],
    *,
    jobs: int,
    tlc: Tlc | None = None,
    on_done: Callable[[str, int, int], None] | None = None,
) -> Matrix:
    """Examine each of the faults on each of the paths by each of the engines.

    Args:
        faults: names; :data:`REFERENCE` is the row without one.
        paths: names of :data:`separating_models.paths.PATHS`.
        engines: "tlc", "mirror" or both.
        jobs: processes.
        tlc: what TLC is run with.
        on_done: told the cell that is done, how many are, and how many there are.

    Raises:
        SeparationError: an unknown fault or path.
    """
    wanted = [(fault, path, engine) for fault in faults for path in paths for engine in engines]
    done = 0

    def note(i: int) -> None:
        nonlocal done
        done += 1
        if on_done is not None:
            fault, path, engine = wanted[i]
            on_done(f"{fault or 'reference'} on {path} by {engine}", done, len(wanted))

    tasks = [Task(cell(fault, path), engine) for fault, path, engine in wanted]
    cells = []
    for (fault, path, engine), found in zip(
        wanted, examine_all(tasks, jobs=jobs, tlc=tlc, on_done=note), strict=True
    ):
        if isinstance(found, Failure):
            cells.append(Cell(fault, path, engine, None, found.reason))
        else:
            cells.append(Cell(fault, path, engine, found))
    return Matrix(tuple(cells))


def _name(each: Cell) -> str:
    return f"{each.fault or 'reference'} on {each.path}"
