"""For an event that no candidate explains: the closest action, and the first condition of it that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import UNSET

from pymodel.resume import reading as at
from pymodel.resume.clauses import is_waiting
from trace_check.events import (
    Answer,
    AnyEvent,
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
    StoreRead,
)
from trace_check.matching import Matcher
from trace_check.observations import Observation

__all__ = ["Closest", "closest"]

Contrary = Callable[[Observation], bool]
"""Does an earlier observation show that a condition does not hold?"""


class Condition(NamedTuple):
    """A condition of an action: in words, whether it holds in a state, and what would show that it does not."""

    text: str
    holds: Callable[[bytes], bool]
    contrary: Contrary | None = None


@dataclass(frozen=True)
class Closest:
    """The action of the reference that an event comes closest to.

    Attributes:
        action: its name.
        condition: the first of its conditions that fails, in words.
        holding, conditions: how many of them hold, and how many there are.
        earlier: the last observation before that shows that the condition does not hold, if there is one.
    """

    action: str
    condition: str
    holding: int
    conditions: int
    earlier: Observation | None = None


def closest(matcher: Matcher, observation: Observation, states: Iterable[bytes]) -> Closest:
    """The closest action over a set of candidate states."""
    readings = [
        _conditions(matcher, observation, r) for r in matcher.thread.runners.get(observation.event.actor, [0])
    ]
    best: Closest | None = None
    for state in states:
        for action, conditions in readings:
            results = [condition.holds(state) for condition in conditions]
            if best is not None and sum(results) <= best.holding:
                continue
            failed = next((one for one, ok in zip(conditions, results, strict=True) if not ok), None)
            text = "no order of the overlapping operations fits" if failed is None else failed.text
            earlier = None if failed is None else _earlier(matcher, observation, failed.contrary)
            best = Closest(action, text, sum(results), len(results), earlier)
    action, conditions = readings[0]
    return best or Closest(action, "no candidate is left", 0, len(conditions))


def _earlier(m: Matcher, observation: Observation, contrary: Contrary | None) -> Observation | None:
    """The last observation that was over before this one began and shows the contrary of a condition."""
    if contrary is None:
        return None
    before = [o for o in m.thread.observations if not o.pending and o.high <= observation.low and contrary(o)]
    return max(before, key=lambda o: o.position, default=None)


def _last_load(m: Matcher, observation: Observation) -> Observation | None:
    """The actor's last load before what it does here."""
    actor = observation.event.actor
    loads = [
        o
        for o in m.thread.observations
        if isinstance(o.event, Loaded) and o.event.actor == actor and o.high <= observation.low
    ]
    return max(loads, key=lambda o: o.position, default=None)


