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
        self._where = [spans(c, [part]) for part in _PARTS]
        self._clauses = [
            _Clause(
                1 << bit,
                _HOLDS[name],
                [_PARTS.index(part) for part in READS[name]],
                sum(1 << _PARTS.index(part) for part in READS[name]),
            )
            for bit, name in enumerate(clauses.CLAUSES)
        ]
        # The parts of the state that was judged last, and the verdict: one state after the other has most as they were.
        self._parts: list[bytes | None] = [None] * len(_PARTS)
        self._broken = 0
        # By what has changed, as bits: the clauses that read any of it.
        self._concerned: dict[int, list[_Clause]] = {}

    def broken(self, state: bytes) -> int:
        """One bit for each broken clause, in the order of `CLAUSES`."""
        before = self._parts
        parts = self._parts = [
            state[where[0]] if len(where) == 1 else b"".join([state[span] for span in where])
            for where in self._where
        ]
        changed = 0
        if parts != before:
            for k, (now, was) in enumerate(zip(parts, before, strict=True)):
                if now != was:
                    changed |= 1 << k
            concerned = self._concerned.get(changed)
            if concerned is None:
                concerned = [clause for clause in self._clauses if clause.reads & changed]
                self._concerned[changed] = concerned
            for clause in concerned:
                key = tuple([parts[k] for k in clause.parts])
                held = clause.known.get(key)
                if held is None:
                    held = clause.known[key] = clause.holds(self._c, state)
                self._broken = self._broken & ~clause.bit if held else self._broken | clause.bit
        return self._broken


@dataclass(slots=True)
class _Clause:
    """A clause, the parts that it reads, in order and as bits, and whether it holds for what these were so far."""

    bit: int
    holds: Callable[[Config, bytes], bool]
    parts: list[int]
    reads: int
    known: dict[tuple[bytes | None, ...], bool] = field(default_factory=dict)


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
