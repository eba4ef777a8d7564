"""For an event that no candidate explains: the closest action, and the first condition of it that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec import UNSET

from pymodel.resume import reading as at
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
    StoreRead,
)
from trace_check.matching import Matcher
from trace_check.observations import Observation

__all__ = ["Closest", "closest"]

Condition = tuple[str, Callable[[bytes], bool]]


@dataclass(frozen=True)
class Closest:
    """The action of the reference that an event comes closest to.

    Attributes:
        action: its name.
        condition: the first of its conditions that fails, in words.
        holding, conditions: how many of them hold, and how many there are.
    """

    action: str
    condition: str
    holding: int
    conditions: int


def closest(matcher: Matcher, observation: Observation, states: Iterable[bytes]) -> Closest:
    """The closest action over a set of candidate states."""
    readings = [
        _conditions(matcher, observation, r) for r in matcher.thread.runners.get(observation.event.actor, [0])
    ]
    best: Closest | None = None
    for state in states:
        for action, conditions in readings:
            results = [holds(state) for _, holds in conditions]
            failed = next((text for (text, _), ok in zip(conditions, results, strict=True) if not ok), "")
            found = Closest(
                action, failed or "no order of the overlapping operations fits", sum(results), len(results)
            )
            if best is None or found.holding > best.holding:
                best = found
    action, conditions = readings[0]
    return best or Closest(action, "no candidate is left", 0, len(conditions))


def _conditions(m: Matcher, observation: Observation, r: int) -> tuple[str, list[Condition]]:
    """The action of an observation, and its conditions on runner r (0: none)."""
    event, thread, c = observation.event, m.thread, m.c
    b = thread.branches[event.branch]
    who, where = event.actor, event.branch

    def run(field: int) -> Callable[[bytes], int]:
        return lambda s: int(s[at.run_at(c, r) + field])

    def at_step(name: str) -> Condition:
        x = thread.step(name)
        return (
            f"{who} stands at step {name} of branch {where}",
            lambda s: run(at.PHASE)(s) != at.IDLE and run(at.BRANCH)(s) == b and run(at.STEP)(s) == x,
        )

    def gate_status(name: str) -> Callable[[bytes], int]:
        return lambda s: int(s[at.gate_at(c, b, thread.step(name))])

    running: Condition = (f"branch {where} is running", lambda s: bool(at.is_running(c, s, b)))
    match event:
        case Loaded():
            index = 0 if event.index is UNSET else int(event.index)
            return "Load", [
                (f"{who} holds no other work", lambda s: run(at.PHASE)(s) == at.IDLE),
                running,
                (
                    f"the newest checkpoint of branch {where} is number {index}",
                    lambda s: at.length(c, s, b) == index,
                ),
            ]
        case Forked():
            child = thread.branches[event.child]
            return "Fork", [
                ("the fork was declared", lambda s: event.declared),
                (f"branch {event.child} doesn't exist yet", lambda s: s[at.branch_at(c, child)] == at.ABSENT),
                (
                    f"branch {where} has at least {event.index} checkpoints",
                    lambda s: at.length(c, s, b) >= event.index,
                ),
            ]
        case Computed():
            o = thread.value(event.outcome)
            x = thread.step(event.step)
            return "Compute", [
                at_step(event.step),
                (f"{who} has no outcome in hand", lambda s: run(at.PHASE)(s) == at.READY),
                (
                    "the same step with the same inputs had this outcome before",
                    lambda s: at.outcome(c, s, b, x) in (at.NONE, o),
                ),
            ]
        case EffectFired():
            w = at.world_at(c, b, thread.step(event.step))
            return "Fire", [
                at_step(event.step),
                (f"{who} has no outcome in hand", lambda s: run(at.PHASE)(s) == at.READY),
                (
                    f"{event.step} was not applied before in branch {where}"
                    if event.applied
                    else f"{event.step} was applied before in branch {where}",
                    lambda s: (s[w] == 0) == event.applied,
                ),
            ]
        case Recorded():
            o = thread.value(event.outcome)
            return "Record", [
                at_step(event.step),
                (f"{who} holds the outcome {event.outcome!r}", lambda s: run(at.OUT)(s) == o),
                ("the outcome is valid", lambda s: not run(at.BAD)(s)),
                running,
                ("the claim held is the current one", lambda s: not r or bool(at.epoch_current(c, s, r))),
            ]
        case MemoUsed():
            x = thread.step(event.step)
            return "Memo", [
                at_step(event.step),
                (f"{event.step} is recorded", lambda s: s[at.ledger_at(c, b, x)] != at.NONE),
            ]
        case Parked():
            return "Park", [
                at_step(event.gate),
                running,
                (f"gate {event.gate} is closed", lambda s: gate_status(event.gate)(s) == at.CLOSED),
            ]
        case Answer():
            return "Deliver", [
                running,
                (
                    f"gate {event.gate} is parked and has no answer yet",
                    lambda s: gate_status(event.gate)(s) == at.PARKED,
                ),
            ]
        case GatePassed():
            k = at.gate_at(c, b, thread.step(event.gate))
            v = at.NONE if event.value is UNSET else thread.value(event.value)
            return "Claim", [
                at_step(event.gate),
                running,
                (f"gate {event.gate} is answered", lambda s: s[k] in (at.ANSWERED, at.CLAIMED, at.CONSUMED)),
                (
                    f"gate {event.gate} is not claimed already, or its claim has expired",
                    lambda s: s[k] == at.ANSWERED or (s[k] == at.CLAIMED and s[k + at.GATE_EXPIRED] != 0),
                ),
                (
                    f"the answer that passed is {event.value!r}",
                    lambda s: s[k + at.GATE_ACKS] > 0 and s[k + at.GATE_HEAD + at.ACK_VALUE] == v,
                ),
            ]
        case Committed():
            u = thread.units[event.unit]
            outcomes = {thread.step(name): thread.value(o) for name, o in event.outcomes.items()}
            return "Commit", [
                (
                    f"{who} has done all of unit {event.unit} of branch {where}",
                    lambda s: (
                        bool(at.committing(c, s, r)) and run(at.BRANCH)(s) == b and run(at.UNIT)(s) == u
                    ),
                ),
                (
                    f"the checkpoint seals all steps of unit {event.unit}",
                    lambda s: m.lists_steps(event),
                ),
                (
                    "what it declares to come next is what the program says",
                    lambda s: m.declares_next(event),
                ),
                (
                    "the outcomes are those recorded",
                    lambda s: all(s[at.ledger_at(c, b, x)] == o for x, o in outcomes.items()),
                ),
                running,
                (
                    f"nobody else has committed to branch {where} since {who} loaded it",
                    lambda s: at.length(c, s, b) == run(at.BASE)(s),
                ),
                ("the claim held is the current one", lambda s: bool(at.can_commit(c, s, r))),
            ]
        case Crashed():
            return "Crash", []
        case StoreRead():
            return "store_read", [
                (
                    f"branch {where} has {len(event.checkpoints)} checkpoints",
                    lambda s: at.length(c, s, b) == len(event.checkpoints),
                ),
                ("the checkpoints and open gates are those read", lambda s: m.holds(s, b, event)),
            ]
        case Completed():
            return "completed", [(f"branch {where} is done", lambda s: s[at.branch_at(c, b)] == at.DONE)]
        case Failed():
            return "failed", [(f"branch {where} has failed", lambda s: s[at.branch_at(c, b)] == at.FAILED)]
    return observation.kind, []
