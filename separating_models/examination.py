"""What an engine found out about a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from separating_models.configuration import Configuration

__all__ = ["Examination"]


@dataclass(frozen=True)
class Examination:
    """All reachable states of a configuration, judged.

    Attributes:
        configuration: what was examined.
        engine: "tlc" or "mirror".
        breaks: clause -> depth of the first state that breaks it (initial states have 1).
        reached: the faults that acted in some reachable state.
        distinct, generated, depth: counts of states, as TLC counts them.
        situations: situation -> first depth, of those that occur (the mirror only).
        seconds: wall time.
        versions: what ran, by name.
    """

    configuration: Configuration
    engine: str
    breaks: Mapping[str, int]
    reached: frozenset[str]
    distinct: int
    generated: int
    depth: int
    situations: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def figures(self) -> dict[str, Any]:
        """What both engines must agree on."""
        return {
            "breaks": dict(self.breaks),
            "reached": sorted(self.reached),
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
        }
