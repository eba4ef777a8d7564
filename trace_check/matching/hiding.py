"""What is not seen: the steps that may be taken although no line shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pymodel.resume import actions as act
from pymodel.resume import faults as dev
from pymodel.resume import reading as at
from trace_check.events import ACTION_KINDS, Refused
from trace_check.matching.moving import Move, Mover
from trace_check.observations import Thread

__all__ = ["Hiding"]

_AT_COMMIT = -1
_OF_STEPS = frozenset({"computed", "recorded", "memo_used"})


class Hiding(Mover):
    """Finds unseen steps."""

    def __init__(self, thread: Thread) -> None:
        super().__init__(thread)
        names = [step.name for step in thread.program.steps]
        # A value that the trace never shows may be any: one stands for all.
        self._outcomes: list[list[int]] = [[]] + [sorted(thread.outcomes.get(name, {1})) for name in names]
        self._rejects = any(
            isinstance(o.event, Refused) and o.event.what == "outcome" for o in thread.observations
        )
        self._shows_all = thread.observes >= ACTION_KINDS
        self._unpromised = {thread.step(name) for name in thread.unpromised}
        # Whose load may go unseen has worked, perhaps, though of it only its end is shown.
        actors = thread.working if "loaded" in thread.observes else thread.runners
        self._may_work = {actor: self._branches_of(actor) for actor in actors}

    def _branches_of(self, actor: str) -> list[int]:
        """The branches on which an actor may do something unseen: those on which it is seen, where loads are shown."""
        thread = self.thread
        if {"loaded", "committed", "recorded", "parked", "gate_passed"} - thread.observes:
            return list(thread.branches.values())
        return [thread.branches[name] for name in sorted(thread.working[actor])]

    def workers(self) -> dict[str, list[int]]:
        """Who may do something unseen: for each where in a state the phases are of which one must be no idle one.

        None need be where the list is empty: whose load may go unseen.
        """
        shown = "loaded" in self.thread.observes
        return {
            actor: [at.run_at(self.c, r) + at.PHASE for r in self.thread.runners.get(actor, ())]
            if shown
            else []
            for actor in self._may_work
        }

    def hidden_by(self, s: bytes, actor: str) -> Iterator[Move]:
        """What an actor may do unseen."""
        if actor not in self._may_work:
            return
        for r in self.crews.distinct(s, actor):
            is_idle = self._run(s, r, at.PHASE) == at.IDLE
            if is_idle and "loaded" in self.thread.observes:
                continue  # whoever has nothing in hand can only load
            if not is_idle and self._hides_nothing(s, r):
                continue
            moves: Iterable[Move]
            if self._is_alone(s, r):
                moves = self._hidden_of(s, r, actor)
            else:
                what = actor if is_idle else None  # whose branches these are that it may load
                moves = self._by_one(s, r, what, lambda r=r: self._hidden_of(s, r, actor))  # type: ignore[misc]
            yield from self._settled(s, actor, r, moves)

    def _hides_nothing(self, s: bytes, r: int) -> bool:
        """Is a runner where only what is shown is taken for a step of the reference: anywhere but at a gate?"""
        if not (self.faultless and self._shows_all):
            return False
        x = self._run(s, r, at.STEP)
        return x not in self._unpromised and (x == at.AT_COMMIT or self.c.kind[x] != at.GATE)

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
                    if self._unseen_answers(s, b, g) == self.c.A - max(1, self.thread.answers):
                        continue  # the others' room is for those that are shown
                    for v in self._outcomes[g]:
                        yield from self._take(s, 0, act.Deliver, b, g, delivery, v)

    def _unseen_answers(self, s: bytes, b: int, g: int) -> int:
        """How many of the answers that a gate has acknowledged were given unseen."""
        head = at.gate_at(self.c, b, g) + at.GATE_HEAD + at.ACK_ID
        acks = range(s[at.gate_at(self.c, b, g) + at.GATE_ACKS])
        return sum(s[head + i * at.ACK_WIDTH] == self.c.D for i in acks)

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
