"""From an observation, or unseen, to the mirror's steps: which states may a state turn into, using which faults?

Every step here is an action of :mod:`pymodel.resume.actions` or a deviation of :mod:`pymodel.resume.faults`, called
with the parameters that the event names.  Budgets play no part: their counters are kept at zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET

from pymodel.errors import CapacityError
from pymodel.resume import actions as act
from pymodel.resume import faults as dev
from pymodel.resume import reading as at
from pymodel.resume.clauses import is_waiting
from pymodel.resume.initial import initial_state
from pymodel.resume.layout import OVERFLOWS, lay_out
from trace_check.crews import Crews
from trace_check.events import (
    Answer,
    AnyEvent,
    CheckpointRead,
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
    Value,
)
from trace_check.observations import Observation, Thread, content_of
from trace_check.quotient import Quotient

__all__ = ["Matcher", "Move"]

Action = Callable[..., bool]
_AT_COMMIT = -1
_BY_ONE = (Loaded, Computed, EffectFired, Recorded, MemoUsed, Parked, GatePassed, Committed)
"""Events that are steps of the runner whose they are, or nothing: what the other runners have in hand is all the same."""

_OF_STEPS = frozenset({"computed", "recorded", "memo_used"})


class Move(NamedTuple):
    """A step: where it leads, the bits of the faults it uses, and what it is called."""

    state: bytes
    faults: int
    name: str


_TAKES_ANSWERS = dev.LOST_ANSWER | dev.ANSWER_REPLACED

REMEMBERED = dev.LOST_COMMIT | _TAKES_ANSWERS
"""Faults that, once used, change what later observations may be."""


_Effect = tuple[bytes, bytes, bytes, int, str]
"""A move of one runner: what comes before the runners, its own run and the branches; the faults and the name."""


class Matcher:
    """The steps of one thread.

    Attributes:
        thread: what it shows.
        c: the mirror's configuration for it.
        initial: the state that it begins in.
        crews: the runners of each actor.
        quotient: which states are alike; those that are handed out stand for all that are.
    """

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        layout = lay_out(thread.program, thread.bounds(), free=True)
        self.c = layout.config
        self._t = bytearray(layout.width)
        self.crews = Crews(self.c, thread.runners)
        self.quotient = Quotient(self.c, self.crews)
        self.initial = initial_state(layout)
        self._positions = range(self.c.S + 1)
        self._gates = [g for g in self.c.gate_in if g]
        names = [step.name for step in thread.program.steps]
        # A value that the trace never shows may be any: one stands for all.
        self._outcomes: list[list[int]] = [[]] + [sorted(thread.outcomes.get(name, {1})) for name in names]
        self._rejects = any(
            isinstance(o.event, Refused) and o.event.what == "outcome" for o in thread.observations
        )
        self._unpromised = {thread.step(name) for name in thread.unpromised}
        # Whose load may go unseen has worked, perhaps, though of it only its end is shown.
        actors = thread.working if "loaded" in thread.observes else thread.runners
        self._contents = _numbered(thread.observations)
        self._of_one: dict[tuple[bytes, bytes, object], list[_Effect]] = {}
        self._may_work = {actor: self._branches_of(actor) for actor in actors}

    def _branches_of(self, actor: str) -> list[int]:
        """The branches on which an actor may do something unseen: those on which it is seen, where loads are shown."""
        thread = self.thread
        if {"loaded", "committed", "recorded", "parked", "gate_passed"} - thread.observes:
            return list(thread.branches.values())
        return [thread.branches[name] for name in sorted(thread.working[actor])]

    # ----------------------------------------------------------------------------------------------------------
    # Taking steps

    def _take(self, s: bytes, faults: int, action: Action, *parameters: int) -> Iterator[Move]:
        """The one step of an action with these parameters, if it is enabled."""
        t = self._t
        t[:] = s
        if action(self.c, s, t, *parameters):
            if t[at.OVERFLOW]:
                raise CapacityError("trace", OVERFLOWS[t[at.OVERFLOW]])
            yield Move(bytes(t), faults, action.__name__)

    def _take_next(self, s: bytes, faults: int, action: Action, *parameters: int) -> Iterator[Move]:
        """The same for an action whose last parameter is where the runner goes next."""
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

    # ----------------------------------------------------------------------------------------------------------
    # What is seen

    def seen(self, s: bytes, observation: Observation, used: int) -> Iterator[Move]:
        """The steps that an observation may be.  `used`: the faults of the explanation so far."""
        event = observation.event
        if isinstance(event, Crashed):
            for state, faults, name in self._all_crashed(s, event.actor):
                yield Move(self.quotient.of(state), faults, name)
            return
        for r in self.crews.distinct(s, event.actor) or [0]:
            moves: Iterable[Move]
            if r and isinstance(event, _BY_ONE):
                what = self._contents[observation.position], used
                moves = self._by_one(s, r, what, lambda r=r: self._seen_by(s, r, observation, used))  # type: ignore[misc]
            else:
                moves = self._seen_by(s, r, observation, used)
            yield from self._settled(s, event.actor, r, moves)

    def _by_one(self, s: bytes, r: int, what: object, ask: Callable[[], Iterable[Move]]) -> list[Move]:
        """What is asked of runner r, once for all states that differ in no more than what the other runners have in hand.

        A state has no runner's number in it, so that it may be any runner.

        Args:
            s: the state.
            r: the runner.
            what: stands for the question.
            ask: gives the moves, none of which reads or changes the others' runs.
        """
        p = at.run_at(self.c, r)
        q, end = p + at.RUN_WIDTH, self.c.branches
        key = s[: at.RUNS] + s[end:], s[p:q], what
        effects = self._of_one.get(key)
        if effects is None:
            effects = self._of_one[key] = [
                (t[: at.RUNS], t[p:q], t[end:], faults, name) for t, faults, name in ask()
            ]
        return [
            Move(b"".join((head, s[at.RUNS : p], run, s[q:end], durable)), faults, name)
            for head, run, durable, faults, name in effects
        ]

    def _settled(self, s: bytes, actor: str, r: int, moves: Iterable[Move]) -> Iterator[Move]:
        """The moves of runner r, with what follows from each for the rest of its crew."""
        if actor not in self.crews.several:
            for state, faults, name in moves:
                yield Move(self.quotient.of(state), faults, name)
            return
        for move in moves:
            anew = bool(move.faults & dev.LEDGER_IGNORED)
            for state in self.crews.settle(s, move.state, actor, r, anew):
                yield Move(self.quotient.of(state), move.faults, move.name)

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

    def _status(self, s: bytes, b: int) -> int:
        return int(s[at.branch_at(self.c, b) + at.STATUS])

    def _is_at(self, s: bytes, r: int, b: int, x: int) -> bool:
        """Does runner r stand at step x of branch b?"""
        return (
            self._run(s, r, at.PHASE) != at.IDLE
            and self._run(s, r, at.BRANCH) == b
            and self._run(s, r, at.STEP) == x
        )

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
            yield move._replace(state=bytes(state))

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
                yield move._replace(state=bytes(state))
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
            start = at.computed_at(self.c, other, x)
            kept = s[start : start + self.c.computed_width]
            without = s[:start] + bytes(len(kept)) + s[start + len(kept) :]
            if without != s and not list(self._take(s, 0, act.Compute, r, 0, o)):
                for move in self._take(without, dev.FORK_NONDETERMINISM, act.Compute, r, 0, o):
                    state = move.state[:start] + kept + move.state[start + len(kept) :]
                    yield move._replace(state=state)

    def _computed_as_one_of_several(self, s: bytes, r: int, b: int, o: int) -> Iterator[Move]:
        """Compute where another branch has had several outcomes from the same inputs: any may be the code's."""
        c, x = self.c, self._run(s, r, at.STEP)
        if not at.ready(c, s, r, at.PURE) or s[at.computed_at(c, b, x)]:
            return
        if any(self._take(s, 0, act.Compute, r, 0, o)):
            return
        without, kept, several = bytearray(s), {}, False
        for other in self.thread.branches.values():
            p = at.computed_at(c, other, x)
            outcomes = {
                s[p + k * (c.S + 1)]
                for k in range(1, s[p] + 1)
                if at.same_inputs_elsewhere(c, s, b, x, other, k)
            }
            if outcomes and o not in outcomes:
                return
            several = several or len(outcomes) > 1
            if other != b:
                kept[p] = s[p : p + c.computed_width]
                without[p : p + c.computed_width] = bytes(c.computed_width)
        if not several:
            return
        for move in self._take(bytes(without), 0, act.Compute, r, 0, o):
            state = bytearray(move.state)
            for p, before in kept.items():
                state[p : p + c.computed_width] = before
            yield move._replace(state=bytes(state))

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
            yield move._replace(state=bytes(recorded))

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
                    or self._is_held(s, b, observation, self.thread.died)
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
        name = event.gate or event.step
        if name and event.what != "commit" and self._run(s, r, at.STEP) != self.thread.step(name):
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

    def _is_open(self, s: bytes, b: int, g: int) -> bool:
        """Would the first answer to a gate be accepted?"""
        return bool(at.is_running(self.c, s, b)) and s[at.gate_at(self.c, b, g) + at.GATE_STATUS] == at.PARKED

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
                aliased = bytearray(move.state)
                if dev.alias_parent(self.c, move.state, aliased, b, u) and bytes(aliased) != move.state:
                    yield Move(bytes(aliased), dev.FORK_ALIASES_PARENT, "Commit over the parent's")
        if self._repeats(s, b, u, outcomes):
            # Acknowledged, and already so in the branch: what the caller was told is true, the write is a repeat.
            yield from self._take(s, 0, act.Stale, r)

    def _outcomes_of(self, event: Committed) -> dict[int, int]:
        return {self.thread.step(name): self.thread.value(o) for name, o in event.outcomes.items()}

    def _repeats(self, s: bytes, b: int, u: int, outcomes: Mapping[int, int]) -> bool:
        """Does branch b hold unit u already, with these outcomes of its steps?"""
        i = at.newest(self.c, s, b, u)
        return bool(i) and all(
            s[at.ckpt_at(self.c, b, i) + at.ENTRY_OUT + self.c.place[x]] == o for x, o in outcomes.items()
        )

    def declares_next(self, event: Committed) -> bool:
        """Does a checkpoint declare nothing to come next but the unit that the program says?"""
        following = self.thread.units[event.unit] + 1
        return all(self.thread.units[name] == following for name in event.next)

    def lists_steps(self, event: Committed) -> bool:
        """Has a checkpoint all steps of its unit, as far as it says which it has?"""
        u = self.thread.units[event.unit]
        units = self.thread.program.units
        return not event.steps or u > len(units) or {s.name for s in units[u - 1]}.issubset(event.steps)

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
                yield move._replace(state=bytes(state))

    def _crashed(self, s: bytes, r: int) -> Iterator[Move]:
        yield from self._take(s, 0, act.Crash, r)
        yield from self._take(s, dev.TORN_CHECKPOINT, dev.CrashTearing, r)
        yield from self._take(s, dev.STUCK_RUNNING, dev.CrashSticking, r)
        for b in self.thread.branches.values():
            yield from self._take(s, dev.LOST_COMMIT, dev.CrashLosingCommit, r, b)
            for g in self._gates:
                yield from self._take(s, dev.LOST_ANSWER, dev.CrashLosingAnswer, r, b, g)

    # ----------------------------------------------------------------------------------------------------------
    # Assertions on the state

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

    def starves(self, s: bytes, observation: Observation, *, anybody: bool = False) -> bool:
        """Is LV broken here: a resume got nowhere, the branch is at no end, doesn't wait, and nobody else holds it?

        With `anybody`, the actors stand for others: then whoever is at work may still be alive.
        """
        if not isinstance(observation.event, ResumeFailed | ResumeGaveUp):
            return False
        b = self.thread.branches[observation.event.branch]
        if self._status(s, b) not in (at.RUNNING, at.STUCK) or is_waiting(self.c, s, b):
            return False
        died = {} if anybody else self.thread.died
        return not self._is_held(s, b, observation, died)

    def _is_held(self, s: bytes, b: int, observation: Observation, died: Mapping[str, int]) -> bool:
        """Is a process other than the observation's at work on a branch, and not known to be dead by then?"""
        dead = {actor for actor, position in died.items() if position < observation.position}
        dead.add(observation.event.actor)
        return any(
            actor not in dead and self._run(s, r, at.PHASE) != at.IDLE and self._run(s, r, at.BRANCH) == b
            for actor, crew in self.thread.runners.items()
            for r in crew
        )

    # ----------------------------------------------------------------------------------------------------------
    # What is not seen

    def hidden_by(self, s: bytes, actor: str) -> Iterator[Move]:
        """What an actor may do unseen."""
        if actor not in self._may_work:
            return
        for r in self.crews.distinct(s, actor):
            # Which branches it may load matters to who has nothing in hand.
            what = actor if self._run(s, r, at.PHASE) == at.IDLE else None
            moves = self._by_one(s, r, what, lambda r=r: self._hidden_of(s, r, actor))  # type: ignore[misc]
            yield from self._settled(s, actor, r, moves)

    def beyond_gate(self, s: bytes, r: int) -> list[tuple[int, bytes]]:
        """Where runner r, which has just passed a gate, may go from there: the steps, each with the state.

        Nothing where its claim has passed on, or where somebody else holds another answer of that gate: then it matters
        which of them goes first.
        """
        c, p = self.c, at.run_at(self.c, r)
        b, x, out = s[p + at.BRANCH], s[p + at.STEP], s[p + at.OUT]
        if s[p + at.PHASE] != at.HOLDS or x == at.AT_COMMIT or c.kind[x] != at.GATE:
            return []
        for q in range(at.RUNS, c.branches, at.RUN_WIDTH):
            is_there = s[q + at.PHASE] == at.HOLDS and s[q + at.STEP] == x and s[q + at.BRANCH] == b
            if is_there and s[q + at.OUT] != out:
                return []
        return [
            (self._run(move.state, r, at.STEP), self.quotient.of(move.state))
            for move in self._by_one(s, r, act.Record, lambda: self._take_next(s, 0, act.Record, r))
        ]

    def hidden_answers(self, s: bytes) -> Iterator[Move]:
        """The answers that may be given unseen."""
        if "answer" not in self.thread.observes:
            delivery = self.c.D  # no shown delivery has this number
            for b in self.thread.branches.values():
                for g in self._gates:
                    if s[at.gate_at(self.c, b, g) + at.GATE_ACKS] == self.c.A:
                        continue
                    for v in self._outcomes[g]:
                        yield from self._take(s, 0, act.Deliver, b, g, delivery, v)

    def _hidden_of(self, s: bytes, r: int, actor: str) -> Iterator[Move]:
        """What a runner may do unseen."""
        observes = self.thread.observes
        x, phase = self._run(s, r, at.STEP), self._run(s, r, at.PHASE)
        if phase == at.IDLE:
            if "loaded" not in observes:
                for b in self._may_work[actor]:
                    yield from self._take_next(s, 0, act.Load, r, b)
            return
        kind = _AT_COMMIT if x == at.AT_COMMIT else self.c.kind[x]
        if kind == _AT_COMMIT:
            if "committed" not in observes:
                yield from self._take_next(s, 0, act.Commit, r)
            yield from self._take_next(s, dev.SKIP_UNCOMMITTED, dev.CommitSkipping, r)
        elif kind == at.GATE:
            yield from self._hidden_at_gate(s, r, observes)
        else:
            if x in self._unpromised:
                observes = observes - _OF_STEPS
            if phase == at.READY:
                yield from self._hidden_run(s, r, x, observes)
            if "memo_used" not in observes:
                yield from self._take_next(s, 0, act.Memo, r)
        if phase == at.HOLDS and (kind == at.GATE or "recorded" not in observes):
            yield from self._take_next(s, 0, act.Record, r)
        if phase == at.HOLDS and "recorded" not in observes:
            yield from self._take_next(s, dev.INVALID_PERSISTED, dev.RecordInvalid, r)
        if "refused" not in observes and (phase == at.HOLDS or kind == _AT_COMMIT):
            yield from self._take(s, 0, act.Stale, r)
            yield from self._take(s, 0, act.Reject, r)

    def _hidden_run(self, s: bytes, r: int, x: int, observes: frozenset[str]) -> Iterator[Move]:
        b = self._run(s, r, at.BRANCH)
        if self.c.kind[x] == at.PURE:
            if "computed" not in observes:
                fixed = at.outcome(self.c, s, b, x)
                for o in (fixed,) if fixed else self._outcomes[x]:
                    for bad in range(1 + self._rejects):
                        yield from self._take(s, 0, act.Compute, r, bad, o)
            return
        if "effect_fired" not in observes:
            fixed = s[at.world_at(self.c, b, x) + at.ANSWER]
            for o in (fixed,) if fixed else self._outcomes[x]:
                for bad in range(2):
                    yield from self._take(s, 0, act.Fire, r, bad, o)
        if "recorded" not in observes:
            yield from self._take(s, dev.RECORD_BEFORE_FIRE, dev.RecordUnfired, r)

    def _hidden_at_gate(self, s: bytes, r: int, observes: frozenset[str]) -> Iterator[Move]:
        if "parked" not in observes:
            yield from self._take(s, 0, act.Park, r)
        if "gate_passed" not in observes:
            yield from self._take(s, 0, act.Claim, r)
            yield from self._take_over(s, r)
        if "refused" not in observes:
            yield from self._take(s, 0, act.Refuse, r)
        yield from self._take(s, dev.CHECK_THEN_CLAIM, dev.ClaimChecking, r)
        yield from self._take(s, dev.CHECK_THEN_CLAIM, dev.ClaimWriting, r)
        yield from self._take(s, dev.FORK_INHERITS_ANSWER, dev.ParkInheriting, r)

    # ----------------------------------------------------------------------------------------------------------
    # What nothing explains

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


def _numbered(observations: list[Observation]) -> dict[int, int]:
    """For each observation, by its position, a number that those share that say the same."""
    numbers: dict[tuple[object, ...], int] = {}
    return {
        o.position: numbers.setdefault((o.event.branch, *content_of(o)), len(numbers)) for o in observations
    }
