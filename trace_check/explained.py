"""What a search finds for one thread: places, the ways to them, and what breaks there."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from pymodel.resume.clauses import CLAUSES

__all__ = ["ALL_CLAUSES", "ASSERTED", "CO_C", "Explained", "Node", "Way", "breaks"]

ALL_CLAUSES = (*CLAUSES, "LV")
ASSERTED = 16
"""Bits of `Node.broken` from here on: the clauses broken in a state that nothing explains and an event only asserts."""
CO_C = 1 << CLAUSES.index("CO-C")


class Node(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place in the search: which observations are explained (bits), the state, and what it took.

    `broken` has a bit for each clause broken on the way, and from `ASSERTED` on one for each broken only by assertion.
    """

    done: int
    state: bytes
    faults: int
    unmodelled: tuple[int, ...]
    broken: int


def breaks(node: Node, bit: int) -> bool:
    """Is a clause broken there, be it only in a state that was asserted?"""
    return bool((node.broken | node.broken >> ASSERTED) >> bit & 1)


Way = list[tuple[Node, str, int | None]]
"""The steps to a place: where each leads, its name, and its observation's index or None."""


@dataclass
class Explained:
    """What the search found for one thread.

    Attributes:
        goals: the cheapest places where everything is explained; empty if the budget ran out.
        ways: how they are reached: of some of them, for each clause of some that break it.
        stuck: without any fault, the places that explain most.
        expanded: places expanded.
        surely: the clauses, as bits, that break in every explanation, where the goals are not all that there are.
        smallest: whether it is known that no smaller set of faults explains the thread; where something is unmodelled,
            that none does.
        shown: the clauses, as bits, that the thread breaks by what it shows, whatever explains it.
    """

    goals: list[Node] = field(default_factory=list)
    ways: dict[Node, Way] = field(default_factory=dict)
    stuck: list[Node] = field(default_factory=list)
    expanded: int = 0
    surely: int | None = None
    smallest: bool = True
    shown: int = 0

    @property
    def cost(self) -> tuple[int, int]:
        """How many events are unmodelled in its goals, and how many faults they need."""
        return len(self.goals[0].unmodelled), self.goals[0].faults.bit_count()
