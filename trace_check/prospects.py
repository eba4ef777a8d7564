"""What a trace still shows, and so what can't have happened or must have.

What is said of a process holds of actors that are one runner, and where the trace promises every load: then a runner
stays the one it is until the next load that is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import accumulate
from operator import or_

from pymodel.resume import reading as at
from pymodel.resume.faults import LEDGER_IGNORED, RECORD_BEFORE_FIRE, UNKEYED_EFFECT, UNSTABLE_KEY
from trace_check.bits import indices
from trace_check.broken import spans
from trace_check.events import (
    Committed,
    Computed,
    Crashed,
    EffectFired,
    GatePassed,
    Loaded,
    Parked,
    Recorded,
    Refused,
)
from trace_check.matching import Matcher
from trace_check.observations import Observation
from trace_check.symmetry import Loosened

__all__ = ["Prospects"]


@dataclass
class _Owed:
    """What is shown of an actor.

    Attributes:
        offset: where its runner is in a state.
        records, passes: observations, each with the loads that may come before it, as bits, its branch and its unit.
            Whoever is the first to commit a unit records something of it.
        runs: of the other steps, the same and the step.
        all_runs, all_bound: the observations of the runs, and of the records and passes, as bits.
        shown: all of them.
        speaking: what of all that is explained matters to it, as bits.
        loads: the loads that may come before any of it, as bits: until they are explained nothing is known of it.
        fates: what became of it, for each state of the ledgers and gates, part of `speaking`, and run of its own:
            None if there is no hope, else the records that have to come before somebody else passes the gate.
    """

    offset: int
    records: list[tuple[int, int, int, int]] = field(default_factory=list)
    passes: list[tuple[int, int, int, int]] = field(default_factory=list)
    runs: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    all_runs: int = 0
    all_bound: int = 0
    shown: int = 0
    speaking: int = 0
    loads: int = -1
    fates: dict[tuple[bytes, int, bytes], tuple[int, ...] | None] = field(default_factory=dict)


class _Windows:
    """Of whom something is known: between the last of the loads that come first and the last that is shown of it.

    Args:
        owed: of each actor.
        count: the observations.
    """

    def __init__(self, owed: list[_Owed], count: int) -> None:
        self._owed = owed
        last, begun = [0] * (count + 3), [0] * (count + 3)  # of what is explained one bit more is used
        for k, one in enumerate(owed):
            last[one.shown.bit_length()] |= 1 << k
            begun[one.loads.bit_length()] |= 1 << k
        self._begun = list(accumulate(begun, or_))
        self._unfinished = list(accumulate(reversed(last), or_))[::-1]
        self._open: dict[int, list[_Owed]] = {}

    def open_at(self, done: int) -> list[_Owed]:
        """Those of whom something may be known, and something more is shown, where so much is explained."""
        # The loads are explained only if the last is; and something is left only up to the last that is shown.
        first_left = (~done & done + 1).bit_length()
        open_ = self._begun[done.bit_length()] & self._unfinished[first_left]
        found = self._open.get(open_)
        if found is None:
            found = self._open[open_] = [self._owed[k] for k in indices(open_)]
        return found


class Prospects:
    """What is still to come of the actors of a thread.

    Attributes:
        again: the faults by which an effect may be applied again.

    Args:
        matcher: the steps of the thread.
        observations: in the order of their intervals.
        loosened: if they are loosened, how.
    """

    def __init__(
        self, matcher: Matcher, observations: list[Observation], loosened: Loosened | None = None
    ) -> None:
        self._matcher = matcher
        self._observations = observations
        self._loosened = loosened
        self._loads: dict[str, list[int]] = {}
        self._owed: dict[str, _Owed] = {}
        self._windows = _Windows([], len(observations))
        self._begun: dict[tuple[str, int, int], list[tuple[int, int]]] = {}
        self._hurried: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._crashes = [i for i, o in enumerate(observations) if isinstance(o.event, Crashed)]
        self._commits: dict[tuple[str, str], list[int]] = {}
        for i, observation in enumerate(observations):
            if isinstance(event := observation.event, Committed):
                self._commits.setdefault((event.branch, event.unit), []).append(i)
        self._present = self._presences()
        self._sealed = self._before_units()
        self._applied = self._applications()
        self._all_applied = sum(shown for _, shown in self._applied)
        self._worlds = spans(matcher.c, ("world",))
        self._fateful = spans(matcher.c, ("ledger", "gate"))
        self._again: dict[tuple[int, bytes], bool] = {}
        self._recorded = self._records()
        thread = matcher.thread
        self._one_holds = (
            thread.sink == "plain"
            and {"effect_fired", "recorded"} <= thread.observes
            and all(
                o.event.applied and not o.pending for o in observations if isinstance(o.event, EffectFired)
            )
        )
        self.again = LEDGER_IGNORED, UNKEYED_EFFECT if matcher.thread.sink == "plain" else UNSTABLE_KEY
        if "loaded" not in matcher.thread.observes:
            return
        for i, observation in enumerate(observations):
            if isinstance(observation.event, Loaded):
                self._loads.setdefault(observation.event.actor, []).append(i)
        alone = {actor: crew[0] for actor, crew in matcher.thread.runners.items() if len(crew) == 1}
        for i, observation in enumerate(observations):
            if not observation.pending and observation.event.actor in alone:
                self._learn(i, observation, at.run_at(matcher.c, alone[observation.event.actor]))
        self._passes_before = {
            i: sum(
                1 << j for j, _, *place in owed.passes if place == [b, u] and not self._may_come_before(i, j)
            )
            for owed in self._owed.values()
            for i, _, b, u, _ in owed.runs
        }
        for owed in self._owed.values():
            owed.all_runs = sum(1 << run[0] for run in owed.runs)
            owed.all_bound = sum(1 << one[0] for one in (*owed.records, *owed.passes))
            owed.shown = owed.all_runs | owed.all_bound
            owed.speaking = owed.shown
            for i, loads, *_ in (*owed.records, *owed.passes, *owed.runs):
                owed.speaking |= loads | self._passes_before.get(i, 0)
                owed.loads &= loads
        self._windows = _Windows(list(self._owed.values()), len(observations))

    def _applications(self) -> list[tuple[int, int]]:
        """For each effect of each branch where its number of applications is in a state, and what shows one, as bits."""
        thread = self._matcher.thread
        found: dict[int, int] = {}
        for i, observation in enumerate(self._observations):
            event = observation.event
            if isinstance(event, EffectFired) and event.applied and not observation.pending:
                w = at.world_at(self._matcher.c, thread.branches[event.branch], thread.step(event.step))
                found[w + at.APPLIED] = found.get(w + at.APPLIED, 0) | 1 << i
                self._places[w + at.APPLIED] = thread.branches[event.branch], thread.step(event.step)
        return list(found.items())

    def _records(self) -> dict[int, list[int]]:
        """For each effect of each branch, by where its number of applications is in a state, what shows it recorded."""
        thread = self._matcher.thread
        found: dict[int, list[int]] = {}
        for i, observation in enumerate(self._observations):
            event = observation.event
            if isinstance(event, Recorded):
                w = at.world_at(self._matcher.c, thread.branches[event.branch], thread.step(event.step))
                found.setdefault(w + at.APPLIED, []).append(i)
        return found

    def comes_too_early(self, done: int, state: bytes, only: int) -> bool:
        """Does an effect have to be applied again before it is recorded, which none of these faults allows?

        Whoever holds the outcome of the first time has to record it before, where nobody else can have it in hand.
        """
        if only & (UNKEYED_EFFECT | UNSTABLE_KEY | RECORD_BEFORE_FIRE) or not self._one_holds:
            return False
        for w, shown in self._applied:
            left = shown & ~done
            if not state[w] or not left:
                continue
            observations = self._observations
            latest = min(observations[i].high for i in indices(left))
            b, x = self._places[w]
            if state[at.ledger_at(self._matcher.c, b, x)] == at.NONE and not any(
                not done >> i & 1 and observations[i].low < latest and self._holds(state, i, x)
                for i in self._recorded.get(w, ())
            ):
                return True
        return False

    def _holds(self, state: bytes, i: int, x: int) -> bool:
        """Does the actor of an observation have the outcome of a step in hand?"""
        crew = self._matcher.thread.runners[self._observations[i].event.actor]
        runs = (at.run_at(self._matcher.c, r) for r in crew)
        return any(state[p + at.PHASE] == at.HOLDS and state[p + at.STEP] == x for p in runs)

    def applies_again(self, done: int, state: bytes) -> bool:
        """Is an effect still to be applied again, which takes one of the faults `again`?"""
        key = done & self._all_applied, b"".join([state[span] for span in self._worlds])
        answer = self._again.get(key)
        if answer is None:
            answer = self._again[key] = any(
                (left := shown & ~done) and (state[w] or left & left - 1) for w, shown in self._applied
            )
        return answer

    def _learn(self, i: int, observation: Observation, offset: int) -> None:
        thread = self._matcher.thread
        event = observation.event
        b = thread.branches[event.branch]
        if isinstance(event, Recorded):
            u = int(self._matcher.c.unit_of[thread.step(event.step)])
            owed = self._owed.setdefault(event.actor, _Owed(offset))
            owed.records.append((i, self._loads_before(i), b, u))
        elif isinstance(event, GatePassed):
            u = int(self._matcher.c.unit_of[thread.step(event.gate)])
            owed = self._owed.setdefault(event.actor, _Owed(offset))
            owed.passes.append((i, self._loads_before(i), b, u))
        elif isinstance(event, (Computed, EffectFired)):
            key = event.actor, b, thread.step(event.step)
            self._begun.setdefault(key, []).append((i, self._loads_before(i)))
            owed = self._owed.setdefault(event.actor, _Owed(offset))
            owed.runs.append((i, self._loads_before(i), b, int(self._matcher.c.unit_of[key[2]]), key[2]))
        elif isinstance(event, Committed) and self._commits_first(i):
            owed = self._owed.setdefault(event.actor, _Owed(offset))
            owed.records.append((i, self._loads_before(i), b, thread.units[event.unit]))

    def _commits_first(self, i: int) -> bool:
        """Has nobody committed the same unit of the same branch before observation i?

        Who crashes may have left a torn checkpoint.
        """
        if not {"committed", "crashed"} <= self._matcher.thread.observes:
            return False
        one = self._observations[i].event
        assert isinstance(one, Committed)
        if any(self._may_come_before(j, i) for j in self._crashes):
            return False
        same = self._commits[one.branch, one.unit]
        return not any(j != i and self._may_come_before(j, i) for j in same)

    def _hurrying(self, i: int, b: int, u: int) -> tuple[int, list[tuple[int, int]]]:
        """The passings of others that have to come before a record in unit u of branch b.

        As bits, and each: its bit, and where its runner is in a state.
        """
        found = self._hurried.get(i)
        if found is None:
            actor = self._observations[i].event.actor
            low = min(self._observations[k].low for k in self._stage(i))
            passes = [
                (1 << j, other.offset)
                for name, other in self._owed.items()
                if name != actor
                for j, _, *place in other.passes
                if place == [b, u]
                and max((self._observations[k].high for k in self._stage(j)), default=math.inf) < low
            ]
            found = self._hurried[i] = sum(bit for bit, _ in passes), passes
        return found

    def _stage(self, i: int) -> tuple[int, ...]:
        """The observations that may turn out to be this one."""
        found = self._loosened.stage(i) if self._loosened is not None else None
        return (i,) if found is None else found[0].stages[found[1]]

    def _loads_before(self, i: int) -> int:
        """The loads of an observation's actor that may come before it, as bits."""
        loads = self._loads.get(self._observations[i].event.actor, ())
        return sum(1 << j for j in loads if self._may_come_before(j, i))

    def _may_come_before(self, j: int, i: int) -> bool:
        """May observation j of an actor come before its observation i?"""
        if self._loosened is not None:
            one, two = self._loosened.stage(j), self._loosened.stage(i)
            if one is not None and two is not None and one[0] is two[0]:
                return not one[0].before[one[1]] >> two[1] & 1
        return self._observations[j].low < self._observations[i].high

    def is_past(self, done: int, state: bytes) -> bool:
        """Is somebody still shown in a unit that is sealed, and isn't there?  The reference brings nobody back to it."""
        c = self._matcher.c
        for b in range(1, c.B + 1):
            after = at.unit_after(c, state, b, at.length(c, state, b))
            sealed = self._sealed[b]
            for i in indices(sealed[min(after, len(sealed) - 1)] & ~done):
                runs, _, u = self._present[i]
                if not any(
                    state[p + at.PHASE] != at.IDLE and state[p + at.BRANCH] == b and state[p + at.UNIT] == u
                    for p in runs
                ):
                    return True
        return False

    def _presences(self) -> dict[int, tuple[list[int], int, int]]:
        """Of each observation that shows its actor in a unit: where that one's runners are in a state, branch, unit."""
        thread, c = self._matcher.thread, self._matcher.c
        runs = {actor: [at.run_at(c, r) for r in crew] for actor, crew in thread.runners.items()}
        return {
            i: (runs[o.event.actor], thread.branches[o.event.branch], u)
            for i, o in enumerate(self._observations)
            if (u := self._unit_shown(o)) is not None
        }

    def _before_units(self) -> dict[int, list[int]]:
        """For each branch, by unit, what shows somebody in a unit before that, as bits."""
        last = max((u for _, _, u in self._present.values()), default=0)
        found = {b: [0] * (last + 2) for b in range(1, self._matcher.c.B + 1)}
        for i, (_, b, u) in self._present.items():
            found[b][u + 1] |= 1 << i
        return {b: list(accumulate(masks, or_)) for b, masks in found.items()}

    def _unit_shown(self, observation: Observation) -> int | None:
        """The unit in which an observation shows its actor to be, if it does."""
        thread, event = self._matcher.thread, observation.event
        if observation.pending or event.actor not in thread.runners:
            return None
        if isinstance(event, Committed):
            return thread.units[event.unit]
        if isinstance(event, (Computed, EffectFired, Recorded)):
            return int(self._matcher.c.unit_of[thread.step(event.step)])
        if isinstance(event, (Parked, GatePassed)):
            return int(self._matcher.c.unit_of[thread.step(event.gate)])
        if isinstance(event, Refused) and event.what in ("gate", "record", "outcome", "commit"):
            name = event.gate or event.step
            return thread.units.get(event.unit or "") or (
                int(self._matcher.c.unit_of[thread.step(name)]) if name else None
            )
        return None

    def is_hopeless(self, done: int, state: bytes) -> bool:
        """Is there no way from here to the end, whatever the faults, unless something is unmodelled?

        * Nothing is accepted of a runner whose claim has passed on.
        * A runner that has passed a gate doesn't come to it again, nor to a step of a unit that it has left, nor to one
          that has been recorded meanwhile.
        * Who passes a gate that is claimed, and hasn't read it before, makes its owner's claim pass on: before the
          owner has recorded what is behind it.
        """
        left = ~done
        read = None
        for owed in self._windows.open_at(done):
            if owed.loads & left or not owed.shown & left:
                continue
            if read is None:
                read = b"".join([state[span] for span in self._fateful])
            key = read, done & owed.speaking, state[owed.offset : owed.offset + at.RUN_WIDTH]
            try:
                hurried = owed.fates[key]
            except KeyError:
                hurried = owed.fates[key] = self._fate(owed, done, state)
            if hurried is None:
                return True
            for i in hurried:
                if self._is_hurried(
                    i, done, state, state[owed.offset + at.BRANCH], state[owed.offset + at.UNIT]
                ):
                    return True
        return False

    def _fate(self, owed: _Owed, done: int, state: bytes) -> tuple[int, ...] | None:
        """See `_Owed.fates`."""
        if owed.all_runs & ~done and self._is_beyond(owed, done, state):
            return None
        epoch = state[owed.offset + at.EPOCH]
        if not epoch or not owed.all_bound & ~done:
            return ()
        b, u = state[owed.offset + at.BRANCH], state[owed.offset + at.UNIT]
        for i, loads, branch, unit in owed.passes:
            if not done >> i & 1 and not loads & ~done and (branch, unit) == (b, u):
                return None
        gate = at.gate_at(self._matcher.c, b, self._matcher.c.gate_in[u])
        is_owner = state[gate + at.GATE_EPOCH] == epoch
        hurried = []
        for i, loads, branch, unit in owed.records:
            if done >> i & 1 or loads & ~done:
                continue
            if not is_owner:
                return None
            if (branch, unit) == (b, u):
                hurried.append(i)
        return tuple(hurried)

    def _is_beyond(self, owed: _Owed, done: int, state: bytes) -> bool:
        """Is a step shown to be run that its runner, as it is, can't come to any more?"""
        p, left = owed.offset, ~done
        idle = state[p + at.PHASE] == at.IDLE
        b, u, here = state[p + at.BRANCH], state[p + at.UNIT], state[p + at.STEP]
        for i, loads, branch, unit, x in owed.runs:
            if loads & left or not left >> i & 1:
                continue
            if idle or b != branch or u > unit or (u == unit and here == at.AT_COMMIT):
                return True
            recorded = u == unit and state[at.ledger_at(self._matcher.c, b, x)] != at.NONE
            if recorded and (here != x or self._passes_before[i] & ~done):
                return True
        return False

    def _is_hurried(self, i: int, done: int, state: bytes, b: int, u: int) -> bool:
        """Does somebody who hasn't read the gate yet pass it before record i of its owner?"""
        every, passes = self._hurrying(i, b, u)
        left = every & ~done
        if not left:
            return False
        for bit, p in passes:
            if left & bit and (
                state[p + at.PHASE] != at.CHECKED or state[p + at.BRANCH] != b or state[p + at.UNIT] != u
            ):
                return True
        return False

    def can_be_claimed(self, done: int, state: bytes, actor: str) -> bool:
        """May the gate at which an actor stands be claimed now by somebody, and not without hope?

        There is none where somebody passes it before the one who claims it records what is behind it, and isn't there yet
        to read it.
        """
        c, runners = self._matcher.c, self._matcher.thread.runners
        p = at.run_at(c, runners[actor][0])
        if len(runners[actor]) > 1:
            return True
        here = state[p + at.BRANCH], state[p + at.UNIT], state[p + at.STEP]
        for other, crew in runners.items():
            if any(self._is_at(state, at.run_at(c, r), here) for r in crew):
                owed = self._owed.get(other)
                if owed is None or len(crew) > 1:
                    return True
                hurried = (
                    passing
                    for i, loads, b, u in owed.records
                    if not done >> i & 1 and not loads & ~done and (b, u) == here[:2]
                    for passing in self._hurrying(i, b, u)[1]
                )
                if all(done & bit or self._is_at(state, q, here) for bit, q in hurried):
                    return True
        return False

    def _is_at(self, state: bytes, p: int, here: tuple[int, int, int]) -> bool:
        """Is a runner at a gate: has it come to it, or read it?"""
        return (
            state[p + at.PHASE] in (at.READY, at.CHECKED)
            and (state[p + at.BRANCH], state[p + at.UNIT], state[p + at.STEP]) == here
        )

    def must_pass(self, actor: str, state: bytes, done: int) -> bool:
        """Is an actor still shown to pass the gate of the unit in which it is, and without a load before?"""
        owed = self._owed.get(actor)
        if owed is None:
            return False
        b, u = state[owed.offset + at.BRANCH], state[owed.offset + at.UNIT]
        for i, loads, branch, unit in owed.passes:
            if not (done >> i & 1 or loads & ~done) and branch == b and unit == u:
                return True
        return False

    def must_run(self, actor: str, b: int, x: int, done: int) -> bool:
        """Is a step of branch b still shown to be run by an actor, and without a load before?"""
        begun = self._begun.get((actor, b, x), ())
        return any(not done >> i & 1 and not loads & ~done for i, loads in begun)
