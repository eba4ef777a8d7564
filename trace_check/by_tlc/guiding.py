"""The ways of the mirror's explanations, step by step, as guides for ``specs/tla/GuidedTrace.tla``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from pymodel.resume.decoding import decode
from pymodel.resume.fault_names import fault_names
from tlc_runner import FrozenMap, Value
from tlc_runner.values import function
from trace_check.by_tlc.writing import places, tells
from trace_check.checker import broken_at
from trace_check.explained import ALL_CLAUSES, Explained, Node, Way, breaks
from trace_check.matching import Matcher
from trace_check.observations import Thread

__all__ = ["UNMODELLED", "Guide", "GuideStep", "guides_of"]

UNMODELLED = "unmodelled"
"""Stands among the faults used for events taken at their word."""

_ASSERTED = "unmodelled"  # what the search calls a step that nothing explains
_SHOWN, _UNSEEN, _ANSWER, _EXPIRY, _AT_ITS_WORD = "shown", "unseen", "answer", "expiry", "asserted"
_GHOSTS_AND_STORE = ("ckpt", "origin", "declared", "ledger", "status", "world", "own", "computed")
_TWICE = 2

State = Mapping[str, Value]


@dataclass(frozen=True)
class GuideStep:
    """One step.

    Attributes:
        record: what the module is told of it.
        text: what it is, for people.
    """

    record: FrozenMap
    text: str


@dataclass(frozen=True)
class Guide:
    """One way to explain all of a thread.

    Attributes:
        thread: as it was explained, with as many runners as that took.
        steps: in their order; not those at which something only tells how things are.
        faults: that it uses.
        clauses: that break on it, each with the event (from 1) where it does.
        unmodelled: the events that it takes at their word.
    """

    thread: Thread
    steps: tuple[GuideStep, ...]
    faults: tuple[str, ...]
    clauses: tuple[tuple[str, int], ...]
    unmodelled: tuple[int, ...]

    @property
    def is_clean(self) -> bool:
        """It shows that the thread conforms."""
        return not (self.faults or self.clauses or self.unmodelled)


def guides_of(matcher: Matcher, explained: Explained) -> tuple[Guide, ...]:
    """Guides enough for all that a verdict says of a thread; none if the search found no explanation.

    Of a thread that conforms that is one way without any breach.  Else there is one for each set of faults with each
    set of clauses that break, and for each clause one on which it breaks as early as the verdict says.
    """
    goals = [goal for goal in explained.goals if goal in explained.ways]
    clean = [goal for goal in goals if not (goal.faults or goal.unmodelled or goal.broken)]
    chosen: dict[Node, None] = {}
    if clean:
        chosen[clean[0]] = None
    else:
        different: dict[tuple[int, int], Node] = {}
        for goal in sorted(goals, key=lambda g: g.unmodelled):
            different.setdefault((goal.faults, goal.broken), goal)
        chosen.update(dict.fromkeys(different.values()))
        for bit in range(len(ALL_CLAUSES)):
            breaking = [goal for goal in goals if breaks(goal, bit)]
            if breaking:
                earliest = min(breaking, key=lambda g: broken_at(explained.ways[g], matcher.thread, bit))
                chosen[earliest] = None
    return tuple(_guide(matcher, goal, explained.ways[goal]) for goal in chosen)


def _guide(matcher: Matcher, goal: Node, way: Way) -> Guide:
    thread = matcher.thread
    clauses = [
        (clause, broken_at(way, thread, bit)) for bit, clause in enumerate(ALL_CLAUSES) if breaks(goal, bit)
    ]
    steps = tuple(_Steps(matcher).along(way))
    return Guide(thread, steps, tuple(sorted(fault_names(goal.faults))), tuple(clauses), goal.unmodelled)


class _Steps:
    """The steps of ways through one thread, as the module is told of them."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.thread = matcher.thread
        self.places = places(matcher.thread)
        self.number = {actor: i for i, actor in enumerate(matcher.thread.runners, 1)}

    def along(self, way: Way) -> Iterator[GuideStep]:
        """The steps of a way."""
        state: State = decode(self.matcher.c, self.matcher.initial)
        before = Node(0, self.matcher.initial, 0, (), 0)
        for node, name, index in way:
            after: State = decode(self.matcher.c, node.state) if node.state != before.state else state
            if index is not None:
                observation = self.thread.observations[index]
                if name == _ASSERTED or not tells(self.thread, observation):
                    yield from self._expiry(before, name, observation.event.actor, state)
                    yield self._shown(node, name, index, state, after)
            else:
                actor = self._mover(state, after)
                yield from self._expiry(before, name, actor, state)
                yield self._unseen(node, name, actor, state, after)
            state, before = after, node

    def _shown(self, node: Node, name: str, index: int, before: State, after: State) -> GuideStep:
        observation = self.thread.observations[index]
        actor = observation.event.actor if observation.event.actor in self.number else None
        text = f"event {observation.position}, {observation.kind} of {observation.event.actor}"
        if name == _ASSERTED:
            more = {"before": _durable(before), "after": _whole(after)}
            return self._step(_AT_ITS_WORD, node, text, seen=self.places[index], more=more)
        stands = self._stands(actor, after)
        if stands and stands[0] == "idle":  # one that does nothing more is kept as if it had gone
            stands = ()
        return self._step(_SHOWN, node, text, seen=self.places[index], actor=actor, stands=stands)

    def _unseen(self, node: Node, name: str, actor: str | None, before: State, after: State) -> GuideStep:
        text = f"{name}, unseen" + (f", of {actor}" if actor else "")
        kind = _ANSWER if actor is None and before["gate"] != after["gate"] else _UNSEEN
        return self._step(kind, node, text, actor=actor, stands=self._stands(actor, after))

    def _expiry(self, node: Node, name: str, actor: str | None, before: State) -> Iterator[GuideStep]:
        """The end of the lease that an actor takes over, which the mirror has in one step with that.

        `node` is the place before, as the lease's end uses and breaks nothing.
        """
        if name != "TakeOver" or actor is None:
            return
        gates = _rows(before["gate"])
        for r in self.thread.runners[actor]:
            run = _runs(before)[r - 1]
            gate = gates[cast(int, run["branch"]) - 1].get(run["step"]) if run["phase"] == "ready" else None
            if gate is not None and gate["status"] == "claimed" and not gate["expired"]:
                yield self._step(_EXPIRY, node, f"the end of the lease that {actor} takes over, unseen")
                return

    def _mover(self, before: State, after: State) -> str | None:
        """Whose runners an unseen step moves; None: nobody's.  The age of a claim is no place."""
        old, new = (_runs(state) for state in (before, after))
        for actor, crew in self.thread.runners.items():
            if any(_place(old[r - 1]) != _place(new[r - 1]) for r in crew):
                return actor
        return None

    def _stands(self, actor: str | None, after: State) -> tuple[Value, ...]:
        """Where an actor's only runner is then."""
        if actor is None or len(self.thread.runners[actor]) != 1:
            return ()
        run = _runs(after)[self.thread.runners[actor][0] - 1]
        return (run["phase"], run["branch"], run["step"])

    def _step(
        self,
        kind: str,
        node: Node,
        text: str,
        *,
        seen: int = 0,
        actor: str | None = None,
        stands: tuple[Value, ...] = (),
        more: Mapping[str, Value] | None = None,
    ) -> GuideStep:
        used = {*fault_names(node.faults), *([UNMODELLED] if node.unmodelled else [])}
        broken = {clause for bit, clause in enumerate(ALL_CLAUSES) if breaks(node, bit)}
        fields: dict[str, Value] = {
            "kind": kind,
            "seen": seen,
            "actor": self.number[actor] if actor is not None else 0,
            "stands": stands,
            "used": frozenset[Value](used),
            "broken": frozenset[Value](broken),
        }
        return GuideStep(FrozenMap(fields | dict(more or {})), text)


