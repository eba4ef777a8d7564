"""Which clauses a state breaks, each judged once for all states that are alike in what it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pymodel.resume import clauses
from pymodel.resume.layout import Config

__all__ = ["READS", "Judge", "spans"]

_PARTS = ("head", "ckpt", "prefix", "own", "ledger", "world", "gate", "computed")

READS: dict[str, tuple[str, ...]] = {
    "PC": ("head", "ckpt", "prefix", "own"),
    "EO": ("head", "own", "ledger", "world"),
    "FD": ("head", "ckpt", "prefix", "own", "gate"),
    "CV": ("head", "ckpt"),
    "CO-V": ("gate",),
    "CO-C": ("gate",),
    "RD": ("computed",),
    "FI": ("head",),
}
"""The parts of every branch's block that each clause reads (see `pymodel.resume.reading`); none reads anything else."""

_HOLDS: dict[str, Callable[[Config, bytes], bool]] = {
    "PC": clauses.PC,
    "EO": clauses.EO,
    "FD": lambda c, s: clauses.FD1(c, s) and clauses.FD2(c, s),
    "CV": clauses.CV,
    "CO-V": clauses.COV,
    "CO-C": clauses.COC,
    "RD": clauses.RD,
    "FI": clauses.FI,
}


class Judge:
    """Says what `broken_clauses` says.

    Args:
        c: the configuration of the states.
    """

    def __init__(self, c: Config) -> None:
        self._c = c
        self._clauses = [
            _Clause(1 << bit, _HOLDS[name], spans(c, READS[name])) for bit, name in enumerate(clauses.CLAUSES)
        ]

    def broken(self, state: bytes) -> int:
        """One bit for each broken clause, in the order of `CLAUSES`."""
        found = 0
        for clause in self._clauses:
            where = clause.where
            read = state[where[0]] if len(where) == 1 else b"".join([state[span] for span in where])
            if read != clause.read:
                clause.read = read
                held = clause.known.get(read)
                if held is None:
                    held = clause.known[read] = clause.holds(self._c, state)
                clause.held = held
            if not clause.held:
                found |= clause.bit
        return found


@dataclass(slots=True)
class _Clause:
    """A clause, where it reads, and what is known of it.

    Attributes:
        read, held: what it read last, and whether it held: one state after the other has most parts as they were.
    """

    bit: int
    holds: Callable[[Config, bytes], bool]
    where: list[slice]
    known: dict[bytes, bool] = field(default_factory=dict)
    read: bytes = b""
    held: bool = True


def spans(c: Config, parts: Sequence[str]) -> list[slice]:
    """Where these parts of all branches are in a state; what lies side by side is one span."""
    edges = [0, c.ckpt, c.prefix, c.own, c.ledger, c.world, c.gate, c.computed, c.block]
    found: list[slice] = []
    for b in range(c.B):
        begin = c.branches + b * c.block
        for part, (start, end) in zip(_PARTS, pairwise(edges), strict=True):
            if part in parts:
                if found and found[-1].stop == begin + start:
                    found[-1] = slice(found[-1].start, begin + end)
                else:
                    found.append(slice(begin + start, begin + end))
    return found
