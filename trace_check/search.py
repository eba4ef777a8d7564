"""The search for explanations: one 0-1 search over ⟨what is explained, state, faults used⟩.

A step of the reference costs nothing, a fault costs one the first time that a behaviour uses it.  Of the faults used
on the way to the same place only the smallest sets are kept.  Where no set of faults leads on, the observation's own
assertion is taken for the state, which counts as `unmodelled` there.

Not every place is looked at.  What only asserts something is seen to as soon as it is true, equal operations that
nobody in particular did are taken in the order of their intervals, and places from which no set of faults leads to
the end are put aside until it is clear that something is unmodelled.  None of this changes what is found.
"""

from __future__ import annotations

from collections.abc import Collection
from heapq import heappop, heappush

from pymodel.resume import reading as at
from pymodel.resume.clauses import CLAUSES
from pymodel.resume.faults import CHECK_THEN_CLAIM, FORK_NONDETERMINISM, ClaimChecking, ParkInheriting
from trace_check.actors import Actors
from trace_check.bits import bits_of
from trace_check.events import (
    Answer,
    Completed,
    Computed,
    Crashed,
    EffectFired,
    Failed,
    GatePassed,
    Loaded,
    Refused,
    StoreRead,
)
from trace_check.explained import ALL_CLAUSES, ASSERTED, CO_C, Explained, Node, Way, breaks
from trace_check.matching import REMEMBERED, Move
from trace_check.observations import Observation
from trace_check.order import Order
from trace_check.steps import Steps
from trace_check.symmetry import Loosened

__all__ = ["Search"]

_LV = 1 << len(CLAUSES)
_EO = 1 << CLAUSES.index("EO")
_FD = 1 << CLAUSES.index("FD")
_READ = ClaimChecking.__name__
_INHERITED = ParkInheriting.__name__
_INDIFFERENT = (Loaded, Computed, EffectFired, GatePassed, Answer, StoreRead, Completed)
_FORCED_AT_ONCE = 20  # candidates that are forced over an event that nothing explains
_WAYS = 50
_PATIENCE = 100  # places that are looked at before an event is taken for one that nothing explains
_FAULTLESS = 300  # places that are looked at to see how far the reference gets


