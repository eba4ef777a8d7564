"""The matcher's steps, each worked out once for all searches of a thread."""

from __future__ import annotations

from pymodel.resume.clauses import CLAUSES
from trace_check.broken import Judge
from trace_check.matching import Matcher, Move
from trace_check.observations import Observation
from trace_check.prospects import Prospects
from trace_check.symmetry import Loosened

__all__ = ["Steps"]

_EO = 1 << CLAUSES.index("EO")


class Steps:
    """The matcher's steps, each worked out once: many places share a state, and many searches a place.

    The searches that share it are all of the same observations, as they are or loosened.

    Args:
        matcher: makes them.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self._prospects: dict[bool, Prospects] = {}
        self._seen: dict[bool, dict[tuple[bytes, int, int], tuple[Move, ...]]] = {False: {}, True: {}}
        self._hidden: dict[tuple[bytes, str], tuple[Move, ...]] = {}
        self._answers: dict[bytes, tuple[Move, ...]] = {}
        self._beyond: dict[tuple[bytes, int], list[tuple[int, bytes]]] = {}
        self._judge = Judge(matcher.c)
        self._broken: dict[bytes, int] = {}

    def without_faults(self) -> Steps:
        """Those of the reference alone; all else is shared."""
        other = Steps(self.matcher.without_faults())
        other._prospects = self._prospects
        other._judge, other._broken = self._judge, self._broken
        return other

    def prospects(self, observations: list[Observation], loosened: Loosened | None) -> Prospects:
        """What is still to come, by these observations: those of the thread, or the loosened ones of them."""
        is_loose = loosened is not None
        if is_loose not in self._prospects:
            self._prospects[is_loose] = Prospects(self.matcher, observations, loosened)
        return self._prospects[is_loose]

    def surely_broken(self) -> int:
        """The clauses, as bits, that the trace breaks by what it shows, whatever explains it."""
        matcher = self.matcher
        prospects = self.prospects(matcher.thread.observations, None)
        return _EO if prospects.applies_again(0, matcher.initial) else 0

    def seen(self, loosened: Loosened | None) -> dict[tuple[bytes, int, int], tuple[Move, ...]]:
        """The steps that an observation may be in a state, with faults to remember: as far as anybody has asked."""
        return self._seen[loosened is not None]

    def hidden(self, state: bytes, actor: str) -> tuple[Move, ...]:
        """What an actor may do unseen."""
        moves = self._hidden.get((state, actor))
        if moves is None:
            moves = tuple(m for m in self.matcher.hidden_by(state, actor) if m.state != state)
            self._hidden[state, actor] = moves
        return moves

    def answers(self, state: bytes) -> tuple[Move, ...]:
        """The answers that may be given unseen."""
        moves = self._answers.get(state)
        if moves is None:
            moves = self._answers[state] = tuple(self.matcher.hidden_answers(state))
        return moves

    def beyond(self, state: bytes, r: int) -> list[tuple[int, bytes]]:
        """Where a runner goes that has just passed a gate."""
        moves = self._beyond.get((state, r))
        if moves is None:
            moves = self._beyond[state, r] = self.matcher.beyond_gate(state, r)
        return moves

    def broken(self, state: bytes) -> int:
        """The clauses broken in a state, as bits."""
        bits = self._broken.get(state)
        if bits is None:
            bits = self._broken[state] = self._judge.broken(state)
        return bits
