"""A process that is several runners: how many, from what the trace shows, and how they move together.

Unordered steps of a unit may run at once in one process.  Each of them takes a runner, and all of these are the actor's
*crew*.  One `loaded` line is the load of the whole crew, one `crashed` line its death.  Who of a crew stands where is
no line's business: runners of a crew are interchangeable, and so that few states differ they move by fixed rules
(:meth:`Crews.settle`).  All but one of these are steps of the reference: a load, a crash of a runner that has nothing
in hand, the reuse of what another one of the crew has recorded.  The one exception: a claim belongs to the process, so
a runner that joins behind a gate holds the epoch of the one that passed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Protocol

from pymodel.resume import reading as at
from pymodel.resume.actions import arrive, go_idle
from pymodel.resume.layout import Config
from pymodel.resume.program import Program
from trace_check.events import (
    AnyEvent,
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
)

__all__ = ["Crews", "crew_sizes"]


class _Seen(Protocol):
    """What is asked of an observation here."""

    @property
    def event(self) -> AnyEvent: ...
    @property
    def position(self) -> int: ...
    @property
    def pending(self) -> bool: ...


def crew_sizes(
    program: Program, observes: frozenset[str], observations: Iterable[_Seen], *, wide: bool = False
) -> dict[str, int]:
    """The actors that are more than one runner, and how many each is.

    An actor is a crew if it has begun a step while another one, unordered with it, had an outcome that was not recorded
    yet, or after it came to a gate, unordered with it, and found no answer.  It has a runner then for each step of that
    unit that is unordered with another: enough for whatever is available at once.

    Args:
        program: the steps and their order.
        observes: the kinds that the trace promises.
        observations: of one thread.
        wide: an actor is a crew already if it has run unordered steps, be it one after the other.
    """
    rivals = _rivals(program)
    if not any(rivals.values()):
        return {}
    gates = {step.name for step in program.steps if step.kind == "gate"}
    ordered = sorted(observations, key=lambda o: o.position)
    last_record = {
        (o.event.actor, o.event.branch, o.event.step): o.position
        for o in ordered
        if isinstance(o.event, Recorded)
    }
    opened: dict[str, set[tuple[str, str]]] = {}
    sizes: dict[str, int] = {}
    for observation in ordered:
        event = observation.event
        held = opened.setdefault(event.actor, set())
        match event:
            case Computed(step=step) | EffectFired(step=step) | MemoUsed(step=step):
                begun: str | None = step
            case Parked(gate=gate) | GatePassed(gate=gate):
                begun = gate
            case Refused(what="gate"):
                begun = event.gate
            case _:
                begun = None
        if begun is not None and any((event.branch, other) in held for other in rivals[begun]):
            sizes[event.actor] = max(sizes.get(event.actor, 1), _width(program, rivals, begun))
        match event:
            case Computed(step=step) | EffectFired(step=step):
                later = last_record.get((event.actor, event.branch, step), 0) > observation.position
                if (
                    wide or later or "recorded" in observes
                ):  # otherwise it may have been recorded unseen at once
                    held.add((event.branch, step))
            case Recorded(step=step) if not (wide or observation.pending):
                held.discard((event.branch, step))
            case MemoUsed(step=step) if not wide:
                held.discard((event.branch, step))
            case Refused(what="record" | "outcome") if event.step is not None and not wide:
                held.discard((event.branch, event.step))
            case Committed() if not observation.pending:
                held.difference_update([(event.branch, step) for step in event.steps])
            case GatePassed(gate=gate) if wide:
                held.add((event.branch, gate))
            case Parked(gate=gate):
                held.add((event.branch, gate))  # whoever parks a gate, or is refused there, does nothing more
            case Refused(what="gate", gate=str(gate)):
                held.add((event.branch, gate))
            case Loaded() if "refused" not in observes:
                held.clear()  # whatever it held was refused, unseen
            case Loaded():
                held.difference_update([(branch, step) for branch, step in held if step in gates])
            case Crashed():
                held.clear()
    return sizes


def _rivals(program: Program) -> dict[str, frozenset[str]]:
    """For each step the others of its unit that may run at the same time."""
    before = {step.name: program.predecessors(step.name) for step in program.steps}
    return {
        step.name: frozenset(
            other.name
            for other in unit
            if other != step and other.name not in before[step.name] and step.name not in before[other.name]
        )
        for unit in program.units
        for step in unit
    }


def _width(program: Program, rivals: Mapping[str, frozenset[str]], step: str) -> int:
    """How many steps of a step's unit are unordered with another."""
    unit = program.units[program.unit_of(step) - 1]
    return sum(bool(rivals[other.name]) for other in unit)


