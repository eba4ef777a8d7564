"""Processes that a trace tells apart by nothing but when they did the same things.

k racers at a gate have k! orders, nearly all of which come to the same.  Here a thread's observations are loosened so
that the racers are interchangeable: who of them does a thing first doesn't matter, only how many have done it by when.
Every order that the trace allows is among those of the loosened thread, so what doesn't explain the loosened thread
doesn't explain the trace either.  What does may still not, and has to be looked for in the trace itself.

Where k processes do the same n-th thing within intervals of their own, the c-th of them to do it does so after the
c-th of their begins and before the c-th of their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from pymodel.resume import reading as at
from trace_check.events import (
    Committed,
    Computed,
    Crashed,
    EffectFired,
    GatePassed,
    Loaded,
    MemoUsed,
    Parked,
    Recorded,
    Refused,
    ResumeFailed,
    ResumeGaveUp,
)
from trace_check.observations import Observation, Thread, content_of

__all__ = ["Loosened", "Twins", "loosen"]

_OF_RUNNERS = (
    *(Loaded, Computed, EffectFired, Recorded, MemoUsed, Parked, GatePassed, Committed),
    *(ResumeFailed, ResumeGaveUp, Crashed),
)
_BY_RUNNERS = ("gate", "record", "commit", "outcome")


_Role = tuple[int, bytes]
"""The stages that somebody has behind him, as bits, and his runner."""


@dataclass(frozen=True)
class Twins:
    """Actors that do the same things.

    Attributes:
        runners: their runners, one each.
        stages: for each thing they do, whose observation it is by index: that of the actor with the same place in
            `runners`.  Once loosened, the c-th of them holds the interval in which the c-th actor to do it does so.
        before: for each stage the stages that all of them have behind them then, as bits.
    """

    runners: tuple[int, ...]
    stages: tuple[tuple[int, ...], ...]
    before: tuple[int, ...]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where their runners are in a state."""
        return tuple(at.RUNS + (r - 1) * at.RUN_WIDTH for r in self.runners)

    @cached_property
    def bits(self) -> tuple[tuple[int, ...], ...]:
        """For each of them, the bit of its observation of each stage."""
        return tuple(tuple(1 << i for i in own) for own in zip(*self.stages, strict=True))

    @cached_property
    def own(self) -> tuple[tuple[int, dict[int, int]], ...]:
        """For each of them the bits of all its observations, and for some of these the stages that they are, as bits."""
        return tuple((sum(bits), {}) for bits in self.bits)

    @cached_property
    def _last(self) -> list[tuple[int, bytes, list[_Role]]]:
        """The place of which was asked last, and what was said."""
        return []

    def roles(self, done: int, state: bytes) -> list[_Role]:
        """Where each of them is: the stages that it has behind it, as bits, and its runner."""
        for before, old, roles in self._last:
            if before == done and old is state:
                return roles
        roles = [self._role(place, done, state) for place in range(len(self.runners))]
        self._last[:] = [(done, state, roles)]
        return roles

    def _role(self, place: int, done: int, state: bytes) -> _Role:
        p, (mask, known) = self.offsets[place], self.own[place]
        did = known.get(done & mask)
        if did is None:
            did = known[done & mask] = _did(done, self.bits[place])
        return did, state[p : p + at.RUN_WIDTH]

    def roles_after(self, done: int, state: bytes, moved: int | None) -> list[_Role]:
        """The same of a place one step on from the one that was asked for last.

        Args:
            done, state: the place.
            moved: which of them the step is of.
        """
        if moved is not None and self._last:
            before, old, roles = self._last[0]
            p, end = self.offsets[moved], self.offsets[-1] + at.RUN_WIDTH
            others = self.all & ~self.own[moved][0]
            if (
                (done ^ before) & others == 0
                and state[at.RUNS : p] == old[at.RUNS : p]
                and state[p + at.RUN_WIDTH : end] == old[p + at.RUN_WIDTH : end]
            ):
                return [*roles[:moved], self._role(moved, done, state), *roles[moved + 1 :]]
        return [self._role(place, done, state) for place in range(len(self.runners))]

    @cached_property
    def all(self) -> int:
        """The bits of all their observations."""
        return sum(mask for mask, _ in self.own)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """The bits of each stage."""
        return tuple(sum(1 << i for i in stage) for stage in self.stages)

    @cached_property
    def firsts(self) -> tuple[tuple[int, ...], ...]:
        """For each stage the bits of none, of the first, of the first two, ..."""
        return tuple(
            tuple(sum(1 << i for i in stage[:count]) for count in range(len(stage) + 1))
            for stage in self.stages
        )


