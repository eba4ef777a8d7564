"""The small programs among which separating models are sought."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from pymodel.resume.program import KINDS, Program
from separating_models.configuration import program_of

__all__ = ["small_programs"]


def small_programs(units: int, steps: int) -> Iterator[Program]:
    """All programs of so many units and at most so many steps, whose units are chains or unordered, the short ones first.

    Of unordered steps only one order is given.
    """
    for sizes in sorted(
        itertools.product(range(1, steps + 1), repeat=units), key=lambda each: (sum(each), each)
    ):
        if sum(sizes) <= steps:
            for parts in itertools.product(*(_units(size) for size in sizes)):
                yield program_of(" | ".join(parts))


def _units(size: int) -> list[str]:
    """The units of so many steps: chains, then unordered ones; at most one gate each."""
    chains = [kinds for kinds in itertools.product(KINDS, repeat=size) if kinds.count("gate") <= 1]
    if size == 1:
        return [kinds[0] for kinds in chains]
    unordered = [kinds for kinds in chains if list(kinds) == sorted(kinds, key=KINDS.index)]
    return [" ; ".join(kinds) for kinds in chains] + [" || ".join(kinds) for kinds in unordered]
