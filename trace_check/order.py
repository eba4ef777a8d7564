"""Which observations may come next: those that nothing unexplained precedes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trace_check.events import Answer
from trace_check.observations import Observation
from trace_check.symmetry import Loosened

__all__ = ["Order"]


class Order:
    """The order of observations, as far as their intervals give one.

    Args:
        observations: in the order of their intervals.
        loosened: if they are loosened, how.
    """

    def __init__(self, observations: Sequence[Observation], loosened: Loosened | None) -> None:
        self._observations = observations
        self._loosened = loosened
        self._equals_before = _equals_before(observations)
        self._enabled: dict[int, list[int]] = {}

    def enabled(self, done: int) -> list[int]:
        """The observations that may come next, where these are explained, as bits.

        Equal operations that nobody in particular did are taken in the order of their intervals.
        """
        found = self._enabled.get(done)
        if found is None:
            found = self._enabled[done] = self._find_enabled(done)
        return found

    def _find_enabled(self, done: int) -> list[int]:
        observations = self._observations
        if self._loosened is not None:
            done = self._loosened.instances(done)
        first_end = math.inf
        found = []
        i = (~done & (done + 1)).bit_length() - 1
        while i < len(observations):
            observation = observations[i]
            if observation.low > first_end:
                break
            if not done >> i & 1:
                found.append(i)
                first_end = min(first_end, observation.high)
            i += 1
        enabled = [
            i
            for i in found
            if (observations[i].low < first_end or observations[i].high == first_end)
            and not self._equals_before.get(i, 0) & ~done
        ]
        # Whoever does a thing that twins do is the next to do it: the others' turns come after.
        return enabled if self._loosened is None else self._loosened.first_of_each(enabled)

    def takers(self, done: int, state: bytes, i: int) -> list[int]:
        """The observations that stand for i, by those who may be the one who did it."""
        if self._loosened is None or (stage := self._loosened.stage(i)) is None:
            return [i]
        return self._loosened.takers(done, state, *stage)


def _equals_before(observations: Sequence[Observation]) -> dict[int, int]:
    """For each answer those that say the same and come first: begun before it, and ended before it.

    Nothing is bound to who gave it, so that of two such the first may always be taken for the first.
    """
    found: dict[int, int] = {}
    alike: dict[tuple[object, ...], list[int]] = {}
    for i, one in enumerate(observations):
        if isinstance(event := one.event, Answer):
            said = event.branch, event.gate, event.delivery, event.value, event.accepted, one.pending
            others = alike.setdefault(said, [])
            found[i] = sum(1 << j for j in others if observations[j].high <= one.high)
            others.append(i)
    return found