class Crews:
    """The slots of each actor, and how those of a crew move together.

    Args:
        c: the configuration.
        slots: for each actor the numbers of its runners.

    Attributes:
        several: the actors that are more than one runner.
    """

    def __init__(self, c: Config, slots: Mapping[str, range]) -> None:
        self.c = c
        self.slots = slots
        self.several = frozenset(actor for actor, crew in slots.items() if len(crew) > 1)
        self._spans = [
            (at.run_at(c, r[0]), at.run_at(c, r[-1]) + at.RUN_WIDTH) for r in slots.values() if len(r) > 1
        ]

    def distinct(self, s: bytes, actor: str) -> Sequence[int]:
        """The runners of an actor, one of each kind that stand alike."""
        slots = self.slots.get(actor, range(0))
        if actor not in self.several:
            return slots
        seen: dict[bytes, int] = {}
        for r in slots:
            p = at.run_at(self.c, r)
            seen.setdefault(s[p : p + at.RUN_WIDTH], r)
        return list(seen.values())

    def sort(self, s: bytes) -> bytes:
        """The same state with each crew in order."""
        for start, end in self._spans:
            runs = [s[p : p + at.RUN_WIDTH] for p in range(start, end, at.RUN_WIDTH)]
            ordered = sorted(runs)
            if ordered != runs:
                s = s[:start] + b"".join(ordered) + s[end:]
        return s

    def settle(self, before: bytes, after: bytes, actor: str, r: int, anew: bool = False) -> Iterator[bytes]:
        """Where the crew stands once runner r has taken a step.

        * It has left its unit: whoever had nothing in hand there goes with it.
        * It has recorded a step or reused it: whoever else stood ready at that step goes on as well.
        * Where it arrives, the others join: one at each step that has become available.

        Args:
            before, after: the state before and after the step.
            actor: whose crew.
            r: who took the step.
            anew: recorded work is run again, so every step of the unit counts as available.
        """
        c, slots = self.c, self.slots[actor]
        if len(slots) < 2:
            yield after
            return
        p = at.run_at(c, r)
        was, now = before[p : p + at.RUN_WIDTH], after[p : p + at.RUN_WIDTH]
        others = [q for q in slots if q != r]
        if was == now:
            x = was[at.STEP]
            if x == at.AT_COMMIT or before == after or not self._newly_recorded(before, after, was):
                yield after
            else:  # recorded ahead of being run: who records it stays there
                yield from self._join(bytearray(after), slots, r, x, False)
        elif was[at.PHASE] == at.IDLE:
            if now[at.PHASE] == at.IDLE:
                yield after
                return
            t = bytearray(after)
            self._leave(t, [q for q in others if self._run(t, q, at.BRANCH) == now[at.BRANCH]])
            yield from self._join(t, slots, r, at.NONE, anew)
        elif was[at.PHASE] == at.READY and was[at.STEP] == at.AT_COMMIT:
            t = bytearray(after)
            if now[at.PHASE] != at.IDLE or self._is_sealed(after, was):
                self._leave(t, [q for q in others if self._run(t, q, at.BRANCH) == was[at.BRANCH]])
            if now[at.PHASE] == at.IDLE:
                yield bytes(t)
            else:
                yield from self._join(t, slots, r, at.NONE, False)
        elif now[at.PHASE] == at.READY and now[at.STEP] != was[at.STEP]:
            done = was[at.STEP] if after[at.ledger_at(c, was[at.BRANCH], was[at.STEP])] else at.NONE
            if done == at.NONE:
                yield after
                return
            for t in self._go_on(bytearray(after), others, was):
                self._make_way(t, others, r)
                yield from self._join(t, slots, r, done, False, was)
        else:
            yield after

    def _run(self, s: bytes | bytearray, r: int, field: int) -> int:
        return int(s[at.run_at(self.c, r) + field])

    def _newly_recorded(self, before: bytes, after: bytes, was: bytes) -> bool:
        p = at.ledger_at(self.c, was[at.BRANCH], was[at.STEP])
        return was[at.PHASE] == at.READY and not before[p] and bool(after[p])

    def _is_sealed(self, s: bytes, was: bytes) -> bool:
        return bool(at.newest(self.c, s, was[at.BRANCH], was[at.UNIT]))

    def _leave(self, t: bytearray, runners: Iterable[int]) -> None:
        """Whoever has nothing in hand goes."""
        for q in runners:
            if self._run(t, q, at.PHASE) == at.READY:
                go_idle(self.c, t, q)

    def _go_on(self, t: bytearray, others: list[int], was: bytes) -> Iterator[bytearray]:
        """Those who stand ready at the step just recorded go on; one who owns a claim keeps it."""
        c = self.c
        b, u, x = was[at.BRANCH], was[at.UNIT], was[at.STEP]
        here = [
            q
            for q in others
            if self._run(t, q, at.PHASE) == at.READY
            and (self._run(t, q, at.BRANCH), self._run(t, q, at.STEP)) == (b, x)
        ]
        owners = [q for q in here if self._run(t, q, at.EPOCH)]
        for q in here:
            if q not in owners:
                go_idle(c, t, q)
        steps = (at.AT_COMMIT, *range(c.first[u], c.first[u + 1]))
        choices = [
            [y for y in steps if at.arrives(c, t, b, u, self._run(t, q, at.EPOCH), at.NONE, y)]
            for q in owners
        ]
        for chosen in product(*choices):
            to = bytearray(t)
            for q, y in zip(owners, chosen, strict=True):
                arrive(c, to, q, b, u, self._run(t, q, at.BASE), y, self._run(t, q, at.EPOCH))
            yield to

    def _make_way(self, t: bytearray, others: list[int], r: int) -> None:
        """One without a claim isn't needed where another one of the crew is, or at a gate that the crew has passed."""
        c = self.c
        if self._run(t, r, at.EPOCH) or self._run(t, r, at.STEP) == at.AT_COMMIT:
            return
        place = (self._run(t, r, at.BRANCH), self._run(t, r, at.UNIT))
        x = self._run(t, r, at.STEP)
        for q in others:
            if self._run(t, q, at.PHASE) == at.IDLE:
                continue
            if (self._run(t, q, at.BRANCH), self._run(t, q, at.UNIT)) != place:
                continue
            if self._run(t, q, at.STEP) == x or (c.kind[x] == at.GATE and self._run(t, q, at.EPOCH)):
                go_idle(c, t, r)
                return

    def _join(
        self, t: bytearray, slots: range, r: int, done: int, anew: bool, was: bytes | None = None
    ) -> Iterator[bytes]:
        """Idle runners arrive at what is available and has nobody: all of it, or what step `done` has made so."""
        c = self.c
        p = at.run_at(c, r)
        run = bytes(t[p : p + at.RUN_WIDTH]) if t[p + at.PHASE] != at.IDLE or was is None else was
        b, u, n = run[at.BRANCH], run[at.UNIT], run[at.BASE]
        idle = [q for q in slots if self._run(t, q, at.PHASE) == at.IDLE]
        if u > c.U or not idle:
            yield bytes(t)
            return
        crew = [q for q in slots if q not in idle and self._run(t, q, at.BRANCH) == b]
        crew = [q for q in crew if self._run(t, q, at.UNIT) == u]
        taken = {self._run(t, q, at.STEP) for q in crew}
        epoch = max((self._run(t, q, at.EPOCH) for q in crew), default=0)
        free: list[tuple[int, int]] = []
        for x in range(c.first[u], c.first[u + 1]):
            if x in taken or (c.kind[x] == at.GATE and (epoch or anew)):
                continue
            if done != at.NONE and not c.after[x * c.stride + done]:
                continue
            if at.available(c, t, b, u, 0, at.NONE, x) or (anew and t[at.ledger_at(c, b, x)]):
                free.append((x, 0))
            elif epoch and at.available(c, t, b, u, epoch, at.NONE, x):
                free.append((x, epoch))
        for chosen in combinations(free, min(len(free), len(idle))):
            to = bytearray(t)
            for q, (x, e) in zip(idle, chosen, strict=False):
                arrive(c, to, q, b, u, n, x, e)
            yield bytes(to)
