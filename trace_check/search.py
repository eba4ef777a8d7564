"""The search for explanations: one 0-1 search over ⟨what is explained, state, faults used⟩.

A step of the reference costs nothing, a fault costs one the first time that a behaviour uses it.  Of the faults used
on the way to the same place only the smallest sets are kept.  Where no set of faults leads on, the observation's own
assertion is taken for the state, which counts as `unmodelled` there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from pymodel.resume.clauses import CLAUSES, broken_clauses
from pymodel.resume.faults import FORK_NONDETERMINISM
from trace_check.events import Crashed
from trace_check.matching import Matcher
from trace_check.observations import Observation

__all__ = ["ALL_CLAUSES", "Explained", "Node", "explain"]

ALL_CLAUSES = (*CLAUSES, "LV")
_LV = 1 << len(CLAUSES)
_FD = 1 << CLAUSES.index("FD")
_DURABLE = frozenset({"effect_fired", "recorded", "committed", "parked", "gate_passed"})
_FORCED_AT_ONCE = 20  # candidates that are forced over an event that nothing explains


class Node(NamedTuple):
    """A place in the search: which observations are explained (bits), the state, and what it took."""

    done: int
    state: bytes
    faults: int
    unmodelled: tuple[int, ...]
    broken: int


@dataclass
class Explained:
    """What the search found for one thread.

    Attributes:
        goals: the cheapest places where everything is explained; empty if the budget ran out.
        parents: for each place reached, the place before, the step's name and the observation's index or None.
        stuck: without any fault, the places that explain most.
        expanded: places expanded.
    """

    goals: list[Node] = field(default_factory=list)
    parents: dict[Node, tuple[Node, str, int | None] | None] = field(default_factory=dict)
    stuck: list[Node] = field(default_factory=list)
    expanded: int = 0

    def path(self, node: Node) -> list[tuple[Node, str, int | None]]:
        """The steps that lead to a place: where each leads, its name, its observation's index or None."""
        steps = []
        while (parent := self.parents[node]) is not None:
            before, name, index = parent
            steps.append((node, name, index))
            node = before
        return steps[::-1]


