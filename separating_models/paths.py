"""The matrix: thirteen faults on three recovery paths, and beside them the faults that only traces and LV need."""

from __future__ import annotations

from collections.abc import Mapping

from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from pymodel.resume.program import PROGRAMS, Program
from separating_models.configuration import Configuration
from separating_models.errors import require

__all__ = [
    "EXTRA_FAULTS",
    "LIVENESS_FAULTS",
    "MATRIX_FAULTS",
    "MATRIX_PROGRAM",
    "PATHS",
    "cell",
]

MATRIX_FAULTS = FAULTS[:13]
"""The rows of the matrix: with three paths, 39 cells."""

EXTRA_FAULTS = FAULTS[13:18]
"""What real systems do besides."""

LIVENESS_FAULTS = FAULTS[18:]
"""They break LV and no clause of safety."""

MATRIX_PROGRAM: Program = PROGRAMS["Sandwich"]
"""Two units with a pure step, effects and a gate."""

_LENGTH = len(MATRIX_PROGRAM.units) + 1

PATHS: Mapping[str, Bounds] = {
    "interrupt": Bounds(runners=2, branches=1, answers=2, invalid=1, length=_LENGTH, computations=3),
    "crash": Bounds(
        runners=2, branches=1, answers=2, invalid=1, crashes=1, expiries=1, length=_LENGTH, computations=3
    ),
    "fork": Bounds(runners=2, branches=2, answers=2, length=_LENGTH, computations=3),
}
"""Recovery path -> bounds: park and answer with several runners; crashes and expiries besides; forks besides."""


def cell(fault: str, path: str) -> Configuration:
    """The configuration of a cell; without a fault ("") the reference on this path.

    Raises:
        SeparationError: an unknown fault or path; it lists those that there are.
    """
    if fault:
        require(fault, "fault", FAULTS)
    require(path, "path", PATHS)
    return Configuration(MATRIX_PROGRAM, PATHS[path], (fault,) if fault else ())
