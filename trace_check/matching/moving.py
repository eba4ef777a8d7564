"""Taking the mirror's steps from a state: what all that is seen and unseen is made of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Self

import msgspec

from pymodel.errors import CapacityError
from pymodel.resume import actions as act
from pymodel.resume import faults as dev
from pymodel.resume import reading as at
from pymodel.resume.initial import initial_state
from pymodel.resume.layout import OVERFLOWS, lay_out
from trace_check.crews import Crews
from trace_check.events import (
    Committed,
)
from trace_check.observations import Thread
from trace_check.quotient import Quotient

__all__ = ["Action", "Move", "Mover"]

Action = Callable[..., bool]

_NOTHING = b"\0"


class Move(msgspec.Struct, frozen=True, gc=False):
    """A step: where it leads, the bits of the faults it uses, and what it is called."""

    state: bytes
    faults: int
    name: str


_Effect = tuple[bytes, bytes, bytes, int, str]
"""A move of one runner: what comes before the runners, its own run and the branches; the faults and the name."""


class Mover:
    """Takes steps of the actors of one thread.

    Attributes:
        thread: what it shows.
        c: the mirror's configuration for it.
        initial: the state that it begins in.
        crews: the runners of each actor.
        quotient: which states are alike; those that are handed out stand for all that are.
        faultless: no fault is used, but where a step is more than an action by itself.
    """

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        layout = lay_out(thread.program, thread.bounds(), free=True)
        self.c = layout.config
        self._t = bytearray(layout.width)
        self.crews = Crews(self.c, thread.runners)
        self.quotient = Quotient(self.c, self.crews)
        self.initial = initial_state(layout)
        self._gates = [g for g in self.c.gate_in if g]
        self.faultless = False
        self._of_one: dict[tuple[bytes, bytes, object], list[_Effect]] = {}
        self._others = b"", b""

    def without_faults(self) -> Self:
        """The same, faultless: what it says is not all there is, but is had sooner."""
        other = copy.copy(self)
        other.faultless = True
        other._of_one = {}
        return other

    def _take(self, s: bytes, faults: int, action: Action, *parameters: int) -> Iterator[Move]:
        """The one step of an action with these parameters, if it is enabled."""
        if faults and self.faultless:
            return
        t = self._t
        t[:] = s
        if action(self.c, s, t, *parameters):
            if t[at.OVERFLOW]:
                raise CapacityError("trace", OVERFLOWS[t[at.OVERFLOW]])
            yield Move(bytes(t), faults, action.__name__)

    def _take_next(self, s: bytes, faults: int, action: Action, *parameters: int) -> Iterator[Move]:
        """The same for an action whose last parameter is where the runner goes next."""
        if faults and self.faultless:
            return
        for x in self._within_reach(s, *parameters):
            yield from self._take(s, faults, action, *parameters, x)

    def _within_reach(self, s: bytes, r: int, b: int = 0, *_: int) -> Iterator[int]:
        """Where runner r may be after one step: where branch b goes on, in the unit after the one it commits, or in its
        own."""
        c = self.c
        p = at.run_at(c, r)
        if s[p + at.PHASE] == at.IDLE:
            u = at.unit_after(c, s, b, at.length(c, s, b))
        else:
            u = s[p + at.UNIT] + (s[p + at.STEP] == at.AT_COMMIT)
        yield at.AT_COMMIT
        if u <= c.U:
            yield from range(c.first[u], c.first[u + 1])

    def _take_over(self, s: bytes, r: int) -> Iterator[Move]:
        """A take-over, after the lease ended unseen: which can wait until just before."""
        moves = list(self._take(s, 0, act.TakeOver, r))
        if not moves and bool(at.ready(self.c, s, r, at.GATE)):
            b, g = self._run(s, r, at.BRANCH), self._run(s, r, at.STEP)
            for expired in self._take(s, 0, act.Expire, b, g):
                moves += self._take(expired.state, 0, act.TakeOver, r)
        yield from moves

    def _run(self, s: bytes, r: int, field: int) -> int:
        return int(s[at.run_at(self.c, r) + field])

    def _is_alone(self, s: bytes, r: int) -> bool:
        """Has nobody but runner r anything in hand?"""
        p = at.run_at(self.c, r)
        return not (s[at.RUNS : p].strip(_NOTHING) or s[p + at.RUN_WIDTH : self.c.branches].strip(_NOTHING))

    def _by_one(self, s: bytes, r: int, what: object, ask: Callable[[], Iterable[Move]]) -> list[Move]:
        """What is asked of runner r, once for all states that differ in no more than what the other runners have in hand.

        A state has no runner's number in it, so that it may be any runner.

        Args:
            s: the state.
            r: the runner.
            what: stands for the question.
            ask: gives the moves, none of which changes the others' runs, or reads them but to count what isn't kept.
        """
        p = at.run_at(self.c, r)
        q, end = p + at.RUN_WIDTH, self.c.branches
        before, rest = self._others  # most is asked of one state at a time
        if before is not s:
            rest = s[: at.RUNS] + s[end:]
            self._others = s, rest
        key = rest, s[p:q], what
        effects = self._of_one.get(key)
        if effects is None:
            effects = self._of_one[key] = [
                (m.state[: at.RUNS], m.state[p:q], m.state[end:], m.faults, m.name) for m in ask()
            ]
        return [
            Move(b"".join((head, s[at.RUNS : p], run, s[q:end], durable)), faults, name)
            for head, run, durable, faults, name in effects
        ]

    def _settled(self, s: bytes, actor: str, r: int, moves: Iterable[Move]) -> Iterator[Move]:
        """The moves of runner r, with what follows from each for the rest of its crew."""
        if actor not in self.crews.several:
            for move in moves:
                state = self.quotient.of(move.state)
                yield move if state is move.state else Move(state, move.faults, move.name)
            return
        for move in moves:
            anew = bool(move.faults & dev.LEDGER_IGNORED)
            for state in self.crews.settle(s, move.state, actor, r, anew):
                yield Move(self.quotient.of(state), move.faults, move.name)

    def _status(self, s: bytes, b: int) -> int:
        return int(s[at.branch_at(self.c, b) + at.STATUS])

    def _is_at(self, s: bytes, r: int, b: int, x: int) -> bool:
        """Does runner r stand at step x of branch b?"""
        return (
            self._run(s, r, at.PHASE) != at.IDLE
            and self._run(s, r, at.BRANCH) == b
            and self._run(s, r, at.STEP) == x
        )

    def _outcomes_of(self, event: Committed) -> dict[int, int]:
        return {self.thread.step(name): self.thread.value(o) for name, o in event.outcomes.items()}