class _Search:
    def __init__(self, matcher: Matcher, observations: list[Observation]) -> None:
        self.matcher = matcher
        self.observations = observations
        self.wanted = sum(1 << i for i, o in enumerate(observations) if not o.pending)
        self.found = Explained()
        self.kept: dict[tuple[int, bytes], list[Node]] = {}
        self.queue: list[tuple[int, int, int, int, Node]] = []
        self.unseen = 0  # unseen steps since the last event, of what is being added
        self.broken: dict[bytes, int] = {}
        self.of_actor: dict[str, int] = {}
        for i, observation in enumerate(observations):
            actor = observation.event.actor
            self.of_actor[actor] = self.of_actor.get(actor, 0) | 1 << i
        # Where a durable kind may go unseen, a process may do such a thing after its last line.
        self.silent = bool(_DURABLE - matcher.thread.observes)
        self.crash = {
            o.event.actor: 1 << i for i, o in enumerate(observations) if isinstance(o.event, Crashed)
        }

    def add(self, node: Node, parent: tuple[Node, str, int | None] | None) -> None:
        """Keep a place, unless a smaller set of faults led there too."""
        kept = self.kept.setdefault((node.done, node.state), [])
        for other in kept:
            less = other.faults & ~node.faults == 0 and len(other.unmodelled) <= len(node.unmodelled)
            if less and (other.faults != node.faults or other.broken == node.broken):
                return
        kept.append(node)
        self.found.parents[node] = parent
        explained = (node.done & self.wanted).bit_count()
        # Those that explain most come first, of them those with fewest unseen steps since the last event, then the
        # newest: a trace that conforms is seen to without a look at every order of what overlaps.
        heappush(
            self.queue, (node.faults.bit_count(), -explained, self.unseen, -len(self.found.parents), node)
        )

    def enabled(self, done: int) -> list[int]:
        """The observations that nothing unexplained precedes."""
        first_end = math.inf
        found = []
        i = (~done & (done + 1)).bit_length() - 1
        while i < len(self.observations):
            observation = self.observations[i]
            if observation.low > first_end:
                break
            if not done >> i & 1:
                found.append(i)
                first_end = min(first_end, observation.high)
            i += 1
        return [
            i for i in found if self.observations[i].low < first_end or self.observations[i].high == first_end
        ]

    def live(self, done: int) -> frozenset[str]:
        """The actors that may do something unseen."""
        return frozenset(
            actor
            for actor, mask in self.of_actor.items()
            if mask & ~done or (self.silent and not self.crash.get(actor, 0))
        )

    def expand(self, node: Node, unseen: int) -> None:
        """Add all places one step on."""
        self.found.expanded += 1
        self.unseen = 0
        # Last comes first: so that what is tried first is the earliest event, by the first of its readings.
        for i in reversed(self.enabled(node.done)):
            for move in reversed(list(self.matcher.seen(node.state, self.observations[i], node.faults))):
                self.step(node, move.state, move.faults, move.name, i)
        self.unseen = unseen + 1
        for move in self.matcher.hidden(node.state, self.live(node.done)):
            if move.state != node.state:
                self.step(node, move.state, move.faults, move.name, None)

    def broken_in(self, state: bytes) -> int:
        """The clauses broken in a state, as bits."""
        bits = self.broken.get(state)
        if bits is None:
            bits = self.broken[state] = broken_clauses(self.matcher.c, state)
        return bits

    def step(self, node: Node, state: bytes, faults: int, name: str, i: int | None) -> None:
        broken = node.broken | self.broken_in(state)
        if broken & ~node.broken & _FD and not faults:
            # The code of an effect isn't known: two branches that answer it differently show that a fork deviated.
            faults = FORK_NONDETERMINISM
        done = node.done
        if i is not None:
            done |= 1 << i
            if self.matcher.starves(state, self.observations[i]):
                broken |= _LV
        self.add(Node(done, state, node.faults | faults, node.unmodelled, broken), (node, name, i))

    def force(self, nodes: list[Node]) -> None:
        """Take what the next observation asserts for the state."""
        self.unseen = 0
        for node in nodes[:_FORCED_AT_ONCE]:
            i = min(self.enabled(node.done), key=lambda k: self.observations[k].high)
            observation = self.observations[i]
            state = self.matcher.forced(node.state, observation)
            broken = node.broken | self.broken_in(state)
            if self.matcher.starves(state, observation):
                broken |= _LV
            unmodelled = (*node.unmodelled, observation.position)
            self.add(
                Node(node.done | 1 << i, state, node.faults, unmodelled, broken), (node, "unmodelled", i)
            )

    def furthest(self, faultless: bool) -> list[Node]:
        """The places that explain most observations (of those without any fault)."""
        nodes = [n for n in self.found.parents if not faultless or not (n.faults or n.unmodelled)]
        most = max((n.done & self.wanted).bit_count() for n in nodes)
        best = [n for n in nodes if (n.done & self.wanted).bit_count() == most]
        return sorted(best, key=lambda n: (n.faults.bit_count(), len(n.unmodelled), n.done, n.state))


def explain(matcher: Matcher, observations: list[Observation], budget: int) -> Explained:
    """The cheapest explanations of a thread's observations.

    Args:
        matcher: the steps.
        observations: in the order of their intervals.
        budget: how many places may be expanded; beyond it there is no answer.
    """
    search = _Search(matcher, observations)
    found = search.found
    search.add(Node(0, matcher.initial, 0, (), 0), None)
    limit: int | None = None
    while True:
        while search.queue and (limit is None or search.queue[0][0] <= limit):
            cost, _, unseen, _, node = heappop(search.queue)
            if cost and not found.stuck:
                found.stuck = search.furthest(faultless=True)
            if node.done & search.wanted == search.wanted:
                found.goals.append(node)
                limit = cost
                if not (node.faults or node.unmodelled or node.broken):
                    found.goals = [node]
                    return found
                continue
            if found.expanded >= budget:
                found.goals.clear()
                return found
            search.expand(node, unseen)
        if not found.stuck:
            found.stuck = search.furthest(faultless=True)
        if found.goals:
            fewest = min((len(n.unmodelled), n.faults.bit_count()) for n in found.goals)
            found.goals = [n for n in found.goals if (len(n.unmodelled), n.faults.bit_count()) == fewest]
            return found
        search.force(search.furthest(faultless=False))