def _conditions(m: Matcher, observation: Observation, r: int) -> tuple[str, list[Condition]]:
    """The action of an observation, and its conditions on runner r (0: none)."""
    event, thread, c = observation.event, m.thread, m.c
    b = thread.branches[event.branch]
    who, where = event.actor, event.branch

    def run(field: int) -> Callable[[bytes], int]:
        return lambda s: int(s[at.run_at(c, r) + field])

    def at_step(name: str) -> list[Condition]:
        x = thread.step(name)
        return [
            at_work,
            Condition(
                f"{who} stands at step {name} of branch {where}",
                lambda s: run(at.STEP)(s) == x,
                lambda o: loaded is not None and o.high < loaded.low and has_done(o.event, name),
            ),
        ]

    def gate_status(name: str) -> Callable[[bytes], int]:
        return lambda s: int(s[at.gate_at(c, b, thread.step(name))])

    loaded = _last_load(m, observation)

    def has_done(other: AnyEvent, name: str) -> bool:
        """Did it make a step's outcome durable on this branch?"""
        if other.branch != where:
            return False
        if isinstance(other, Committed):
            return bool(m.thread.units[other.unit] == c.unit_of[thread.step(name)])
        return isinstance(other, Recorded) and other.step == name

    def ends(other: AnyEvent) -> bool:
        """Did it end the branch?"""
        if isinstance(other, Committed):
            return other.branch == where and thread.units[other.unit] == c.U
        return isinstance(other, Completed | Failed) and other.branch == where

    at_work = Condition(
        f"{who} has loaded branch {where}, and is at work on it",
        lambda s: run(at.PHASE)(s) != at.IDLE and run(at.BRANCH)(s) == b,
        lambda o: isinstance(o.event, Crashed) and o.event.actor == who,
    )
    running = Condition(
        f"branch {where} is running", lambda s: bool(at.is_running(c, s, b)), lambda o: ends(o.event)
    )
    match event:
        case Loaded():
            index = 0 if event.index is UNSET else int(event.index)
            return "Load", [
                Condition(f"{who} holds no other work", lambda s: run(at.PHASE)(s) == at.IDLE),
                running,
                Condition(
                    f"the newest checkpoint of branch {where} is number {index}",
                    lambda s: at.length(c, s, b) == index,
                    lambda o: (
                        isinstance(o.event, Committed)
                        and o.event.branch == where
                        and thread.units[o.event.unit] > index
                    ),
                ),
            ]
        case Forked():
            child = thread.branches[event.child]
            return "Fork", [
                Condition("the fork was declared", lambda s: event.declared),
                Condition(
                    f"branch {event.child} doesn't exist yet",
                    lambda s: s[at.branch_at(c, child)] == at.ABSENT,
                ),
                Condition(
                    f"branch {where} has at least {event.index} checkpoints",
                    lambda s: at.length(c, s, b) >= event.index,
                ),
            ]
        case Computed():
            o = thread.value(event.outcome)
            x = thread.step(event.step)
            return "Compute", [
                *at_step(event.step),
                Condition(f"{who} has no outcome in hand", lambda s: run(at.PHASE)(s) == at.READY),
                Condition(
                    "the same step with the same inputs had this outcome before",
                    lambda s: at.outcome(c, s, b, x) in (at.NONE, o),
                ),
            ]
        case EffectFired():
            w = at.world_at(c, b, thread.step(event.step))
            return "Fire", [
                *at_step(event.step),
                Condition(f"{who} has no outcome in hand", lambda s: run(at.PHASE)(s) == at.READY),
                Condition(
                    f"{event.step} was not applied before in branch {where}"
                    if event.applied
                    else f"{event.step} was applied before in branch {where}",
                    lambda s: (s[w] == 0) == event.applied,
                    lambda o: (
                        event.applied
                        and isinstance(o.event, EffectFired)
                        and (o.event.branch, o.event.step) == (where, event.step)
                        and o.event.applied
                    ),
                ),
            ]
        case Recorded():
            o = thread.value(event.outcome)
            return "Record", [
                *at_step(event.step),
                Condition(f"{who} holds the outcome {event.outcome!r}", lambda s: run(at.OUT)(s) == o),
                Condition("the outcome is valid", lambda s: not run(at.BAD)(s)),
                running,
                Condition(
                    "the claim held is the current one", lambda s: not r or bool(at.epoch_current(c, s, r))
                ),
            ]
        case MemoUsed():
            x = thread.step(event.step)
            return "Memo", [
                *at_step(event.step),
                Condition(f"{event.step} is recorded", lambda s: s[at.ledger_at(c, b, x)] != at.NONE),
            ]
        case Parked():
            return "Park", [
                *at_step(event.gate),
                running,
                Condition(f"gate {event.gate} is closed", lambda s: gate_status(event.gate)(s) == at.CLOSED),
            ]
        case Answer():
            return "Deliver", [
                running,
                Condition(
                    f"gate {event.gate} is parked and has no answer yet",
                    lambda s: gate_status(event.gate)(s) == at.PARKED,
                    lambda o: (
                        isinstance(o.event, Answer)
                        and (o.event.branch, o.event.gate) == (where, event.gate)
                        and o.event.accepted is True
                    ),
                ),
            ]
        case GatePassed():
            k = at.gate_at(c, b, thread.step(event.gate))
            v = at.NONE if event.value is UNSET else thread.value(event.value)
            return "Claim", [
                *at_step(event.gate),
                running,
                Condition(
                    f"gate {event.gate} is answered", lambda s: s[k] in (at.ANSWERED, at.CLAIMED, at.CONSUMED)
                ),
                Condition(
                    f"gate {event.gate} is not claimed already, or its claim has expired",
                    lambda s: s[k] == at.ANSWERED or (s[k] == at.CLAIMED and s[k + at.GATE_EXPIRED] != 0),
                    lambda o: (
                        isinstance(o.event, GatePassed)
                        and (o.event.branch, o.event.gate) == (where, event.gate)
                    ),
                ),
                Condition(
                    f"the answer that passed is {event.value!r}",
                    lambda s: s[k + at.GATE_ACKS] > 0 and s[k + at.GATE_HEAD + at.ACK_VALUE] == v,
                ),
            ]
        case Committed():
            u = thread.units[event.unit]
            outcomes = {thread.step(name): thread.value(o) for name, o in event.outcomes.items()}
            return "Commit", [
                Condition(
                    f"{who} has done all of unit {event.unit} of branch {where}",
                    lambda s: (
                        bool(at.committing(c, s, r)) and run(at.BRANCH)(s) == b and run(at.UNIT)(s) == u
                    ),
                ),
                Condition(
                    f"the checkpoint seals all steps of unit {event.unit}",
                    lambda s: m.lists_steps(event),
                ),
                Condition(
                    "what it declares to come next is what the program says",
                    lambda s: m.declares_next(event),
                ),
                Condition(
                    "the outcomes are those recorded",
                    lambda s: all(s[at.ledger_at(c, b, x)] == o for x, o in outcomes.items()),
                ),
                running,
                Condition(
                    f"nobody else has committed to branch {where} since {who} loaded it",
                    lambda s: at.length(c, s, b) == run(at.BASE)(s),
                    lambda o: (
                        isinstance(o.event, Committed)
                        and o.event.branch == where
                        and o.event.actor != who
                        and loaded is not None
                        and o.low > loaded.high
                    ),
                ),
                Condition("the claim held is the current one", lambda s: bool(at.can_commit(c, s, r))),
            ]
        case Refused():
            return _refusal(m, observation, event, r, running, at_work, at_step)
        case Crashed():
            return "Crash", []
        case StoreRead():
            return "store_read", [
                Condition(
                    f"branch {where} has {len(event.checkpoints)} checkpoints",
                    lambda s: at.length(c, s, b) == len(event.checkpoints),
                ),
                Condition("the checkpoints and open gates are those read", lambda s: m.holds(s, b, event)),
            ]
        case Completed():
            return "completed", [
                Condition(f"branch {where} is done", lambda s: s[at.branch_at(c, b)] == at.DONE)
            ]
        case Failed():
            return "failed", [
                Condition(f"branch {where} has failed", lambda s: s[at.branch_at(c, b)] == at.FAILED)
            ]
    return observation.kind, []


