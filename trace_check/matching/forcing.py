"""What nothing explains: the state that an event asserts is taken for true."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from pymodel.resume import actions as act
from pymodel.resume import reading as at
from trace_check.events import (
    AnyEvent,
    Committed,
    Completed,
    Computed,
    Crashed,
    EffectFired,
    Failed,
    GatePassed,
    Loaded,
    Parked,
    Recorded,
    Refused,
    StoreRead,
    Value,
)
from trace_check.matching.asserting import Asserting
from trace_check.observations import Observation

__all__ = ["Forcing"]


class Forcing(Asserting):
    """Makes states as they are asserted to be."""

    def forced(self, s: bytes, observation: Observation) -> bytes:
        """The state that an observation asserts, as far as it does, where no step explains it."""
        event = observation.event
        c, t = self.c, bytearray(s)
        b = self.thread.branches[event.branch]
        r = self._who(s, event)
        if isinstance(event, Loaded) and event.index is not UNSET:
            u = int(event.index) + 1
            if u > c.U:
                act.go_idle(c, t, r)
            else:
                act.arrive(c, t, r, b, u, at.length(c, s, b), self._first_open(s, b, u), 0)
        elif isinstance(event, Computed | EffectFired):
            x = self.thread.step(event.step)
            act.arrive(c, t, r, b, c.unit_of[x], at.length(c, s, b), x, self._run(s, r, at.EPOCH))
            act.hold(c, t, r, self.thread.value(event.outcome), int(not event.valid))
            if isinstance(event, EffectFired) and event.applied:
                w = at.world_at(c, b, x)
                t[w + at.APPLIED] = min(255, s[w + at.APPLIED] + 1)
                if not s[w + at.APPLIED]:
                    t[w + at.ANSWER] = self.thread.value(event.outcome)
        elif isinstance(event, Recorded):
            x = self.thread.step(event.step)
            if not s[at.ledger_at(c, b, x)]:
                t[at.ledger_at(c, b, x)] = self.thread.value(event.outcome)
            u = c.unit_of[x]
            after = self._first_open(bytes(t), b, u, self._run(s, r, at.EPOCH))
            act.arrive(c, t, r, b, u, at.length(c, s, b), after, self._run(s, r, at.EPOCH))
        elif isinstance(event, GatePassed) and event.value is not UNSET:
            g = self.thread.step(event.gate)
            k = at.gate_at(c, b, g)
            act.arrive(c, t, r, b, c.unit_of[g], at.length(c, s, b), g, 0)
            act.hold(c, t, r, self.thread.value(event.value), 0)
            t[k + at.GATE_CLAIMS] = s[k + at.GATE_CLAIMS] + 1
            t[k + at.GATE_STATUS] = max(s[k + at.GATE_STATUS], at.CLAIMED)
            t[k + at.GATE_PASSED] = self.thread.value(event.value)
            if not s[k + at.GATE_EPOCH]:
                t[k + at.GATE_EPOCH] = 1
            t[at.run_at(c, r) + at.EPOCH] = t[k + at.GATE_EPOCH]
        elif isinstance(event, Committed):
            if not self._repeats(s, b, self.thread.units[event.unit], self._outcomes_of(event)):
                self._force_commit(t, b, event)
            if r:
                self._force_past(t, r, b, event)
        elif isinstance(event, StoreRead):
            self._force_read(t, b, event)
        elif isinstance(event, Completed | Failed):
            t[at.branch_at(c, b) + at.STATUS] = at.DONE if isinstance(event, Completed) else at.FAILED
        elif isinstance(event, Parked | Crashed | Refused) and r:
            for other in self.thread.runners[event.actor] if isinstance(event, Crashed) else [r]:
                act.go_idle(c, t, other)
        return self.quotient.of(bytes(t))

    def _force_commit(self, t: bytearray, b: int, event: Committed) -> None:
        """The checkpoint is the branch's newest, as the event says: acknowledged, and of the branch's own."""
        c, u = self.c, self.thread.units[event.unit]
        q = at.branch_at(c, b)
        n, m = at.length(c, t, b), int(t[q + at.OWN_LENGTH])
        if n == c.L or m == c.L:
            return
        flags = (at.VALID if event.valid else 0) | (at.COMPLETE if self.lists_steps(event) else 0)
        for entry, acked in ((at.ckpt_at(c, b, n + 1), 0), (q + c.own + m * c.entry, at.ACKED)):
            self._write_entry(t, b, entry, u, flags | acked, event.outcomes)
        t[q + at.LENGTH], t[q + at.OWN_LENGTH] = n + 1, m + 1
        g = c.gate_in[u]
        if g != at.NONE:
            t[at.gate_at(c, b, g) + at.GATE_STATUS] = at.CONSUMED
        if u >= c.U:
            t[q + at.STATUS] = at.DONE

    def _force_past(self, t: bytearray, r: int, b: int, event: Committed) -> None:
        """Who has committed goes on to the next unit, or has nothing more to do."""
        u = self.thread.units[event.unit] + 1
        if u > self.c.U:
            act.go_idle(self.c, t, r)
        else:
            act.arrive(self.c, t, r, b, u, at.length(self.c, t, b), self._first_open(bytes(t), b, u), 0)

    def _force_read(self, t: bytearray, b: int, event: StoreRead) -> None:
        """The branch has the checkpoints that were read, and its gates the answers; nothing else is different."""
        c = self.c
        read = event.checkpoints[: c.L]
        for i, checkpoint in enumerate(read, 1):
            if self._same(bytes(t), b, i, checkpoint) and i <= at.length(c, t, b):
                continue
            flags = (at.VALID if checkpoint.valid else 0) | (at.COMPLETE if checkpoint.complete else 0)
            u = self.thread.units.get(checkpoint.unit or "", 0) or at.unit_after(c, t, b, i - 1)
            self._write_entry(t, b, at.ckpt_at(c, b, i), u, flags, checkpoint.outcomes)
        past = at.ckpt_at(c, b, len(read) + 1), at.ckpt_at(c, b, c.L + 1)
        t[past[0] : past[1]] = bytes(past[1] - past[0])
        t[at.branch_at(c, b) + at.LENGTH] = len(read)
        for g in self._gates:
            k = at.gate_at(c, b, g) + at.GATE_STATUS
            is_open = self.thread.program.steps[g - 1].name in event.open_interrupts
            if not self._keeps_answers(bytes(t), b, g, event) or (
                is_open and t[k] in (at.CLOSED, at.CONSUMED)
            ):
                t[k] = at.PARKED if is_open else at.CLOSED

    def _write_entry(
        self, t: bytearray, b: int, entry: int, u: int, flags: int, outcomes: Mapping[str, Value]
    ) -> None:
        """A checkpoint with these outcomes; where one is not said, it is what is recorded."""
        c = self.c
        t[entry : entry + c.entry] = bytes(c.entry)
        t[entry + at.ENTRY_UNIT], t[entry + at.ENTRY_FLAGS] = u, flags
        for x in range(c.first[u], c.first[u + 1]) if u <= c.U else ():
            name = self.thread.program.steps[x - 1].name
            value = self.thread.value(outcomes[name]) if name in outcomes else t[at.ledger_at(c, b, x)]
            t[entry + at.ENTRY_OUT + c.place[x]] = value

    def _who(self, s: bytes, event: AnyEvent) -> int:
        """The runner that an event is taken to be of: where it is, or else one that does nothing."""
        crew = self.thread.runners.get(event.actor, range(0))
        name = getattr(event, "step", None) or getattr(event, "gate", None)
        x = self.thread.step(name) if name else at.NONE
        for r in crew:
            if self._run(s, r, at.PHASE) != at.IDLE and self._run(s, r, at.STEP) == x:
                return r
        for r in crew:
            if self._run(s, r, at.PHASE) == at.IDLE:
                return r
        return crew[0] if crew else 0

    def _first_open(self, s: bytes, b: int, u: int, epoch: int = 0) -> int:
        for x in range(self.c.first[u], self.c.first[u + 1]):
            if at.available(self.c, s, b, u, epoch, at.NONE, x):
                return x
        return at.AT_COMMIT