class Search:
    """One search.

    Args:
        steps: the steps there are.
        observations: in the order of their intervals.
        only: look only for an explanation by these faults, and stop at the first (by none, at the first in which no
            clause breaks); None: for all the cheapest.
        hasty: look at unseen steps only of those of whom something is shown next, which may miss an explanation.
        eager: whoever is shown to pass a gate reads it before somebody claims it, and whoever has read it claims it
            as soon as somebody else has, which may miss one, too.
        below: look only for explanations by fewer faults than so many, and for none with anything unmodelled.
        loosened: the observations are these, and their twins interchangeable; then nothing is unmodelled.
        refuted: sets of faults of which it is known that they explain nothing.
        avoiding: look only for explanations in which these clauses, as bits, do not break.
    """

    def __init__(
        self,
        steps: Steps,
        observations: list[Observation],
        *,
        only: int | None = None,
        hasty: bool = False,
        eager: bool = False,
        below: int | None = None,
        loosened: Loosened | None = None,
        refuted: Collection[int] = (),
        avoiding: int = 0,
    ) -> None:
        self.steps = steps
        self.matcher = steps.matcher
        self.observations = observations
        self.only = only
        self.hasty = hasty
        self.eager = eager
        self.below = below
        self.loosened = loosened
        self.refuted = refuted
        self.avoiding = avoiding
        self.wanted = sum(1 << i for i, o in enumerate(observations) if not o.pending)
        # A gate is read unseen only where it is claimed next: to read it earlier makes no difference to anybody.  This
        # bit of what is explained says that somebody has just read one.
        self.reading = 1 << len(observations)
        c = self.matcher.c
        self.gates = [
            (at.gate_at(c, b, g), at.branch_at(c, b) + at.STATUS)
            for b in range(1, c.B + 1)
            for g in c.gate_in
            if g
        ]
        self.found = Explained()
        self.parents: dict[Node, tuple[Node, str, int | None] | None] = {}
        self.kept: dict[tuple[int, bytes], list[Node]] = {}
        # The places that explain most.
        self.most = -1
        self.best: list[Node] = []
        self.queue: list[tuple[int, int, int, int, Node]] = []
        self.aside: list[tuple[int, int, int, int, Node]] = []
        # The places without a fault, until it is seen how far they get.
        self.clean: list[tuple[int, int, int, Node]] = []
        self.expanded_clean: set[Node] = set()
        self.hopeful = True  # hopeless places are still put aside
        self.limit: int | None = None
        self.unseen = 0  # unseen steps since the last event, of what is being added
        self.seen = steps.seen(loosened)
        self.order = Order(observations, loosened)
        self.actors = Actors(self.matcher, observations, loosened)
        self.crashes = bits_of(observations, Crashed)
        self.answers = bits_of(observations, Answer)
        self.asked_unseen = "answer" not in self.matcher.thread.observes
        self.asserting = sum(1 << i for i, o in enumerate(observations) if _asserts(o))
        self.prospects = steps.prospects(observations, loosened)
        self.again = sum(self.prospects.again)
        self.add(Node(0, self.matcher.initial, 0, (), 0), None)

    # ----------------------------------------------------------------------------------------------------------
    # Places

    def add(self, node: Node, parent: tuple[Node, str, int | None] | None) -> None:
        """Keep a place, unless a smaller set of faults led there too."""
        if node.broken & self.avoiding:
            return
        kept = self.kept.setdefault((node.done, node.state), [])
        more = self.kept.get((node.done & ~self.reading, node.state), []) if node.done & self.reading else []
        for other in (*kept, *more):
            less = other.faults & ~node.faults == 0 and len(other.unmodelled) <= len(node.unmodelled)
            if not less:
                continue
            if (
                other.broken == node.broken
                if other.faults == node.faults
                else not self.is_refuted(other.faults)
            ):
                return
        kept.append(node)
        explained = self.note(node)
        self.parents[node] = parent
        cost = self.least_faults(node) if self.only is None else 0
        # Those that explain most come first, of them those with fewest unseen steps since the last event, then the
        # newest: a trace that conforms is seen to without a look at every order of what overlaps.
        entry = (cost, -explained, self.unseen, -len(self.parents), node)
        heappush(self.aside if self.hopeful and self.is_hopeless(node) else self.queue, entry)
        if not (node.faults or node.unmodelled or self.found.stuck):
            heappush(self.clean, entry[1:])

    def note(self, node: Node) -> int:
        """How many observations a place explains; it may be the furthest so far."""
        explained = (node.done & self.wanted).bit_count()
        if explained > self.most:
            self.most = explained
            self.best = []
        if explained == self.most and node not in self.parents:
            self.best.append(node)
        return explained

    def is_refuted(self, faults: int) -> bool:
        """Is it known that these faults, or no more than some of them, explain nothing?"""
        return any(faults & ~refuted == 0 for refuted in self.refuted)

    def is_hopeless(self, node: Node) -> bool:
        """Is there no way from a place to the end, unless something is unmodelled?"""
        if node.done & self.wanted == self.wanted:
            return False
        if self.only is not None and self.prospects.comes_too_early(node.done, node.state, self.only):
            return True
        if self.only == 0 and self.prospects.is_past(node.done, node.state):
            return True
        return self.prospects.is_hopeless(node.done, node.state)

    def least_faults(self, node: Node) -> int:
        """How many faults it takes at least from the beginning to the end by way of a place."""
        count = node.faults.bit_count()
        if (
            self.hopeful
            and not node.faults & self.again
            and self.prospects.applies_again(node.done, node.state)
        ):
            return count + 1
        return count

    # ----------------------------------------------------------------------------------------------------------
    # Steps

    def expand(self, node: Node, unseen: int) -> None:
        """Add all places one step on."""
        self.found.expanded += 1
        if not (node.faults or node.unmodelled):
            self.expanded_clean.add(node)
        self.unseen = 0
        enabled = self.order.enabled(node.done)
        reading = bool(node.done & self.reading)
        if self.eager and not reading and self.claim_at_once(node):
            return
        unread = self.unread(node) if self.eager else []
        for i in () if reading else enabled:
            if self.asserting >> i & 1 and self.at_once(node, i):
                return
        # Last comes first: so that what is tried first is the earliest event, by the first of its readings.
        takers = {i: self.order.takers(node.done, node.state, i) for i in enabled}
        for i in reversed(enabled):
            for k in takers[i]:
                for move in reversed(self.moves(node, k)):
                    ends = (reading or unread) and self.ends_reading(node.state, move.state)
                    if (ends or not reading) and not (ends and unread):
                        self.step(node, move.state, move.faults, move.name, k)
        self.unseen = unseen + 1
        if unread:
            self.read(node, unread[0])
        for actor in self.may_act(node, [k for i in enabled for k in takers[i]]):
            for move in self.steps.hidden(node.state, actor):
                if unread and (move.name == _READ or self.ends_reading(node.state, move.state)):
                    continue
                if move.name == _READ:
                    if reading or self.prospects.can_be_claimed(node.done, node.state, actor):
                        self.step(node, move.state, move.faults, move.name, None, actor)
                elif not reading or self.ends_reading(node.state, move.state):
                    self.step(node, move.state, move.faults, move.name, None, actor)
        if reading:
            return
        for actor in self.actors.departed(node.done) if self.actors.forks else ():
            for move in self.steps.hidden(node.state, actor):
                if move.name == _INHERITED:
                    self.step(node, move.state, move.faults, move.name, None, actor)
        for move in self.steps.answers(node.state) if self.asked_unseen else ():
            self.step(node, move.state, move.faults, move.name, None)

    def ends_reading(self, before: bytes, after: bytes) -> bool:
        """Can a gate no longer be read that could: is it claimed, or its branch not running any more?"""
        return any(
            before[k] == at.ANSWERED and (after[k] != at.ANSWERED or before[q] != after[q])
            for k, q in self.gates
        )

    def may_act(self, node: Node, enabled: list[int]) -> list[str]:
        """The actors whose unseen steps have to be looked at now, where these observations may come next."""
        events = [self.observations[k].event for k in enabled]
        acting = dict.fromkeys(event.actor for event in events)
        actors = self.actors.live(node.done, node.state, acting if self.hasty else None)
        if self.loosened is not None:
            actors = self.loosened.distinct(node.done, node.state, actors)
        if self.hasty or not all(isinstance(event, _INDIFFERENT) for event in events):
            return actors
        return [
            actor
            for actor in actors
            if actor in acting or not self.actors.can_wait(node.done, node.state, actor)
        ]

    def moves(self, node: Node, i: int) -> tuple[Move, ...]:
        """The steps that an observation may be here."""
        key = node.state, i, node.faults & REMEMBERED
        found = self.seen.get(key)
        if found is None:
            found = self.seen[key] = tuple(
                self.matcher.seen(node.state, self.observations[i], node.faults & REMEMBERED)
            )
        return found

    def at_once(self, node: Node, i: int) -> bool:
        """See to an observation that changes nothing, now or at any other time: no need to look at other orders."""
        moves = self.moves(node, i)
        if len(moves) != 1 or moves[0].state != node.state:
            return False
        if self.answers >> i & 1 and self.crashes & ~node.done and moves[0].name == "repeated Deliver":
            return False  # after a crash the answer may be lost, and this its second delivery
        self.step(node, node.state, moves[0].faults, moves[0].name, i)
        return True

    def claim_at_once(self, node: Node) -> bool:
        """Let somebody claim who has read a gate that is claimed by now, and isn't shown to pass it later."""
        for actor, p in self.actors.lone:
            if node.state[p + at.PHASE] != at.CHECKED or not self.actors.live(node.done, node.state, [actor]):
                continue
            if self.prospects.must_pass(actor, node.state, node.done):
                continue
            gate = at.gate_at(self.matcher.c, node.state[p + at.BRANCH], node.state[p + at.STEP])
            if node.state[gate + at.GATE_STATUS] > at.ANSWERED:
                self.unseen = 0
                for move in self.steps.hidden(node.state, actor):
                    self.step(node, move.state, move.faults, move.name, None, actor)
                    return True
        return False

    def unread(self, node: Node) -> list[str]:
        """Who stands at a gate that can be read, and is shown to pass it: they read it before somebody claims it."""
        if self.only is None or not self.only & CHECK_THEN_CLAIM:
            return []
        found = []
        reads: dict[bytes, bool] = {}  # whoever stands alike can read it or can't
        for actor, p in self.actors.alone.items():
            if node.state[p + at.PHASE] != at.READY:
                continue
            run = node.state[p : p + at.RUN_WIDTH]
            if self.matcher.c.kind[run[at.STEP]] != at.GATE:
                continue
            if self.prospects.must_pass(actor, node.state, node.done):
                if run not in reads:
                    reads[run] = any(move.name == _READ for move in self.steps.hidden(node.state, actor))
                if reads[run]:
                    found.append(actor)
        return found

    def read(self, node: Node, actor: str) -> None:
        """Let an actor read the gate at which it stands."""
        for move in self.steps.hidden(node.state, actor):
            if move.name == _READ:
                self.step(node, move.state, move.faults, move.name, None, actor)

    def step(
        self, node: Node, state: bytes, faults: int, name: str, i: int | None, actor: str | None = None
    ) -> None:
        """Add the place that a step leads to: observation i, or what an actor (None: somebody) does unseen."""
        if self.only is not None and faults & ~self.only:
            return
        broken = node.broken | self.steps.broken(state) & ~(node.broken >> ASSERTED)
        if broken & ~node.broken & _FD and not faults:
            # The code of an effect isn't known: two branches that answer it differently show that a fork deviated.
            faults = FORK_NONDETERMINISM
        faults |= node.faults
        if self.only is not None and faults & ~self.only:
            return
        done = node.done & ~self.reading
        if name == _READ and i is None:
            done |= self.reading
        if i is not None:
            done |= 1 << i
            if self.matcher.starves(state, self.observations[i], anybody=self.loosened is not None):
                broken |= _LV
            actor = self.observations[i].event.actor
            state = self.actors.retired(done, state, actor)
        if actor is not None and (beyond := self.gone_on(done, state, actor)) is not None:
            between = Node(done, state, faults, node.unmodelled, broken)
            self.note(between)
            self.parents.setdefault(between, (node, name, i))
            node, state, name, i = between, beyond, "Record", None
        if self.loosened is not None:
            done, state = self.loosened.ordered(done, state, actor)
        self.add(Node(done, state, faults, node.unmodelled, broken), (node, name, i))

    def gone_on(self, done: int, state: bytes, actor: str) -> bytes | None:
        """Where an actor goes unseen that has just passed a gate, if the trace shows that it must have gone there.

        It has one way from the gate, and what is shown of it at the step there is still to come: so it recorded the gate
        while that step wasn't recorded yet, and at once is as good as later.
        """
        p = self.actors.alone.get(actor)
        if p is None or state[p + at.PHASE] != at.HOLDS or self.matcher.c.kind[state[p + at.STEP]] != at.GATE:
            return None
        ways = self.steps.beyond(state, self.matcher.thread.runners[actor][0])
        if len(ways) != 1:
            return None
        x, beyond = ways[0]
        return beyond if self.prospects.must_run(actor, state[p + at.BRANCH], x, done) else None

    def force(self, nodes: list[Node]) -> None:
        """Take what the next observation asserts for the state."""
        self.unseen = 0
        for node in nodes[:_FORCED_AT_ONCE]:
            i = min(self.order.enabled(node.done), key=lambda k: self.observations[k].high)
            observation = self.observations[i]
            state = self.matcher.forced(node.state, observation)
            # What breaks in a state that is only asserted is possible, and no more.
            broken = node.broken | (self.steps.broken(state) & ~node.broken) << ASSERTED
            if self.matcher.starves(state, observation):
                broken |= _LV
            unmodelled = (*node.unmodelled, observation.position)
            self.add(
                Node(node.done & ~self.reading | 1 << i, state, node.faults, unmodelled, broken),
                (node, "unmodelled", i),
            )

    # ----------------------------------------------------------------------------------------------------------
    # The search

    def run(self, budget: int) -> bool:
        """Search on.  True: it is finished, and `found` has what there is; False: the budget is used up.

        Args:
            budget: how many places may have been expanded in all.
        """
        found = self.found
        while True:
            while self.queue and (self.limit is None or self.queue[0][0] <= self.limit):
                cost, _, unseen, _, node = self.queue[0]
                if self.below is not None and cost >= self.below:
                    return self.finish()
                if node.done & self.wanted == self.wanted:
                    heappop(self.queue)
                    if self.is_refuted(node.faults):
                        continue
                    found.goals.append(node)
                    self.limit = cost
                    if self.only or not (node.faults or node.unmodelled or node.broken):
                        found.goals = [node]
                        return self.finish()
                    continue
                if found.expanded >= budget:
                    return False
                heappop(self.queue)
                if not self.adds_nothing(node):
                    self.expand(node, unseen)
            if found.goals:
                fewest = min((len(n.unmodelled), n.faults.bit_count()) for n in found.goals)
                found.goals = [n for n in found.goals if (len(n.unmodelled), n.faults.bit_count()) == fewest]
                return self.finish()
            if self.only is not None or self.below is not None or self.loosened is not None:
                return self.finish()
            if not found.stuck:
                self.look_further(budget)
            if self.aside:
                self.hopeful = False
                for entry in self.aside:
                    heappush(self.queue, entry)
                self.aside = []
                continue
            self.force(self.furthest(faultless=False))

    def run_greedily(self, budget: int, most: int | None = None) -> bool:
        """Take what nothing explains for true as it comes, and the first way to the end; see `run`.

        For a thread of which it is known that no faults explain it.

        Args:
            budget: how many places may have been expanded in all.
            most: how many observations may turn out to be unmodelled; then it is given up as if the budget were used up.
        """
        found = self.found
        since = 0
        while found.expanded < budget:
            if not self.queue or found.expanded - since >= _PATIENCE:
                self.hopeful = False
                self.queue.clear()
                self.force(self.furthest(faultless=False))
                since = found.expanded
            _, _, unseen, _, node = heappop(self.queue)
            if most is not None and len(node.unmodelled) > most:
                return False
            if node.done & self.wanted == self.wanted:
                found.goals = [node]
                return self.finish()
            self.expand(node, unseen)
        return False

    def adds_nothing(self, node: Node) -> bool:
        """Is all that it leads to no better than what was found?

        Of loosened observations it matters which faults explain them and which clauses break in any case, and no more.
        """
        if self.loosened is None or not self.found.goals:
            return False
        faults, broken = [node.faults], node.broken
        if node.faults & CHECK_THEN_CLAIM:
            broken |= CO_C  # whether it can do without is looked at later: `explaining` asks for that
        if self.prospects.applies_again(node.done, node.state):
            broken |= _EO
            if not node.faults & self.again:
                faults = [node.faults | one for one in self.prospects.again]
        return all(
            any(goal.faults & ~some == 0 and goal.broken & ~broken == 0 for goal in self.found.goals)
            for some in faults
        )

    def finish(self) -> bool:
        """Write down what is to be known of a search that is over."""
        goals = self.found.goals
        if goals and not self.found.stuck and (goals[0].faults or goals[0].broken):
            self.look_further(self.found.expanded + _FAULTLESS)
        chosen = goals[:_WAYS]
        for bit in range(len(ALL_CLAUSES)):
            chosen += [goal for goal in goals if breaks(goal, bit)][:_WAYS]
        self.found.ways = {goal: self.way(goal) for goal in chosen}
        return True

    def look_further(self, budget: int) -> None:
        """See how far the reference gets, be there hope that it gets to the end or not."""
        if not self.only and self.loosened is None:
            last = min(budget, self.found.expanded + _FAULTLESS)
            while self.clean and self.found.expanded < last:
                _, unseen, _, node = heappop(self.clean)
                if node not in self.expanded_clean:
                    self.expand(node, unseen)
        self.found.stuck = self.furthest(faultless=True)

    def furthest(self, faultless: bool) -> list[Node]:
        """The places that explain most observations (of those without any fault)."""
        best = self.best
        if faultless:
            nodes = [n for n in self.parents if not (n.faults or n.unmodelled)]
            most = max((n.done & self.wanted).bit_count() for n in nodes)
            best = [n for n in nodes if (n.done & self.wanted).bit_count() == most]
        return sorted(best, key=lambda n: (n.faults.bit_count(), len(n.unmodelled), n.done, n.state))

    def way(self, node: Node) -> Way:
        """The steps that lead to a place."""
        steps = []
        while (parent := self.parents[node]) is not None:
            before, name, index = parent
            steps.append((node, name, index))
            node = before
        return steps[::-1]


def _asserts(observation: Observation) -> bool:
    """Is it one that may change nothing, and then never does?"""
    event = observation.event
    if isinstance(event, Refused):
        return event.what in ("load", "delivery")
    return isinstance(event, StoreRead | Completed | Failed) or (
        isinstance(event, Answer) and not observation.pending
    )