def _refusal(
    m: Matcher,
    observation: Observation,
    event: Refused,
    r: int,
    running: Condition,
    at_work: Condition,
    at_step: Callable[[str], list[Condition]],
) -> tuple[str, list[Condition]]:
    """What a refusal stands for, and its conditions on runner r (0: none)."""
    thread, c = m.thread, m.c
    b, p = thread.branches[event.branch], at.run_at(c, r)
    who, where = event.actor, event.branch
    if event.what == "load":
        held = Condition(
            f"branch {where} is at an end, waits for an answer, or is held by another process",
            lambda s: (
                not running.holds(s)
                or bool(is_waiting(c, s, b))
                or m.is_at_work(s, b, observation, thread.died)
            ),
        )
        return "refused Load", [held]
    if event.what == "delivery":
        g = thread.step(event.gate) if event.gate else at.NONE
        waits = Condition(
            f"gate {event.gate} of branch {where} is not open",
            lambda s: not (g and running.holds(s) and s[at.gate_at(c, b, g) + at.GATE_STATUS] == at.PARKED),
        )
        return "refused Deliver", [waits]
    conditions = [at_work]
    if event.unit in thread.units:
        conditions.append(
            Condition(
                f"{who} is in unit {event.unit}", lambda s: s[p + at.UNIT] == thread.units[event.unit or ""]
            )
        )
    for name in filter(None, (event.gate, event.step)):
        u = c.unit_of[thread.step(name)]
        conditions.append(
            Condition(f"{who} is in the unit of {name}", lambda s, u=u: s[p + at.UNIT] == u)  # type: ignore[misc]
            if event.what == "commit"
            else at_step(name)[1]
        )
    match event.what:
        case "gate":
            return "Refuse", [
                *conditions,
                Condition(
                    f"{f'gate {event.gate}' if event.gate else 'the gate'} can't be parked, claimed or taken over",
                    lambda s: (
                        not (at.can_park(c, s, r) or at.can_claim(c, s, r) or at.can_take_over(c, s, r))
                    ),
                ),
            ]
        case "outcome":
            return "Reject", [
                *conditions,
                Condition(f"{who} has an outcome in hand", lambda s: s[p + at.PHASE] == at.HOLDS),
                Condition("the outcome is invalid", lambda s: bool(s[p + at.BAD])),
            ]
        case "commit":
            return "Stale", [
                *conditions,
                Condition(f"{who} has done all of its unit", lambda s: bool(at.committing(c, s, r))),
                Condition(
                    f"the commit comes too late: branch {where} is at an end, somebody else has committed to it, or the"
                    " claim has passed on",
                    lambda s: not at.can_commit(c, s, r),
                ),
            ]
    return "Stale", [
        *conditions,
        Condition(f"{who} has an outcome in hand", lambda s: s[p + at.PHASE] == at.HOLDS),
        Condition(
            f"the record comes too late: branch {where} is at an end, or the claim has passed on",
            lambda s: not at.can_record(c, s, r),
        ),
    ]
