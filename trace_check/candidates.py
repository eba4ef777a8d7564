"""The states that a system could have been in before the first event that the reference can't explain, in words.

They are a set: each fits all that is shown up to there, and none of them is *the* state.  States that no event tells
apart stand for each other (`trace_check.quotient`), so that there may be more than are listed, never others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pymodel.resume import reading as at
from trace_check.checker import DEFAULT_BUDGET, Unexplained
from trace_check.explaining import explain_thread
from trace_check.matching import Matcher
from trace_check.observations import threads
from trace_check.printing import printable
from trace_check.reader import Trace
from trace_check.stuck import stuck_before

__all__ = ["Candidates", "candidates_before", "state_in_words"]

_STATUSES: Final = ("absent", "running", "failed", "uncertain", "done", "stuck")
_GATES: Final = ("closed", "parked", "answered", "claimed", "consumed")


@dataclass(frozen=True)
class Candidates:
    """The set of states before an event.

    Attributes:
        event: the event's number, from 1.
        states: each in words, a fact a line; states of the same words once.
    """

    event: int
    states: tuple[tuple[str, ...], ...]

    @property
    def common(self) -> tuple[str, ...]:
        """What holds in all of them."""
        first, *others = self.states
        return tuple(fact for fact in first if all(fact in other for other in others))

    def lines(self, most: int = 4) -> list[str]:
        """For people: what all have in common, then what each has besides.

        Args:
            most: how many are listed; how many more there are is said.
        """
        return [printable(line) for line in self._lines(most)]

    def _lines(self, most: int) -> list[str]:
        number = len(self.states)
        if number == 1:
            return [f"the candidate state before event {self.event}:", *_indented(self.common)]
        lines = [f"before event {self.event} there are {number} candidate states; in all of them:"]
        lines += _indented(self.common)
        for count, state in enumerate(self.states[:most], 1):
            own = [fact for fact in state if fact not in self.common]
            lines += [f"  and in candidate {count}:", *_indented(own)]
        if number > most:
            lines.append(f"  and {number - most} more")
        return lines


def candidates_before(trace: Trace, first: Unexplained, *, budget: int = DEFAULT_BUDGET) -> Candidates | None:
    """The candidate states before an event, found by searching its thread again.

    Args:
        trace: what was checked.
        first: the `first_unexplained` of its verdict.
        budget: the one that it was checked with.

    Returns:
        None if the search doesn't get stuck there.

    Raises:
        TraceError, EngineError: as `trace_check.checker.check_trace` does.
    """
    name = trace.events[first.event - 1].thread
    thread = next(thread for thread in threads(trace) if thread.name == name)
    matcher, explained = explain_thread(thread, budget)
    stuck = stuck_before(matcher.thread, explained)
    if stuck is None:
        return None
    index, states = stuck
    words = {tuple(state_in_words(matcher, state)) for state in states}
    return Candidates(thread.observations[index].position, tuple(sorted(words)))


def state_in_words(matcher: Matcher, state: bytes) -> Iterator[str]:
    """The facts of a state of the mirror, by the names that the trace has for things.

    Nothing is said of what is as in the beginning: a closed gate, an effect that wasn't applied.
    """
    names = _Names(matcher)
    for branch, b in matcher.thread.branches.items():
        if state[at.branch_at(matcher.c, b)] != at.ABSENT:
            yield from _branch(matcher, names, state, branch, b)
    doing: dict[str, list[str]] = {}
    resting = []
    for actor, crew in matcher.thread.runners.items():
        working = [r for r in crew if state[at.run_at(matcher.c, r) + at.PHASE] != at.IDLE]
        if not working:
            resting.append(actor)
        for r in working:
            who = actor if len(crew) == 1 else f"{actor} (runner {r - crew[0] + 1} of {len(crew)})"
            doing.setdefault(_runner(matcher, names, state, r), []).append(who)
    for what, actors in [*doing.items(), ("with nothing in hand", resting)]:
        if actors:
            yield f"{what}: {', '.join(actors)}"


class _Names:
    """The trace's names for the mirror's numbers."""

    def __init__(self, matcher: Matcher) -> None:
        thread = matcher.thread
        self.steps = [step.name for step in thread.program.steps]
        self.units = {number: name for name, number in thread.units.items()}
        self.branches = {number: name for name, number in thread.branches.items()}
        self.deliveries = {number: delivery for (_, delivery), number in thread.deliveries.items()}
        self.values = {number: value for (_, value), number in thread.values.items()}  # type: ignore[misc, has-type]

    def step(self, x: int) -> str:
        return self.steps[x - 1]

    def unit(self, u: int) -> str:
        return str(self.units.get(u, f"number {u}"))

    def value(self, v: int) -> str:
        """A value as JSON; one that the trace never shows is unknown."""
        return json.dumps(self.values[v], ensure_ascii=False) if v in self.values else "an unknown value"


def _branch(m: Matcher, names: _Names, s: bytes, branch: str, b: int) -> Iterator[str]:
    c = m.c
    block = at.branch_at(c, b)
    sealed = []
    for i in range(1, at.length(c, s, b) + 1):
        entry = at.ckpt_at(c, b, i)
        flags = s[entry + at.ENTRY_FLAGS]
        faults = [
            word for bit, word in ((at.VALID, "invalid"), (at.COMPLETE, "incomplete")) if not flags & bit
        ]
        sealed.append(" ".join([*faults, names.unit(s[entry + at.ENTRY_UNIT])]))
    where = ""
    if b != 1:
        declared = "declared" if s[block + at.DECLARED] else "not declared"
        parent = names.branches.get(s[block + at.PARENT], "no branch")
        where = f", forked from {parent} after {_units(s[block + at.INDEX])} ({declared})"
    yield f"branch {branch} is {_STATUSES[s[block]]}, sealed: {', '.join(sealed) or 'nothing'}{where}"
    for x, name in enumerate(names.steps, 1):
        out, bad = s[at.ledger_at(c, b, x)], s[at.ledger_at(c, b, x) + 1]
        if out != at.NONE and at.newest(c, s, b, int(c.unit_of[x])) == at.NONE:
            yield f"{name} is recorded in branch {branch}: {names.value(out)}{' (invalid)' if bad else ''}"
        if c.kind[x] == at.EFFECT and (applied := s[at.world_at(c, b, x)]):
            yield f"{name} was applied {'once' if applied == 1 else f'{applied} times'} in branch {branch}"
        if c.kind[x] == at.GATE and s[at.gate_at(c, b, x)] != at.CLOSED:
            yield f"gate {name} of branch {branch} is {_gate(m, names, s, b, x)}"


def _gate(m: Matcher, names: _Names, s: bytes, b: int, x: int) -> str:
    k = at.gate_at(m.c, b, x)
    given = []
    for i in range(s[k + at.GATE_ACKS]):
        ack = k + at.GATE_HEAD + i * at.ACK_WIDTH
        delivery = names.deliveries.get(s[ack + at.ACK_ID], "an unseen delivery")
        given.append(f"{names.value(s[ack + at.ACK_VALUE])} ({delivery})")
    parts = [_GATES[s[k]]]
    if given:
        parts.append(f"acknowledged: {', '.join(given)}")
    if claims := s[k + at.GATE_CLAIMS]:
        parts.append(f"claimed {'once' if claims == 1 else f'{claims} times'}")
    if s[k + at.GATE_EXPIRED]:
        parts.append("the claim has expired")
    return ", ".join(parts)


def _runner(m: Matcher, names: _Names, s: bytes, r: int) -> str:
    p = at.run_at(m.c, r)
    phase = s[p + at.PHASE]
    step = s[p + at.STEP]
    branch = names.branches.get(s[p + at.BRANCH], "no branch")
    if step == at.AT_COMMIT:
        place = f"about to commit {names.unit(s[p + at.UNIT])} of branch {branch}"
    elif phase == at.CHECKED:
        place = f"about to claim gate {names.step(step)} of branch {branch}, having read it"
    else:
        place = f"at step {names.step(step)} of branch {branch}"
        if phase == at.HOLDS:
            place += f", with {names.value(s[p + at.OUT])} in hand{' (invalid)' if s[p + at.BAD] else ''}"
    claim = ""
    if s[p + at.EPOCH]:
        claim = (
            ", holding the claim"
            if at.epoch_current(m.c, s, r)
            else ", holding a claim that is no longer the current one"
        )
    return f"{place}, loaded with {_units(s[p + at.BASE])} sealed{claim}"


def _units(number: int) -> str:
    return "1 unit" if number == 1 else f"{number} units"


def _indented(facts: Sequence[str]) -> list[str]:
    return [f"    {fact}" for fact in facts] or ["    nothing else"]
