"""Sets of observations as bits: the i-th bit stands for the i-th of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trace_check.events import Event
from trace_check.observations import Observation

__all__ = ["bits_of", "bits_of_actors", "indices"]


def bits_of(observations: Sequence[Observation], kind: type[Event]) -> int:
    """The observations of a kind."""
    return sum(1 << i for i, o in enumerate(observations) if isinstance(o.event, kind))


def bits_of_actors(observations: Sequence[Observation], kind: type[Event]) -> dict[str, int]:
    """For each actor its observations of a kind."""
    found: dict[str, int] = {}
    for i, observation in enumerate(observations):
        if isinstance(observation.event, kind):
            actor = observation.event.actor
            found[actor] = found.get(actor, 0) | 1 << i
    return found


def indices(bits: int) -> Iterator[int]:
    """Which are in a set, in order."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1
