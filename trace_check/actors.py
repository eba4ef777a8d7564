"""Who may still do something, seen or unseen, and whose unseen steps can wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pymodel.resume import reading as at
from trace_check.bits import bits_of, bits_of_actors
from trace_check.events import Answer, Crashed, Event, Refused, ResumeFailed, ResumeGaveUp
from trace_check.matching import Matcher
from trace_check.observations import Observation
from trace_check.symmetry import Loosened

__all__ = ["Actors"]

_DURABLE = frozenset({"effect_fired", "recorded", "committed", "parked", "gate_passed"})


class Actors:
    """The actors of a thread.  What is explained of it is given as bits.

    Attributes:
        alone: where the runner is in a state, of each actor that has one.
        lone: the same, of those who may do something unseen.
        forks: there are several branches.  That one inherits an answer is never shown, and may come after the last line
            of the process that brings it about.

    Args:
        matcher: the steps of the thread.
        observations: in the order of their intervals.
        loosened: if they are loosened, how.
    """

    def __init__(
        self, matcher: Matcher, observations: Sequence[Observation], loosened: Loosened | None
    ) -> None:
        thread = matcher.thread
        self._matcher = matcher
        self._own = bits_of_actors(observations, Event) | (loosened.kin if loosened else {})
        # Where a durable kind may go unseen, a process may do such a thing after its last line.
        self._silent = bool(_DURABLE - thread.observes)
        self.forks = len(thread.branches) > 1
        self._crashed = {o.event.actor for o in observations if isinstance(o.event, Crashed)}
        workers = matcher.workers()
        self._workers = {
            actor: (mask, self._silent and actor not in self._crashed, workers[actor])
            for actor, mask in self._own.items()
            if actor in workers
        }
        self.alone = {
            actor: at.run_at(matcher.c, crew[0]) for actor, crew in thread.runners.items() if len(crew) == 1
        }
        self.lone = [(actor, self.alone[actor]) for actor in self._workers if actor in self.alone]
        # Of some events it matters whether somebody else is at work, though nothing more be shown of him.
        self._lifelines = any(
            isinstance(o.event, (ResumeFailed, ResumeGaveUp))
            or (isinstance(o.event, Refused) and o.event.what == "load")
            for o in observations
        )
        self._answers = bits_of(observations, Answer)
        self._refusals = bits_of_actors(observations, Refused) if "refused" in thread.observes else None

    def live(self, done: int, state: bytes, among: Iterable[str] | None = None) -> list[str]:
        """The actors, of all or of some, that may do something unseen."""
        left = ~done
        found = []
        workers = self._workers
        if among is not None:
            workers = {actor: workers[actor] for actor in among if actor in workers}
        for actor, (mask, stays, phases) in workers.items():
            if (mask & left or stays) and (
                not phases or state[phases[0]] or any(map(state.__getitem__, phases[1:]))
            ):
                found.append(actor)
        return found

    def departed(self, done: int) -> list[str]:
        """The actors of whom nothing more is shown, and that didn't crash."""
        return [
            actor
            for actor, mask in self._own.items()
            if not (mask & ~done or self._silent or actor in self._crashed)
        ]

    def can_wait(self, done: int, state: bytes, actor: str) -> bool:
        """Has the actor read a gate that it will claim later, and is that claimed already, so that no haste is needed?

        Its claim then changes nothing for the others, and can wait until the actor's next event or until somebody
        records or commits.  It can't where the trace shows that something of the actor was refused: it may have had
        to be early.
        """
        p = self.alone.get(actor)
        if p is None or state[p + at.PHASE] != at.CHECKED:
            return False
        if self._refusals is None or self._refusals.get(actor, 0) & ~done:
            return False
        gate = at.gate_at(self._matcher.c, state[p + at.BRANCH], state[p + at.STEP])
        return int(state[gate + at.GATE_STATUS]) > at.ANSWERED

    def retired(self, done: int, state: bytes, actor: str) -> bytes:
        """The state without what an actor has in hand that does nothing more."""
        if self._silent or self._lifelines or self._own[actor] & ~done:
            return state
        thread = self._matcher.thread
        crew = thread.runners.get(actor, range(0))
        if self.forks and any(at.ready(self._matcher.c, state, r, at.GATE) for r in crew):
            return state
        asked = bool(self._answers & ~done) or "answer" not in thread.observes
        return self._matcher.quotient.retire(state, crew, keep_claims=asked)
