"""Examine a configuration with the mirror."""

from __future__ import annotations

import platform
from importlib.metadata import version

from pymodel.engine import explore
from pymodel.resume.clauses import CLAUSES
from separating_models.configuration import Configuration
from separating_models.errors import SeparationError
from separating_models.examination import Examination

__all__ = ["examine_by_mirror"]


def examine_by_mirror(
    configuration: Configuration,
    *,
    workers: int | None = 1,
    most_states: int | None = None,
) -> Examination:
    """Search all states of a configuration.

    Args:
        configuration: what to examine.
        workers: threads; all processors if None.
        most_states: refuse a configuration that has more.

    Raises:
        EngineError: it cannot be searched.
        SeparationError: it has more than `most_states`.
    """
    found = explore(configuration.model(), workers=workers, max_states=most_states)
    if not found.complete:
        raise SeparationError(f"{configuration}: it has more than {most_states:,} states")
    return Examination(
        configuration=configuration,
        engine="mirror",
        breaks={name: found.violations[name].depth for name in CLAUSES if name in found.violations},
        reached=found.marked,
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        situations={name: place.depth for name, place in found.witnesses.items()},
        seconds=found.total_seconds,
        versions={
            "python": platform.python_version(),
            "numba": version("numba"),
            "numpy": version("numpy"),
        },
    )
