"""What an event asserts of a state, and whether it is so."""

from __future__ import annotations

from collections.abc import Mapping

from pymodel.resume import faults as dev
from pymodel.resume import reading as at
from pymodel.resume.clauses import is_waiting
from trace_check.events import (
    CheckpointRead,
    Committed,
    ResumeFailed,
    ResumeGaveUp,
    StoreRead,
)
from trace_check.matching.moving import Mover
from trace_check.observations import Observation

__all__ = ["REMEMBERED", "Asserting"]

_TAKES_ANSWERS = dev.LOST_ANSWER | dev.ANSWER_REPLACED

_NOWHERE = frozenset({ResumeFailed, ResumeGaveUp})

REMEMBERED = dev.LOST_COMMIT | _TAKES_ANSWERS
"""Faults that, once used, change what later observations may be."""


class Asserting(Mover):
    """Judges what is read of a state."""

    def declares_next(self, event: Committed) -> bool:
        """Does a checkpoint declare nothing to come next but the unit that the program says?"""
        following = self.thread.units[event.unit] + 1
        return all(self.thread.units[name] == following for name in event.next)

    def lists_steps(self, event: Committed) -> bool:
        """Has a checkpoint all steps of its unit, as far as it says which it has?"""
        u = self.thread.units[event.unit]
        units = self.thread.program.units
        return not event.steps or u > len(units) or {s.name for s in units[u - 1]}.issubset(event.steps)

    def holds(self, s: bytes, b: int, event: StoreRead, used: int = 0) -> bool:
        """Does the state agree with what the store was read to hold?  `used`: the faults of the explanation so far."""
        if self._status(s, b) == at.ABSENT or at.length(self.c, s, b) != len(event.checkpoints):
            return False
        if not all(self._same(s, b, i, read) for i, read in enumerate(event.checkpoints, 1)):
            return False
        for g in self._gates:
            status = s[at.gate_at(self.c, b, g) + at.GATE_STATUS]
            is_open = self.thread.program.steps[g - 1].name in event.open_interrupts
            if status == at.PARKED and not is_open:
                return False
            if is_open and status in (at.CLOSED, at.CONSUMED):
                return False
            if not self._keeps_answers(s, b, g, event, used):
                return False
        return True

    def _keeps_answers(self, s: bytes, b: int, g: int, event: StoreRead, used: int = 0) -> bool:
        """Does the store hold every answer that was acknowledged and is not lost?  It may hold others besides.

        Which of them a fault took away isn't kept in a state: where one did, the first must be there, which counts.
        """
        k = at.gate_at(self.c, b, g)
        if s[k + at.GATE_STATUS] < at.ANSWERED:
            return True
        read = event.answers.get(self.thread.program.steps[g - 1].name, [])
        stored = {self.thread.value(value) for value in read}
        acks = range(s[k + at.GATE_ACKS])
        if used & _TAKES_ANSWERS:
            acks = acks[:1]
        return all(s[k + at.GATE_HEAD + i * at.ACK_WIDTH + at.ACK_VALUE] in stored for i in acks)

    def _same(self, s: bytes, b: int, i: int, read: CheckpointRead) -> bool:
        p = at.ckpt_at(self.c, b, i)
        flags = s[p + at.ENTRY_FLAGS]
        if bool(flags & at.COMPLETE) != read.complete:
            return False
        if not read.complete:
            return True
        if bool(flags & at.VALID) != read.valid or s[p] != self.thread.units.get(read.unit or "", 0):
            return False
        return all(
            s[p + at.ENTRY_OUT + self.c.place[self.thread.step(name)]] == self.thread.value(o)
            for name, o in read.outcomes.items()
        )

    def _repeats(self, s: bytes, b: int, u: int, outcomes: Mapping[int, int]) -> bool:
        """Does branch b hold unit u already, with these outcomes of its steps?"""
        i = at.newest(self.c, s, b, u)
        return bool(i) and all(
            s[at.ckpt_at(self.c, b, i) + at.ENTRY_OUT + self.c.place[x]] == o for x, o in outcomes.items()
        )

    def starves(self, s: bytes, observation: Observation, *, anybody: bool = False) -> bool:
        """Is LV broken here: a resume got nowhere, the branch is at no end, doesn't wait, and nobody else holds it?

        With `anybody`, the actors stand for others: then whoever is at work may still be alive.
        """
        if type(observation.event) not in _NOWHERE:
            return False
        b = self.thread.branches[observation.event.branch]
        if self._status(s, b) not in (at.RUNNING, at.STUCK) or is_waiting(self.c, s, b):
            return False
        died = {} if anybody else self.thread.died
        return not self.is_at_work(s, b, observation, died)

    def is_at_work(self, s: bytes, b: int, observation: Observation, died: Mapping[str, int]) -> bool:
        """Is a process other than the observation's at work on a branch, and not known to be dead by then?"""
        dead = {actor for actor, position in died.items() if position < observation.position}
        dead.add(observation.event.actor)
        return any(
            actor not in dead and self._run(s, r, at.PHASE) != at.IDLE and self._run(s, r, at.BRANCH) == b
            for actor, crew in self.thread.runners.items()
            for r in crew
        )

    def _is_open(self, s: bytes, b: int, g: int) -> bool:
        """Would the first answer to a gate be accepted?"""
        return bool(at.is_running(self.c, s, b)) and s[at.gate_at(self.c, b, g) + at.GATE_STATUS] == at.PARKED
