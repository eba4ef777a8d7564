"""What is seen: the steps that an observation may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import UNSET
from msgspec.structs import replace

from pymodel.resume import actions as act
from pymodel.resume import faults as dev
from pymodel.resume import reading as at
from pymodel.resume.clauses import is_waiting
from trace_check.events import (
    Answer,
    Committed,
    Completed,
    Computed,
    Crashed,
    EffectFired,
    Failed,
    Forked,
    GatePassed,
    Loaded,
    MemoUsed,
    Parked,
    Recorded,
    Refused,
    ResumeFailed,
    ResumeGaveUp,
    StoreRead,
)
from trace_check.matching.asserting import Asserting
from trace_check.matching.moving import Move
from trace_check.observations import Observation, Thread, content_of

__all__ = ["Seeing"]

_BY_ONE = frozenset({Loaded, Computed, EffectFired, Recorded, MemoUsed, Parked, GatePassed, Committed})
"""Events that are steps of the runner whose they are, or nothing: what the other runners have in hand is all the same."""


class Seeing(Asserting):
    """Finds the steps of observations."""

    def __init__(self, thread: Thread) -> None:
        super().__init__(thread)
        self._positions = range(self.c.S + 1)

    @cached_property
    def _contents(self) -> dict[int, int]:
        """For each observation, by its position, a number that those share that say the same."""
        numbers: dict[tuple[object, ...], int] = {}
        return {
            o.position: numbers.setdefault((o.event.branch, *content_of(o)), len(numbers))
            for o in self.thread.observations
        }

    def seen(self, s: bytes, observation: Observation, used: int) -> Iterator[Move]:
        """The steps that an observation may be.  `used`: the faults of the explanation so far."""
        event = observation.event
        if isinstance(event, Crashed):
            for move in self._all_crashed(s, event.actor):
                yield Move(self.quotient.of(move.state), move.faults, move.name)
            return
        for r in self.crews.distinct(s, event.actor) or [0]:
            moves: Iterable[Move]
            if r and type(event) in _BY_ONE and not self._is_alone(s, r):
                what = self._contents[observation.position], used
                moves = self._by_one(s, r, what, lambda r=r: self._seen_by(s, r, observation, used))  # type: ignore[misc]
            else:
                moves = self._seen_by(s, r, observation, used)
            yield from self._settled(s, event.actor, r, moves)

    def _seen_by(self, s: bytes, r: int, observation: Observation, used: int) -> Iterator[Move]:
        """The steps of runner r that an observation may be."""
        event = observation.event
        b = self.thread.branches[event.branch]
        match event:
            case Loaded():
                yield from self._loaded(s, r, b, event)
            case Forked():
                action, faults = (act.Fork, 0) if event.declared else (dev.ForkUndeclared, dev.IMPLICIT_FORK)
                yield from self._take(s, faults, action, b, event.index, self.thread.branches[event.child])
            case Computed():
                yield from self._computed(s, r, b, event, used)
            case EffectFired():
                yield from self._fired(s, r, b, event, used)
            case Recorded():
                yield from self._recorded(s, r, b, event)
            case MemoUsed():
                yield from self._reused(s, r, b, self.thread.step(event.step))
            case Parked():
                yield from self._parked(s, r, b, event)
            case Answer():
                yield from self._answered(s, b, event)
            case GatePassed():
                yield from self._passed(s, r, b, event)
            case Refused():
                yield from self._refused(s, r, b, observation, event)
            case Committed():
                yield from self._committed(s, r, b, event)
            case StoreRead():
                if self.holds(s, b, event, used):
                    yield Move(s, 0, "store_read")
            case Completed():
                if self._status(s, b) == at.DONE:
                    yield Move(s, 0, "completed")
            case Failed():
                if self._status(s, b) == at.FAILED:
                    yield Move(s, 0, "failed")
            case ResumeFailed() | ResumeGaveUp():
                yield Move(s, 0, observation.kind)

    def _loaded(self, s: bytes, r: int, b: int, event: Loaded) -> Iterator[Move]:
        n = at.length(self.c, s, b)
        k = n if event.index is UNSET else int(event.index)
        if k == n:
            yield from self._take_next(s, 0, act.Load, r, b)
            yield from self._take_next(s, dev.LEDGER_IGNORED, dev.LoadIgnoringLedger, r, b)
            if self._run(s, r, at.PHASE) != at.IDLE or not at.is_running(self.c, s, b):
                yield Move(s, 0, "read")  # a look at the store that starts nothing
        elif k < n:
            for x in self._positions:
                yield from self._take(s, dev.RESTART_FROM_EARLIER, dev.LoadEarlier, r, b, x, k)
            yield from self._loaded_earlier_ignoring_ledger(s, r, b, k)

    def _loaded_earlier_ignoring_ledger(self, s: bytes, r: int, b: int, k: int) -> Iterator[Move]:
        """Both at once: a load of an older checkpoint that runs recorded work again."""
        where = at.branch_at(self.c, b) + at.LENGTH
        earlier = bytearray(s)
        earlier[where] = k
        both = dev.RESTART_FROM_EARLIER | dev.LEDGER_IGNORED
        for move in self._take_next(bytes(earlier), both, dev.LoadIgnoringLedger, r, b):
            state = bytearray(move.state)
            state[where] = state[at.run_at(self.c, r) + at.BASE] = s[where]
            yield replace(move, state=bytes(state))

    def _computed(self, s: bytes, r: int, b: int, event: Computed, used: int) -> Iterator[Move]:
        if not self._is_at(s, r, b, self.thread.step(event.step)) or self._outlived(s, r, used):
            return
        o = self.thread.value(event.outcome)
        if not event.valid:
            # What is invalid isn't what the code yields: its value is free.
            for move in self._take(
                s, 0, act.Compute, r, 1, at.outcome(self.c, s, b, self._run(s, r, at.STEP)) or o
            ):
                state = bytearray(move.state)
                state[at.run_at(self.c, r) + at.OUT] = o
                yield replace(move, state=bytes(state))
        else:
            yield from self._take(s, 0, act.Compute, r, 0, o)
            yield from self._take(s, dev.RECOMPUTE_DIFFERS, dev.ComputeDiffering, r, o)
            yield from self._take(s, dev.FORK_NONDETERMINISM, dev.ComputeForked, r, o)
            yield from self._computed_unlike_a_fork(s, r, b, o)
            yield from self._computed_as_one_of_several(s, r, b, o)

    def _computed_unlike_a_fork(self, s: bytes, r: int, b: int, o: int) -> Iterator[Move]:
        """Compute where a forked branch has fixed another outcome: it was the fork that deviated."""
        x = self._run(s, r, at.STEP)
        if not at.ready(self.c, s, r, at.PURE) or s[at.computed_at(self.c, b, x)]:
            return
        for other in self.thread.branches.values():
            if other == b or s[at.branch_at(self.c, other) + at.PARENT] == at.NONE:
                continue
            count = at.computed_at(self.c, other, x)
            if s[count] and not any(self._take(s, 0, act.Compute, r, 0, o)):
                without = _with(s, {count: 0})
                for move in self._take(without, dev.FORK_NONDETERMINISM, act.Compute, r, 0, o):
                    yield replace(move, state=_with(move.state, {count: s[count]}))

    def _computed_as_one_of_several(self, s: bytes, r: int, b: int, o: int) -> Iterator[Move]:
        """Compute where another branch has had several outcomes from the same inputs: any may be the code's."""
        c, x = self.c, self._run(s, r, at.STEP)
        if c.B == 1 or not at.ready(c, s, r, at.PURE) or s[at.computed_at(c, b, x)]:
            return
        if any(self._take(s, 0, act.Compute, r, 0, o)):
            return
        counts, several = {}, False
        for other in self.thread.branches.values():
            count = at.computed_at(c, other, x)
            outcomes = {
                s[at.computation_at(c, other, x, k) + c.reads[x]]
                for k in range(1, s[count] + 1)
                if at.same_inputs_elsewhere(c, s, b, x, other, k)
            }
            if outcomes and o not in outcomes:
                return
            several = several or len(outcomes) > 1
            if other != b:
                counts[count] = s[count]
        if not several:
            return
        for move in self._take(_with(s, dict.fromkeys(counts, 0)), 0, act.Compute, r, 0, o):
            yield replace(move, state=_with(move.state, counts))

    def _outlived(self, s: bytes, r: int, used: int) -> bool:
        return bool(used & dev.LOST_COMMIT) and bool(dev.is_outlived(self.c, s, r))

    def _fired(self, s: bytes, r: int, b: int, event: EffectFired, used: int) -> Iterator[Move]:
        x = self.thread.step(event.step)
        if not self._is_at(s, r, b, x) or self._outlived(s, r, used):
            return
        o = self.thread.value(event.outcome)
        first = s[at.world_at(self.c, b, x) + at.APPLIED] == 0
        if first and event.applied and self._answered_otherwise(s, b, x, o):
            yield from self._take(s, dev.FORK_NONDETERMINISM, dev.FireForked, r, o)
        elif first == event.applied:
            yield from self._take(s, 0, act.Fire, r, int(not event.valid), o)
        if event.applied and not first:
            # The sink's answer is the first one's, whoever fires.
            yield from (m for m in self._fired_again(s, r, b, x) if self._run(m.state, r, at.OUT) == o)

    def _fired_again(self, s: bytes, r: int, b: int, x: int) -> Iterator[Move]:
        recorded = s[at.ledger_at(self.c, b, x)] != at.NONE
        if self.thread.sink == "plain":
            yield from self._take(s, dev.UNKEYED_EFFECT, dev.FireAgain, r, int(recorded))
        elif not recorded:
            yield from self._take(s, dev.UNSTABLE_KEY, dev.FireAgain, r, 0)
        if recorded:
            yield from self._take(s, dev.LEDGER_IGNORED, dev.FireAgain, r, 1)

    def _answered_otherwise(self, s: bytes, b: int, x: int, o: int) -> bool:
        """Did the same effect, from the same content, get another answer in another branch, and is b a fork?"""
        if s[at.branch_at(self.c, b) + at.PARENT] == at.NONE:
            return False
        for other in self.thread.branches.values():
            w = at.world_at(self.c, other, x)
            if other != b and s[w] and s[w + at.ANSWER] != o and not s[w + at.ANSWER_BAD]:
                steps = range(1, self.c.S + 1)
                passed = [
                    [s[at.gate_at(self.c, a, g) + at.GATE_PASSED] for g in self._gates if g < x]
                    for a in (b, other)
                ]
                if passed[0] == passed[1] and all(
                    at.content(self.c, s, b, x, y) == at.content(self.c, s, other, x, y) for y in steps
                ):
                    return True
        return False

    def _recorded(self, s: bytes, r: int, b: int, event: Recorded) -> Iterator[Move]:
        x = self.thread.step(event.step)
        if not self._is_at(s, r, b, x):
            return
        o = self.thread.value(event.outcome)
        if self._run(s, r, at.OUT) == o:
            yield from self._take_next(s, 0, act.Record, r)
            yield from self._take_next(s, dev.INVALID_PERSISTED, dev.RecordInvalid, r)
            if self._is_sealed_for(s, r, b) and s[at.ledger_at(self.c, b, x)] == o:
                # Acknowledged, and already so in the branch: what the caller was told is true, the write is a repeat.
                yield from self._take_next(s, 0, act.Memo, r)
        for move in self._take(s, dev.RECORD_BEFORE_FIRE, dev.RecordUnfired, r):
            recorded = bytearray(move.state)
            recorded[at.ledger_at(self.c, b, x)] = o
            yield replace(move, state=bytes(recorded))

    def _is_sealed_for(self, s: bytes, r: int, b: int) -> bool:
        """Would the store refuse what r holds for no other reason than that the branch is at its end?"""
        return not at.is_running(self.c, s, b) and bool(at.epoch_current(self.c, s, r))

    def _reused(self, s: bytes, r: int, b: int, x: int) -> Iterator[Move]:
        """Memo; or no step, where the step was recorded for the runner before it came: it says what is so."""
        if self._is_at(s, r, b, x):
            yield from self._take_next(s, 0, act.Memo, r)
        elif (
            self._run(s, r, at.PHASE) != at.IDLE
            and self._run(s, r, at.BRANCH) == b
            and s[at.ledger_at(self.c, b, x)] != at.NONE
        ):
            yield Move(s, 0, "memo_used")

    def _parked(self, s: bytes, r: int, b: int, event: Parked) -> Iterator[Move]:
        g = self.thread.step(event.gate)
        if self._is_at(s, r, b, g):
            yield from self._take(s, 0, act.Park, r)
            if s[at.gate_at(self.c, b, g) + at.GATE_STATUS] == at.PARKED:
                yield from self._take(s, 0, act.Refuse, r)

    def _answered(self, s: bytes, b: int, event: Answer) -> Iterator[Move]:
        g = self.thread.step(event.gate)
        d = self.thread.deliveries[event.gate, event.delivery]
        v = self.thread.value(event.value)
        if event.accepted is False:
            if not self._is_open(s, b, g):
                yield Move(s, 0, "refused Deliver")
            return
        yield from self._take(s, 0, act.Deliver, b, g, d, v)
        if dev.is_acknowledged(self.c, s, b, g, d):
            yield Move(s, 0, "repeated Deliver")
        else:
            yield from self._take(s, dev.LATE_ANSWER_RECORDED, dev.DeliverLate, b, g, d, v)
            yield from self._take(s, dev.ANSWER_REPLACED, dev.DeliverReplacing, b, g, d, v)

    def _passed(self, s: bytes, r: int, b: int, event: GatePassed) -> Iterator[Move]:
        if not self._is_at(s, r, b, self.thread.step(event.gate)):
            return
        v = None if event.value is UNSET else self.thread.value(event.value)
        for move in (
            *self._take(s, 0, act.Claim, r),
            *self._take_over(s, r),
            *self._take(s, dev.CHECK_THEN_CLAIM, dev.ClaimWriting, r),
        ):
            if v is None or self._run(move.state, r, at.OUT) == v:
                yield move
        # The code behind the gate saw the answer: under check_then_claim that may be the read, its write to follow.
        k = at.gate_at(self.c, b, self.thread.step(event.gate))
        if v is None or s[k + at.GATE_HEAD + at.ACK_VALUE] == v:
            yield from self._take(s, dev.CHECK_THEN_CLAIM, dev.ClaimChecking, r)

    def _refused(self, s: bytes, r: int, b: int, observation: Observation, event: Refused) -> Iterator[Move]:
        if event.what not in ("load", "delivery"):
            yield from self._turned_away(s, r, b, event)
            return
        match event.what:
            case "load":
                if (
                    not at.is_running(self.c, s, b)
                    or is_waiting(self.c, s, b)
                    or self.is_at_work(s, b, observation, self.thread.died)
                ):
                    yield Move(s, 0, "refused Load")
            case "delivery":
                g = self.thread.step(event.gate) if event.gate else at.NONE
                if not g or not self._is_open(s, b, g):
                    yield Move(s, 0, "refused Deliver")

    def _turned_away(self, s: bytes, r: int, b: int, event: Refused) -> Iterator[Move]:
        """What runner r wanted of branch b is refused."""
        if self._run(s, r, at.PHASE) == at.IDLE or self._run(s, r, at.BRANCH) != b:
            return
        if event.what in ("record", "commit"):
            yield from self._take(s, dev.LOST_COMMIT, dev.Outlived, r)
        for name in filter(None, (event.gate, event.step)):
            x, u = self.thread.step(name), self._run(s, r, at.UNIT)
            if (self.c.unit_of[x] != u) if event.what == "commit" else (self._run(s, r, at.STEP) != x):
                return
        if self._run(s, r, at.UNIT) != self.thread.units.get(event.unit or "", self._run(s, r, at.UNIT)):
            return
        match event.what:
            case "gate":
                yield from self._take(s, 0, act.Refuse, r)
                yield from self._take(s, dev.CHECK_THEN_CLAIM, dev.ClaimDropping, r)
                yield from self._take(s, dev.ORPHANED_CLAIM, dev.TakeOverRefused, r)
            case "record" | "commit":
                if (event.what == "commit") == bool(at.committing(self.c, s, r)):
                    yield from self._take(s, 0, act.Stale, r)
            case "outcome":
                yield from self._take(s, 0, act.Reject, r)

    def _committed(self, s: bytes, r: int, b: int, event: Committed) -> Iterator[Move]:
        u = self.thread.units[event.unit]
        if not (
            at.committing(self.c, s, r) and self._run(s, r, at.BRANCH) == b and self._run(s, r, at.UNIT) == u
        ):
            return
        if not (self.declares_next(event) and self.lists_steps(event)):
            return
        outcomes = self._outcomes_of(event)
        if any(s[at.ledger_at(self.c, b, x)] != o for x, o in outcomes.items()):
            return
        for move in self._take_next(s, 0, act.Commit, r):
            newest = at.ckpt_at(self.c, b, at.length(self.c, move.state, b))
            if bool(move.state[newest + at.ENTRY_FLAGS] & at.VALID) == event.valid:
                yield move
                if self.faultless:
                    continue
                aliased = bytearray(move.state)
                if dev.alias_parent(self.c, move.state, aliased, b, u) and bytes(aliased) != move.state:
                    yield Move(bytes(aliased), dev.FORK_ALIASES_PARENT, "Commit over the parent's")
        if self._repeats(s, b, u, outcomes):
            # Acknowledged, and already so in the branch: what the caller was told is true, the write is a repeat.
            yield from self._take(s, 0, act.Stale, r)

    def _all_crashed(self, s: bytes, actor: str) -> Iterator[Move]:
        """The death of a process: one of its runners may deviate, the others just crash."""
        crew = self.thread.runners[actor] if actor in self.thread.runners else range(0)
        if all(self._run(s, r, at.PHASE) == at.IDLE for r in crew):
            yield Move(s, 0, "crash of an idle process")
            return
        for r in self.crews.distinct(s, actor):
            for move in self._crashed(s, r):
                state = bytearray(move.state)
                for other in crew:
                    act.go_idle(self.c, state, other)
                yield replace(move, state=bytes(state))

    def _crashed(self, s: bytes, r: int) -> Iterator[Move]:
        yield from self._take(s, 0, act.Crash, r)
        yield from self._take(s, dev.TORN_CHECKPOINT, dev.CrashTearing, r)
        yield from self._take(s, dev.STUCK_RUNNING, dev.CrashSticking, r)
        for b in self.thread.branches.values():
            yield from self._take(s, dev.LOST_COMMIT, dev.CrashLosingCommit, r, b)
            for g in self._gates:
                yield from self._take(s, dev.LOST_ANSWER, dev.CrashLosingAnswer, r, b, g)


def _with(s: bytes, values: dict[int, int]) -> bytes:
    """A state with these bytes in it, by where they are."""
    state = bytearray(s)
    for where, value in values.items():
        state[where] = value
    return bytes(state)