@dataclass(frozen=True)
class Loosened:
    """The observations of a thread, loosened, and those who are interchangeable in it.

    Attributes:
        observations: in the order of their intervals.
        twins: the classes of interchangeable actors.
        places: for each of these actors, which class it is of and its place there.
        kin: for each of these actors its observations, and those of its like that are bound to nobody, as bits.
    """

    observations: list[Observation]
    twins: tuple[Twins, ...]
    places: dict[str, tuple[int, int]]
    kin: dict[str, int]

    @cached_property
    def stages(self) -> dict[int, tuple[Twins, int]]:
        """For each of their observations, the class and the number of the stage."""
        return {i: (twins, n) for twins in self.twins for n, stage in enumerate(twins.stages) for i in stage}

    def instances(self, done: int) -> int:
        """From who has done what to how many have done it: the first so many of each stage."""
        for twins in self.twins:
            for mask, firsts in zip(twins.masks, twins.firsts, strict=True):
                if did := done & mask:
                    done = done & ~mask | firsts[did.bit_count()]
        return done

    def stage(self, i: int) -> tuple[Twins, int] | None:
        """Whose an observation is: the class, and the number of the stage."""
        return self.stages.get(i)

    def first_of_each(self, indices: list[int]) -> list[int]:
        """Of observations, in order, the first of each stage, and those that are of none."""
        found: list[int] = []
        stages: set[tuple[int, int]] = set()
        for i in indices:
            stage = self.stages.get(i)
            if stage is not None:
                key = id(stage[0]), stage[1]
                if key in stages:
                    continue
                stages.add(key)
            found.append(i)
        return found

    def takers(self, done: int, state: bytes, twins: Twins, n: int) -> list[int]:
        """The observations by which somebody may do the n-th thing now: one of each kind of actors."""
        found: dict[tuple[int, bytes], int] = {}
        for role, stage in zip(twins.roles(done, state), twins.stages[n], strict=True):
            if not role[0] >> n & 1 and twins.before[n] & ~role[0] == 0:
                found.setdefault(role, stage)
        return list(found.values())

    def distinct(self, done: int, state: bytes, actors: list[str]) -> list[str]:
        """These actors, but of those in one role one only."""
        found: list[str] = []
        roles: set[tuple[int, int, bytes]] = set()
        for actor in sorted(actors, key=lambda actor: self.places.get(actor, (-1, -1))):
            if actor in self.places:
                number, place = self.places[actor]
                twins = self.twins[number]
                p = twins.offsets[place]
                role = (number, _did(done, twins.bits[place]), state[p : p + at.RUN_WIDTH])
                if role in roles:
                    continue
                roles.add(role)
            found.append(actor)
        return found

    def ordered(self, done: int, state: bytes, actor: str | None = None) -> tuple[int, bytes]:
        """The place that stands for all in which the same actors have changed roles.

        Args:
            done, state: the place.
            actor: whose step has led there, if it was somebody's.
        """
        number, place = self.places.get(actor or "", (-1, -1))
        for k, twins in enumerate(self.twins):
            roles = twins.roles_after(done, state, place if k == number else None)
            wanted = sorted(roles)
            if roles == wanted:
                continue
            t = bytearray(state)
            for p, bits, role, old in zip(twins.offsets, twins.bits, wanted, roles, strict=True):
                if role != old:
                    t[p : p + at.RUN_WIDTH] = role[1]
                    for n, bit in enumerate(bits):
                        done = done | bit if role[0] >> n & 1 else done & ~bit
            state = bytes(t)
        return done, state


def _did(done: int, bits: tuple[int, ...]) -> int:
    """The stages that an actor has behind it, as bits; `bits` are those of its observations."""
    did = 0
    for n, bit in enumerate(bits):
        if done & bit:
            did |= 1 << n
    return did


def loosen(thread: Thread) -> Loosened | None:
    """A thread with its twins interchangeable; None where there are none."""
    observations = thread.observations
    own: dict[str, list[int]] = {}
    loose: dict[str, list[int]] = {}
    for i in sorted(range(len(observations)), key=lambda i: observations[i].position):
        observation = observations[i]
        actor = observation.event.actor
        kept = own if _is_bound(observation) and len(thread.runners.get(actor, ())) == 1 else loose
        kept.setdefault(actor, []).append(i)
    classes: dict[tuple[object, ...], list[str]] = {}
    for actor, indices in own.items():
        classes.setdefault(tuple(content_of(observations[i]) for i in indices), []).append(actor)
    groups = [actors for actors in classes.values() if len(actors) > 1]
    if not groups:
        return None
    return _loosened(thread, observations, own, loose, groups)


def _loosened(
    thread: Thread,
    observations: list[Observation],
    own: dict[str, list[int]],
    loose: dict[str, list[int]],
    groups: list[list[str]],
) -> Loosened:
    changed = list(observations)
    for actors in groups:
        for stage in zip(*(own[actor] for actor in actors), strict=True):
            lows = sorted(observations[i].low for i in stage)
            highs = sorted(observations[i].high for i in stage)
            for i, low, high in zip(stage, lows, highs, strict=True):
                changed[i] = replace(observations[i], low=low, high=high)
    order = sorted(range(len(changed)), key=lambda i: (changed[i].low, changed[i].high))
    index = {old: new for new, old in enumerate(order)}
    twins, kin = [], {}
    for actors in groups:
        stages = tuple(
            tuple(index[i] for i in stage) for stage in zip(*(own[actor] for actor in actors), strict=True)
        )
        before = tuple(
            sum(
                1 << m
                for m in range(len(stages))
                if all(observations[own[a][m]].high <= observations[own[a][n]].low for a in actors)
            )
            for n in range(len(stages))
        )
        runners = tuple(thread.runners[actor][0] for actor in actors)
        twins.append(Twins(runners, stages, before))
        shared = sum(1 << index[i] for actor in actors for i in loose.get(actor, []))
        for place, actor in enumerate(actors):
            kin[actor] = shared | sum(1 << stage[place] for stage in stages)
    places = {
        actor: (number, place) for number, actors in enumerate(groups) for place, actor in enumerate(actors)
    }
    return Loosened([changed[i] for i in order], tuple(twins), places, kin)


def _is_bound(observation: Observation) -> bool:
    """Is it something that one particular runner does?"""
    event = observation.event
    if isinstance(event, Refused):
        return event.what in _BY_RUNNERS
    return isinstance(event, _OF_RUNNERS)
