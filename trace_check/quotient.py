"""States that no event can ever tell apart are kept as one.

* Of a gate's epochs only one thing matters: is a runner's the current one, an older one, or none?
* A clause asks of claims and of firings whether there was one, and whether there were two; not for more.
* Runners of one crew are interchangeable.
* What a process that does nothing more has in hand is nobody's business.
"""

from __future__ import annotations

from collections.abc import Iterable

from pymodel.resume import reading as at
from pymodel.resume.actions import go_idle
from pymodel.resume.layout import Config
from trace_check.crews import Crews

__all__ = ["Quotient"]

_TWICE = 2
_UP_TO_TWICE = bytes(range(_TWICE + 1))


class Quotient:
    """Picks one state of all that are alike.

    Args:
        c: the configuration.
        crews: the runners of each actor.
    """

    def __init__(self, c: Config, crews: Crews) -> None:
        self.c = c
        self._crews = crews
        branches = range(1, c.B + 1)
        self._gates = [(at.gate_at(c, b, g), b, u) for b in branches for u, g in enumerate(c.gate_in) if g]
        self._columns = [column for b in branches for column in self._of_branch(b)]
        self._applied = [
            at.world_at(c, b, x) + at.APPLIED
            for b in branches
            for x in range(1, c.S + 1)
            if c.kind[x] == at.EFFECT
        ]

    def _of_branch(self, b: int) -> list[tuple[slice, bytes]]:
        """Where a state counts something of a branch, and the counts that need no closer look."""
        c = self.c
        gates, world = at.branch_at(c, b) + c.gate, at.world_at(c, b, 1)
        end = gates + c.many[at.GATE] * c.gate_width
        columns = [
            (slice(gates + at.GATE_CLAIMS, end, c.gate_width), _UP_TO_TWICE),
            (slice(gates + at.GATE_EPOCH, end, c.gate_width), bytes(range(_TWICE))),
        ]
        applied = slice(world + at.APPLIED, world + c.S * at.WORLD_WIDTH, at.WORLD_WIDTH)
        return [*(columns if c.many[at.GATE] else ()), (applied, _UP_TO_TWICE)]

    def of(self, s: bytes) -> bytes:
        """The state that stands for s and all that are like it."""
        if s[at.CRASHES] or s[at.EXPIRIES] or s[at.INVALID]:
            return self._counted(s)
        for column, usual in self._columns:
            if s[column].strip(usual):  # nothing is left if all are such
                return self._counted(s)
        return self._crews.sort(s)

    def _counted(self, s: bytes) -> bytes:
        """The same with no budget spent, no count above two, and epochs by their age."""
        t = bytearray(s)
        t[at.CRASHES] = t[at.EXPIRIES] = t[at.INVALID] = 0
        for k, b, u in self._gates:
            t[k + at.GATE_CLAIMS] = min(t[k + at.GATE_CLAIMS], _TWICE)
            if t[k + at.GATE_EPOCH] >= _TWICE:
                self._number_epochs(t, k, b, u)
        for w in self._applied:
            t[w] = min(t[w], _TWICE)
        return self._crews.sort(bytes(t))

    def _number_epochs(self, t: bytearray, k: int, b: int, u: int) -> None:
        """Older epochs become 1 and the current one 2; where no runner has an older one, the current is 1."""
        c, current = self.c, t[k + at.GATE_EPOCH]
        holders = [
            p + at.EPOCH
            for p in range(at.RUNS, at.RUNS + c.R * at.RUN_WIDTH, at.RUN_WIDTH)
            if t[p + at.EPOCH] and t[p + at.BRANCH] == b and t[p + at.UNIT] == u
        ]
        newest = 2 if any(t[e] != current for e in holders) else 1
        for e in holders:
            t[e] = newest if t[e] == current else 1
        t[k + at.GATE_EPOCH] = newest

    def retire(self, s: bytes, runners: Iterable[int], keep_claims: bool) -> bytes:
        """The same without what these runners have in hand.

        Args:
            s: the state.
            runners: those that do nothing more.
            keep_claims: whether somebody may still ask if a claim has an owner.
        """
        t: bytearray | None = None
        for r in runners:
            p = at.run_at(self.c, r)
            if s[p + at.PHASE] != at.IDLE and not (keep_claims and s[p + at.EPOCH]):
                t = t or bytearray(s)
                go_idle(self.c, t, r)
        return s if t is None else self.of(bytes(t))