def _runs(state: State) -> tuple[FrozenMap, ...]:
    return cast("tuple[FrozenMap, ...]", state["run"])


def _place(run: FrozenMap) -> tuple[Value, ...]:
    return tuple(run[name] for name in ("phase", "branch", "unit", "step", "out"))


def _rows(gates: Value) -> list[Mapping[Value, FrozenMap]]:
    """The gates of each branch by their steps: TLA+ has a function on 1 .. n as a sequence."""
    rows = cast("tuple[Value, ...]", gates)
    return [
        {i: cast(FrozenMap, one) for i, one in enumerate(row, 1)}
        if isinstance(row, tuple)
        else cast("Mapping[Value, FrozenMap]", row)
        for row in rows
    ]


def _durable(state: State) -> FrozenMap:
    """What outlives every process, and the history: counts and epochs as far as ``GateView`` tells them apart."""
    gates = tuple(
        function(
            {
                g: FrozenMap(
                    {
                        **one,
                        "epoch": min(1, cast(int, one["epoch"])),
                        "claims": min(_TWICE, cast(int, one["claims"])),
                    }
                )
                for g, one in row.items()
            }
        )
        for row in _rows(state["gate"])
    )
    return FrozenMap({name: state[name] for name in _GHOSTS_AND_STORE} | {"gate": gates})


def _whole(state: State) -> FrozenMap:
    return FrozenMap({name: state[name] for name in (*_GHOSTS_AND_STORE, "gate", "run")})
