"""The program of a trace whose header says "dynamic": learned from a thread's events, names made those of instances.

The units of a thread are its *route*: what is sealed first, second, and so on.  A node that a loop visits again is
another unit there, and its steps are other steps (`call`, `call#2`).  The route follows what the checkpoints themselves
declare to come `next`; what a process does belongs to the place of the route at which it is by its loads and its
commits.  What comes of it is an ordinary program and ordinary events, so that the mirror judges a dynamic trace like
any other: a unit that is sealed where another one was declared is a unit of its place all the same, and what it skipped
or repeated is missing or doubled in the branch.

``docs/verdicts.md`` says what is learned and what can't be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from pymodel.resume.program import Program, Step
from trace_check.errors import TraceError
from trace_check.events import (
    ROOT_BRANCH,
    Answer,
    AnyEvent,
    CheckpointRead,
    Committed,
    Computed,
    EffectFired,
    Forked,
    GatePassed,
    Loaded,
    MemoUsed,
    Parked,
    Recorded,
    Refused,
    StoreRead,
)

__all__ = ["NEEDED", "Learned", "learn"]

NEEDED = ("loaded", "committed", "computed", "effect_fired", "parked")
"""Kinds that a trace has to promise if its program is to be learned: without them a place or a kind is a guess."""

_STEPS_AT_MOST = 250
_RUNS = (Computed, EffectFired, Recorded, MemoUsed)
_AT_GATES = (Parked, GatePassed)
_ARRIVALS = (Loaded, Recorded, MemoUsed, Committed, GatePassed, Refused)


@dataclass(frozen=True)
class Learned:
    """What a thread's events say of its program.

    Attributes:
        program: the units in the order of the route, with the steps of each.
        units: the number of each unit, from 1; one that is sealed against all declarations is one more than there are.
        unpromised: steps that are known by name only; of what they did nothing was promised to be shown.
        events: the thread's events by their place in the trace, in the names of the program.
    """

    program: Program
    units: dict[str, int]
    unpromised: frozenset[str]
    events: dict[int, AnyEvent]


def learn(
    path: Path, thread: str, observes: frozenset[str], events: Mapping[int, AnyEvent], lines: list[int]
) -> Learned:
    """Learn a thread's program.

    Args:
        path: the trace, for messages.
        thread: the thread's name.
        observes: the kinds that the trace promises.
        events: its events by their place in the trace, in the order of the file.
        lines: the line of each event of the trace.

    Raises:
        TraceError: a kind in `NEEDED` is not promised; or no one program has all of this: a step of two kinds, a unit
            with two gates, branches that take different ways, more steps than a program may have.
    """
    missing = [kind for kind in NEEDED if kind not in observes]
    if missing:
        raise TraceError(
            path,
            1,
            f"the program is dynamic, and 'observes' does not promise {', '.join(missing)}",
            "record these too, or give the units and steps in the header",
        )
    return _Learner(path, thread, observes, events, lines).learned()


@dataclass
class _Unit:
    """A place of the route.

    Attributes:
        name: of the unit sealed there, None as long as nothing says.
        steps: base names of its steps, in the order in which they were first seen.
        shown: those of them that some event shows being done, not just names.
    """

    name: str | None = None
    steps: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)

    def has(self, steps: Iterable[str], shown: bool) -> None:
        for step in steps:
            if step not in self.steps:
                self.steps.append(step)
            if shown:
                self.shown.add(step)


@dataclass
class _Branch:
    """What is known of a branch.

    Attributes:
        line: the places of the route that its checkpoints seal.
        due: for each place of the route that is sealed, the names declared to come and not sealed since.
        parked: for each gate, by its base name, the events at which it was come to, each with the place.
    """

    line: list[int] = field(default_factory=list)
    due: dict[int, frozenset[str]] = field(default_factory=dict)
    parked: dict[str, list[tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Doing:
    """A step that was run, or a record of it.

    Attributes:
        actor, branch: whose, and where.
        turn: how often the actor had loaded by then.
        at: the event.
        since: the event after which the actor came to the step, at the earliest.
    """

    actor: str
    branch: str
    turn: int
    at: int
    since: int


@dataclass
class _Answered:
    """An answer, or a refused delivery: about which gate, from which event to which."""

    branch: str
    gate: str
    delivery: str | None
    begin: int
    end: float


class _Learner:
    def __init__(
        self,
        path: Path,
        thread: str,
        observes: frozenset[str],
        events: Mapping[int, AnyEvent],
        lines: list[int],
    ) -> None:
        self.path, self.thread, self.observes = path, thread, observes
        self.events, self.lines = events, lines
        self.route: list[_Unit] = []
        self.branches: dict[str, _Branch] = {ROOT_BRANCH: _Branch()}
        self.sealed_by: dict[str, int] = {}  # checkpoint -> place of the route
        self.at: dict[tuple[str, str], int] = {}  # actor and branch -> the place it is at
        self.turns: dict[str, int] = {}  # actor -> how often it has loaded
        self.kinds: dict[str, str] = {}  # base name of a step -> kind
        self.members: dict[str, list[str]] = {}  # unit -> base names of its steps, by what was sealed
        self.places: dict[int, int] = {}  # event -> the place of the route that it is about
        self.read_places: dict[int, list[int]] = {}  # store_read -> the places of its checkpoints
        self.answers: list[_Answered] = []
        self.begun: dict[str, int] = {}  # operation -> event of its begin
        self.last: dict[str, int] = {}  # actor -> its last event
        self.came: dict[str, int] = {}  # actor -> the event after which it came to where it is
        self.runs: dict[tuple[int, str], list[_Doing]] = {}
        self.records: dict[tuple[int, str], list[_Doing]] = {}
        self.aliens: set[str] = set()

    def error(self, at: int, what: str, mend: str) -> TraceError:
        return TraceError(self.path, self.lines[at], f"{what} (thread {self.thread!r})", mend)

    def learned(self) -> Learned:
        for at, event in self.events.items():
            self.learn_names(at, event)
        for at, event in self.events.items():
            self.follow(at, event)
            if isinstance(event, _ARRIVALS) and event.phase != "begin":
                began = self.begun.get(event.op) if event.op is not None else self.last.get(event.actor)
                self.came[event.actor] = -1 if began is None else began
            self.last[event.actor] = at
        self.place_answers()
        for branch in self.branches.values():
            self.append_due(branch)
        if not self.route:
            self.route.append(_Unit())
        return self.result()

    # ----------------------------------------------------------------------------------------------------------
    # Names: the kinds of steps, and which unit they are of

    def learn_names(self, at: int, event: AnyEvent) -> None:
        match event:
            case Computed(step=step):
                self.is_of_kind(at, step, "pure")
            case EffectFired(step=step):
                self.is_of_kind(at, step, "effect")
            case Parked(gate=gate) | Answer(gate=gate) | GatePassed(gate=gate):
                self.is_of_kind(at, gate, "gate")
            case Refused(gate=str(gate)):
                self.is_of_kind(at, gate, "gate")
            case Committed():
                self.has_members(event.unit, [*event.steps, *event.outcomes])
            case StoreRead():
                for gate in [*event.answers, *event.open_interrupts]:
                    self.is_of_kind(at, gate, "gate")
                for checkpoint in event.checkpoints:
                    if checkpoint.unit is not None:
                        self.has_members(checkpoint.unit, checkpoint.outcomes)
            case _:
                pass

    def is_of_kind(self, at: int, step: str, kind: str) -> None:
        known = self.kinds.setdefault(step, kind)
        if known != kind:
            raise self.error(
                at,
                f"step {step!r} is a {known} step in one event and a {kind} step in another",
                "give different steps different names",
            )

    def has_members(self, unit: str, steps: Iterable[str]) -> None:
        members = self.members.setdefault(unit, [])
        members += [step for step in dict.fromkeys(steps) if step not in members]

    # ----------------------------------------------------------------------------------------------------------
    # The route

    def follow(self, at: int, event: AnyEvent) -> None:
        """Find the place of an event, and make the route longer if it is the first that is seen of a place."""
        if event.op is not None and event.phase == "end":
            begin = self.begun.get(event.op)
            answer = next((one for one in self.answers if one.begin == begin), None)
            if answer is not None:
                answer.end = at
                return
            if begin is not None and begin in self.places and not isinstance(event, Loaded):
                self.places[at] = self.places[begin]
                self.note(at, event)
                return
        elif event.op is not None:
            self.begun[event.op] = at
        match event:
            case Loaded() if event.phase != "begin":
                self.loaded(event)
            case Forked():
                self.forked(event)
            case Committed():
                self.committed(at, event)
            case StoreRead():
                self.read(at, event)
            case Computed(step=step) | EffectFired(step=step) | Recorded(step=step) | MemoUsed(step=step):
                self.done(at, event, step)
            case Parked(gate=gate) | GatePassed(gate=gate):
                self.done(at, event, gate)
            case Answer():
                end = at if event.phase is None else math.inf
                self.answers.append(_Answered(event.branch, event.gate, event.delivery, at, end))
            case Refused():
                self.refused(at, event)
            case _:
                pass
        self.note(at, event)

    def note(self, at: int, event: AnyEvent) -> None:
        """Keep what the order of steps is learned from: runs at their only line, records at their first and last."""
        if at not in self.places:
            return
        place, turn = self.places[at], self.turns.get(event.actor, 0)
        doing = _Doing(event.actor, event.branch, turn, at, self.came.get(event.actor, -1))
        if isinstance(event, Computed | EffectFired):
            self.runs.setdefault((place, event.step), []).append(doing)
        elif isinstance(event, _AT_GATES) and event.phase != "end":
            self.runs.setdefault((place, event.gate), []).append(doing)
        elif isinstance(event, MemoUsed):
            self.runs.setdefault((place, event.step), []).append(doing)
        elif isinstance(event, Refused) and event.what == "gate" and event.gate is not None:
            self.runs.setdefault((place, event.gate), []).append(doing)
        if isinstance(event, Recorded) and event.phase != "begin":
            self.records.setdefault((place, event.step), []).append(doing)
        elif isinstance(event, GatePassed) and event.phase != "begin":
            self.records.setdefault((place, event.gate), []).append(doing)

    def branch(self, name: str) -> _Branch:
        return self.branches.setdefault(name, _Branch())

    def loaded(self, event: Loaded) -> None:
        self.turns[event.actor] = self.turns.get(event.actor, 0) + 1
        line = self.branch(event.branch).line
        index = 0 if event.index is msgspec.UNSET else int(event.index)
        sealed = self.sealed_by.get(event.checkpoint) if isinstance(event.checkpoint, str) else None
        if sealed is None:
            distinct = list(dict.fromkeys(line))
            kept = line if len(line) <= index else distinct if len(distinct) >= index else line
            sealed = kept[index - 1] if 0 < index <= len(kept) else index - 1
        self.at[event.actor, event.branch] = (sealed if index else -1) + 1

    def forked(self, event: Forked) -> None:
        if event.phase == "begin" or event.child in self.branches:
            return
        parent = self.branch(event.branch)
        child = self.branches[event.child] = _Branch(list(dict.fromkeys(parent.line))[: event.index])
        child.due = {place: due for place, due in parent.due.items() if place in child.line}

    def here(self, actor: str, branch: str) -> int:
        """The place that an actor is at: by its own loads and commits, or else what comes after all that is sealed."""
        found = self.at.get((actor, branch))
        if found is None:
            line = self.branch(branch).line
            found = line[-1] + 1 if line else 0
        return found

    def unit(self, place: int) -> _Unit:
        while len(self.route) <= place:
            self.route.append(_Unit())
        return self.route[place]

    def due(self, branch: str, place: int) -> frozenset[str] | None:
        """What was declared to come at a place; None: nothing was sealed before it, so nothing was declared."""
        return self.branch(branch).due.get(place - 1)

    def declares(self, due: frozenset[str], unit: str) -> bool:
        """Is a unit among what is due: by its name, or by the names of all its steps?"""
        members = self.members.get(unit, [])
        return unit in due or (bool(members) and due.issuperset(members))

    def committed(self, at: int, event: Committed) -> None:
        place = self.place_of_unit(at, event.branch, event.unit, self.here(event.actor, event.branch))
        if place is not None:
            self.unit(place).has([*event.steps, *event.outcomes], False)
            self.places[at] = place
            self.at[event.actor, event.branch] = place + 1
        self.seal(event.branch, place, event.unit, event.next)
        if place is not None:
            self.sealed_by[event.checkpoint] = place

    def seal(self, branch: str, place: int | None, unit: str, following: Iterable[str]) -> None:
        if place is None:
            return
        known = self.branch(branch)
        known.line.append(place)
        before = known.due.get(place - 1, frozenset())
        members = self.members.get(unit, [])
        known.due[place] = (before - {unit, *members}) | frozenset(following)

    def place_of_unit(self, at: int, branch: str, unit: str, place: int) -> int | None:
        """Where a unit that is sealed belongs on the route; None: it was declared nowhere, and another one is there."""
        due = self.due(branch, place)
        declared = due is None or self.declares(due, unit)
        if place < len(self.route) and self.route[place].name == unit:
            return place
        free = place >= len(self.route) or self.route[place].name is None
        if declared and free:
            self.unit(place).name = unit
            return place
        if declared and due is not None:
            later = self.among(unit, place)
            raise self.error(
                at,
                f"unit {unit!r} is sealed where another branch or process goes on with {self.route[place].name!r}"
                + (" first" if later is not None else ""),
                "branches that take different ways have no one program: record each way as a thread of its own",
            )
        earlier = [p for p in range(min(place, len(self.route))) if self.route[p].name == unit]
        if earlier:
            return earlier[-1]  # it was not declared again: sealed twice
        later = self.among(unit, place)
        if later is not None:
            return later  # what comes between is skipped
        if free:
            self.name_due(branch, place)
            place = max(place, len(self.route))
            self.unit(place).name = unit
            return place
        self.aliens.add(unit)
        return None

    def among(self, unit: str, place: int) -> int | None:
        """The next place from here on where a unit of this name is."""
        return next((p for p in range(place, len(self.route)) if self.route[p].name == unit), None)

    def name_due(self, branch: str, place: int) -> None:
        """What was declared to come here and isn't sealed yet takes its places."""
        due = self.due(branch, place) or frozenset()
        names = {unit.name for unit in self.route[place:]}
        for name in sorted(due - names):
            while place < len(self.route) and self.route[place].name is not None:
                place += 1
            self.unit(place).name = name
            place += 1

    def append_due(self, branch: _Branch) -> None:
        """What the newest checkpoint of a branch declares is a part of the program, also if the trace ends before it."""
        if not branch.line:
            return
        newest = max(branch.line)
        if newest + 1 < len(self.route) and self.route[newest + 1].name is not None:
            return
        for place, name in enumerate(sorted(branch.due.get(newest, ())), newest + 1):
            unit = self.unit(place)
            if unit.name is None:
                unit.name = name

    def read(self, at: int, event: StoreRead) -> None:
        """A reading shows the line itself: where it has checkpoints that nobody was seen to seal, they are learned."""
        known = self.branch(event.branch)
        places: list[int] = []
        for checkpoint in event.checkpoints:
            place = self.sealed_by.get(checkpoint.id)
            if place is None and checkpoint.unit is not None:
                after = places[-1] + 1 if places else 0
                place = self.place_read(at, event.branch, checkpoint, after, len(places))
            if place is None:
                place = (places[-1] + 1) if places else 0
                if checkpoint.unit is None:
                    self.unit(place)
            elif checkpoint.unit is not None:
                self.unit(place).has(checkpoint.outcomes, False)
            places.append(place)
        self.read_places[at] = places
        known.line = list(places)

    def place_read(
        self, at: int, branch: str, checkpoint: CheckpointRead, after: int, index: int
    ) -> int | None:
        name = checkpoint.unit or ""
        line = self.branch(branch).line
        if index < len(line) and self.route[line[index]].name == name:
            place: int | None = line[index]
        else:
            place = self.place_of_unit(at, branch, name, after)
            self.seal(branch, place, name, checkpoint.next)
        if place is not None:
            self.sealed_by[checkpoint.id] = place
        return place

    # ----------------------------------------------------------------------------------------------------------
    # Steps

    def done(self, at: int, event: AnyEvent, step: str) -> None:
        place = self.place_of_step(event.branch, step, self.here(event.actor, event.branch))
        self.unit(place).has([step], True)
        self.places[at] = place
        if isinstance(event, _AT_GATES):
            self.branch(event.branch).parked.setdefault(step, []).append((at, place))
        if isinstance(event, _RUNS + _AT_GATES) and place > self.here(event.actor, event.branch):
            self.at[event.actor, event.branch] = place  # it has gone on without a commit

    def place_of_step(self, branch: str, step: str, place: int) -> int:
        """The place of a step that is done by somebody who is at a place."""
        if place < len(self.route) and step in self.route[place].steps:
            return place
        units = [unit for unit, members in self.members.items() if step in members]
        if not units:
            # Of no unit that is ever sealed: known from an earlier turn, or of the one that is in the making.
            known = [p for p in range(len(self.route)) if step in self.route[p].steps]
            below = [p for p in known if p < place and self.route[p].name is None]
            return below[-1] if below else place
        if place >= len(self.route) or self.route[place].name is None:
            due = self.due(branch, place)
            if due is None or any(self.declares(due, unit) or unit in due for unit in units):
                return place
            named = [p for p in range(min(place, len(self.route))) if self.route[p].name in units]
            if named:
                return named[-1]
            self.name_due(branch, place)
            return max(place, len(self.route))
        if self.route[place].name in units:
            return place
        later = [p for p in range(place, len(self.route)) if self.route[p].name in units]
        earlier = [p for p in range(place) if self.route[p].name in units]
        if later:
            return later[0]
        return earlier[-1] if earlier else place

    def place_answers(self) -> None:
        """An answer is about the gate that was come to last before it was over, or else the first one after."""
        deliveries: dict[tuple[str, str, str], int] = {}
        for answer in self.answers:
            known = self.branch(answer.branch)
            key = answer.branch, answer.gate, answer.delivery or ""
            place = deliveries.get(key) if answer.delivery is not None else None
            if place is None:
                come = known.parked.get(answer.gate, [])
                before = [where for at, where in come if at < answer.end]
                place = before[-1] if before else come[0][1] if come else None
            if place is None:
                place = next(iter(self.occurrences(answer.gate)), None)
            if place is None:
                place = self.place_of_step(answer.branch, answer.gate, max(known.line, default=-1) + 1)
                self.unit(place).has([answer.gate], True)
            if answer.delivery is not None:
                deliveries[key] = place
            self.places[answer.begin] = place
            if answer.end != math.inf:
                self.places[int(answer.end)] = place

    def refused(self, at: int, event: Refused) -> None:
        if event.what == "delivery" and event.gate is not None:
            self.answers.append(_Answered(event.branch, event.gate, event.delivery, at, at))
            return
        place = self.here(event.actor, event.branch)
        for name, is_gate in ((event.step, False), (event.gate, True)):
            if name is not None:
                place = self.place_of_step(event.branch, name, place)
                self.unit(place).has([name], is_gate)
        self.places[at] = place

    # ----------------------------------------------------------------------------------------------------------
    # The program

    def result(self) -> Learned:
        names = self.instances()
        units: dict[str, int] = {}
        counts: dict[str, int] = {}
        self.unit_names: list[str] = []
        for number, unit in enumerate(self.route, 1):
            base = unit.name or f"unit {number}"
            counts[base] = counts.get(base, 0) + 1
            name = base if counts[base] == 1 else f"{base}#{counts[base]}"
            while name in units:
                name += "'"
            units[name] = number
            self.unit_names.append(name)
        for alien in self.aliens:
            units.setdefault(alien, len(self.route) + 1)
        made = []
        unpromised = set()
        for place, unit in enumerate(self.route):
            steps = []
            for base in unit.steps:
                kind = self.kinds.get(base, "pure")
                after = tuple(
                    names[place, other] for other in unit.steps if self.comes_before(place, other, base)
                )
                steps.append(Step(names[place, base], kind, after))
                if base not in self.kinds:
                    unpromised.add(names[place, base])
            if not unit.steps:
                placeholder = self.unused(f"{self.unit_names[place]}: all", names.values())
                steps.append(Step(placeholder, "pure"))
                unpromised.add(placeholder)
            made.append(tuple(steps))
        self.refuse_two_gates(made)
        program = Program("dynamic", tuple(made))
        if len(program.steps) > _STEPS_AT_MOST or len(made) > _STEPS_AT_MOST:
            raise TraceError(
                self.path,
                self.lines[next(iter(self.events))],
                f"thread {self.thread!r} has {len(program.steps)} steps",
                f"at most {_STEPS_AT_MOST} fit: record shorter runs",
            )
        events = {at: self.renamed(at, event, names) for at, event in self.events.items()}
        return Learned(program, units, frozenset(unpromised), events)

    def instances(self) -> dict[tuple[int, str], str]:
        """The name of each step at each place."""
        counts: dict[str, int] = {}
        used: set[str] = set()
        found = {}
        for place, unit in enumerate(self.route):
            for base in unit.steps:
                counts[base] = counts.get(base, 0) + 1
                name = self.unused(base if counts[base] == 1 else f"{base}#{counts[base]}", used)
                used.add(name)
                found[place, base] = name
        return found

    @staticmethod
    def unused(name: str, used: Iterable[str]) -> str:
        taken = set(used)
        while name in taken:
            name += "'"
        return name

    def refuse_two_gates(self, made: list[tuple[Step, ...]]) -> None:
        for place, steps in enumerate(made):
            gates = [step.name for step in steps if step.kind == "gate"]
            if len(gates) > 1:
                at = next(at for at, where in self.places.items() if where == place)
                raise self.error(
                    at,
                    f"unit {self.unit_names[place]!r} has the gates {' and '.join(gates)}",
                    "a unit has one gate at most: seal what comes before the second",
                )

    def comes_before(self, place: int, first: str, second: str) -> bool:
        """Was the first of two steps always over when the second was run?"""
        runs = self.runs.get((place, second), [])
        if first == second or not runs:
            return False
        return all(self.is_over(place, first, run) for run in runs)

    def is_over(self, place: int, step: str, run: _Doing) -> bool:
        """Had a step been done before an actor came to another: of a gate, by the same actor in the same turn?"""
        begun = self.runs.get((place, step), [])
        gate = self.kinds.get(step) == "gate"
        over = self.records.get((place, step), [])
        if not over and not gate and "recorded" not in self.observes:
            over = begun  # it may have been recorded at once, unseen
        same = [
            one
            for one in over
            if one.branch == run.branch and (not gate or (one.actor, one.turn) == (run.actor, run.turn))
        ]
        return any(one.at < (run.at if one.actor == run.actor else run.since) for one in same) and not any(
            one.at < run.at < self.end_of(place, step, one)
            for one in begun
            if (one.actor, one.turn) == (run.actor, run.turn)
        )

    def end_of(self, place: int, step: str, run: _Doing) -> float:
        """When what was run was recorded, if it is shown to have been."""
        if self.kinds.get(step) == "gate" or (place, step) not in self.records:
            return run.at
        later = [
            one.at
            for one in self.records[place, step]
            if (one.actor, one.turn, one.branch) == (run.actor, run.turn, run.branch) and one.at > run.at
        ]
        return min(later, default=math.inf)

    # ----------------------------------------------------------------------------------------------------------
    # The events in these names

    def renamed(self, at: int, event: AnyEvent, names: Mapping[tuple[int, str], str]) -> AnyEvent:
        place = self.places.get(at)
        replace = msgspec.structs.replace
        if isinstance(event, StoreRead):
            return self.renamed_read(at, event, names)
        if place is None:
            # What was declared nowhere has no steps in the program.
            return replace(event, steps=[], outcomes={}, next=[]) if isinstance(event, Committed) else event

        def name(base: str) -> str:
            return names.get((place, base), base)

        match event:
            case Computed() | EffectFired() | Recorded() | MemoUsed():
                return replace(event, step=name(event.step))
            case Parked() | GatePassed() | Answer():
                return replace(event, gate=name(event.gate))
            case Refused():
                return replace(
                    event,
                    step=name(event.step) if event.step is not None else None,
                    gate=name(event.gate) if event.gate is not None else None,
                    unit=self.unit_names[place] if event.unit == self.route[place].name else event.unit,
                )
            case Committed():
                return replace(
                    event,
                    unit=self.unit_names[place],
                    steps=[name(step) for step in event.steps],
                    outcomes={name(step): value for step, value in event.outcomes.items()},
                    next=[],
                )
            case _:
                return event

    def renamed_read(self, at: int, event: StoreRead, names: Mapping[tuple[int, str], str]) -> StoreRead:
        places = self.read_places[at]
        checkpoints = [
            msgspec.structs.replace(
                checkpoint,
                unit=self.unit_names[place] if self.is_on_route(checkpoint, place) else checkpoint.unit,
                outcomes={names.get((place, s), s): v for s, v in checkpoint.outcomes.items()}
                if self.is_on_route(checkpoint, place)
                else {},
                next=[],
            )
            for checkpoint, place in zip(event.checkpoints, places, strict=True)
        ]
        answers = {}
        waiting = []
        sealed = max(places, default=-1)
        for gate, values in event.answers.items():
            for place in self.occurrences(gate):
                answers[names[place, gate]] = values
        for gate in event.open_interrupts:
            at_all = list(self.occurrences(gate))
            if at_all:
                waiting.append(names[next((p for p in at_all if p > sealed), at_all[-1]), gate])
        return msgspec.structs.replace(
            event, checkpoints=checkpoints, answers=answers, open_interrupts=waiting
        )

    def is_on_route(self, checkpoint: CheckpointRead, place: int) -> bool:
        return checkpoint.unit is not None and self.route[place].name == checkpoint.unit

    def occurrences(self, step: str) -> Iterator[int]:
        return (place for place, unit in enumerate(self.route) if step in unit.steps)
