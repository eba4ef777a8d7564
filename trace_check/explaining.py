"""How a thread is explained: by a search of it as it is, or where that would take too long, by way of its twins."""

from __future__ import annotations

from typing import NamedTuple

from pymodel.resume.fault_names import FAULTS
from pymodel.resume.faults import CHECK_THEN_CLAIM
from trace_check.explained import CO_C, Explained
from trace_check.matching import Matcher
from trace_check.observations import Thread
from trace_check.search import Search
from trace_check.steps import Steps
from trace_check.symmetry import Loosened, loosen

__all__ = ["explain", "explain_thread"]

_GLANCE = 2
"""Places that are looked at, for each observation, to see whether those alone of whom something is shown next explain the
thread without a fault: most that conform are seen to by that."""

_FIRST_LOOK = 500
"""Places that are looked at before twins are made use of."""

_FIRST_LOOK_AT_MANY = 200
"""The same where there are twins, and each place takes its time; none of a thread that plainly violates."""

_ALL_FAULTS = (1 << len(FAULTS)) - 1

_HASTY_LOOK = 2_000
"""Places that are looked at where an explanation may be missed."""

_CLEAN_LOOK = 3_000
"""The same where only a behaviour of the reference is looked for."""

_PATIENT_LOOK = 2_000
"""The same where that is looked for and none is missed, if the places are enough."""

_DIVES = ((True, True), (False, True), (False, False))
"""How a set of faults is looked for, one way after the other: is it eager, is it hasty (see `Search`)?"""

_FEW = 60
"""Up to so many observations the first look is as long as without twins, and the unmodelled is sought in more ways."""


class _Looks(NamedTuple):
    """How many places are looked at of a thread that plainly violates, before less is asked for than a proof.

    A place of a thread of n observations takes about n times as long as one of a single observation.

    Attributes:
        loosened: while its twins are interchangeable.
        dive: for what one set of faults may explain.
        certain: to see whether it does so without a breach.
        whole: of the thread as it is, and to see how far the reference gets.
    """

    loosened: int
    dive: int
    certain: int
    whole: int


def _looks(budget: int, observations: int) -> _Looks:
    look = budget // (2 * observations)
    return _Looks(look, look // 4, 2 * look // 3, 4 * budget // observations**2)


def explain_thread(thread: Thread, budget: int) -> tuple[Matcher, Explained]:
    """The cheapest explanations of a thread, and the steps of which they are made.

    Where a process has run unordered steps one after the other, and that needs a fault, it is asked whether it
    needs less with a runner for each of them.

    Args:
        thread: what is to be explained.
        budget: how many places may be expanded; beyond it there is no answer, and no goal.
    """
    matcher = Matcher(thread)
    found = explain(matcher, budget)
    if not found.goals or found.cost == (0, 0) or (widened := thread.widened()) is None:
        return matcher, found
    wider = Matcher(widened)
    unmodelled, faults = found.cost
    other = explain(wider, budget - found.expanded, below=None if unmodelled else faults)
    other.expanded += found.expanded
    if other.goals and other.cost < found.cost:
        return wider, other
    found.smallest = found.smallest and other.smallest
    found.expanded = other.expanded
    return matcher, found


def explain(matcher: Matcher, budget: int, *, below: int | None = None) -> Explained:
    """The cheapest explanations of a thread.

    Args:
        matcher: the steps of the thread.
        budget: how many places may be expanded; beyond it there is no answer, and no goal.
        below: look only for explanations by fewer faults than so many.
    """
    steps = Steps(matcher)
    found = _at_a_glance(steps, budget) if below is None else Explained()
    if not found.goals:
        spent = found.expanded
        found = _explain(steps, below, budget - spent)
        found.expanded += spent
    found.shown = steps.surely_broken()
    return found


def _at_a_glance(steps: Steps, budget: int) -> Explained:
    """What shows that the thread conforms, if that is soon to be seen; else without a goal."""
    if steps.surely_broken():
        return Explained()
    observations = steps.matcher.thread.observations
    plain = Search(steps.without_faults(), observations, only=0, hasty=True)
    finished = plain.run(min(_GLANCE * len(observations), budget))
    if not finished or any(goal.broken for goal in plain.found.goals):
        plain.found.goals.clear()  # a way that it has missed may break nothing
    return plain.found


def _explain(steps: Steps, below: int | None, budget: int) -> Explained:
    observations = steps.matcher.thread.observations
    search = Search(steps, observations, below=below)
    loosened = loosen(steps.matcher.thread) if below is None else None
    if loosened is None or len(observations) <= _FEW:
        look = _FIRST_LOOK
    else:
        look = 0 if steps.surely_broken() else _FIRST_LOOK_AT_MANY
    if search.run(min(look, budget)):
        return search.found
    spent = 0
    if loosened is not None:
        found, spent = _by_twins(steps, search, loosened, budget - search.found.expanded)
        if found is not None:
            return found
    found, expanded = _cleanly(steps, search, budget - search.found.expanded - spent)
    spent += expanded
    if found is not None:
        found.expanded = search.found.expanded + spent
        return found
    if not search.run(budget - spent):
        search.found.goals.clear()
        search.found.smallest = False
    search.found.expanded += spent
    return search.found


def _cleanly(steps: Steps, search: Search, budget: int) -> tuple[Explained | None, int]:
    """A behaviour of the reference that explains the thread, if a look or two finds one; and the places expanded.

    A thread that conforms is often seen to by those alone of whom something is shown next.
    """
    spent = 0
    looks = () if steps.surely_broken() else ((True, _CLEAN_LOOK), (False, _PATIENT_LOOK))
    for hasty, places in looks:
        dive = Search(steps, search.observations, only=0, hasty=hasty)
        finished = dive.run(min(places, budget - spent))
        spent += dive.found.expanded
        # What a hasty look finds to break may hold on a way that it has missed.
        if finished and dive.found.goals and not (hasty and any(goal.broken for goal in dive.found.goals)):
            return dive.found, spent
    return None, spent


def _by_twins(steps: Steps, search: Search, loosened: Loosened, budget: int) -> tuple[Explained | None, int]:
    """Which faults may explain the thread is found with its twins interchangeable; whether they do, in the thread itself.

    None: that wasn't to be found out this way.  The number is that of the places expanded.
    """
    is_plain = bool(steps.surely_broken())
    looks = _looks(budget, len(search.observations))
    refuted: set[int] = set()
    tried: set[int] = set()
    spent = 0
    while True:
        loose = Search(steps, loosened.observations, loosened=loosened, refuted=refuted)
        finished = loose.run(looks.loosened if is_plain else (budget - spent) // 2)
        spent += loose.found.expanded
        if finished and not loose.found.goals:
            found = _without(steps, search, budget - spent)
            if found is not None:
                found.expanded += spent
            return found, spent
        result = Explained()
        for faults in sorted({goal.faults for goal in loose.found.goals}) if finished else ():
            if is_plain:
                dive, finished, expanded = _dive(steps, search, faults, looks.dive, patient=False)
            else:
                dive, finished, expanded = _dive(steps, search, faults, budget - spent)
            spent += expanded
            tried.add(faults)
            if not finished:
                break
            result.goals += dive.found.goals
            result.ways |= dive.found.ways
            if not dive.found.goals:
                refuted.add(faults)
        if not finished or (is_plain and not result.goals and spent > 2 * looks.loosened):
            found = _plainly(steps, search, budget - spent, tried) if is_plain else None
            if found is not None:
                found.expanded += spent
            return found, spent
        if result.goals:
            break
    confirmed = {goal.faults for goal in result.goals}
    result.surely = -1
    for goal in loose.found.goals:
        if goal.faults in confirmed:
            result.surely &= goal.broken
    for faults in sorted(confirmed):
        if faults & CHECK_THEN_CLAIM and result.surely & CO_C:
            without = Search(steps, loosened.observations, loosened=loosened, only=faults, avoiding=CO_C)
            if not without.run(looks.certain if is_plain else budget - spent) or without.found.goals:
                result.surely &= ~CO_C
            spent += without.found.expanded
    _see_how_far(steps, search, result, budget - spent)
    result.expanded += search.found.expanded + spent
    return result, spent


def _dive(
    steps: Steps, search: Search, faults: int, budget: int, *, patient: bool = True
) -> tuple[Search, bool, int]:
    """Look for an explanation by these faults; go on where a hasty look used up its places only if patient.

    Returns:
        The last search, whether it came to its end, and the places that all of them expanded.
    """
    spent = 0
    for eager, hasty in _DIVES:
        dive = Search(steps, search.observations, only=faults, hasty=hasty, eager=eager)
        finished = dive.run(min(_HASTY_LOOK, budget) if hasty else budget)
        spent += dive.found.expanded
        if dive.found.goals or not (finished or patient):
            break
    return dive, finished, spent


def _see_how_far(steps: Steps, search: Search, result: Explained, budget: int) -> None:
    """Note how far the reference gets, unless it explains all."""
    if not any(goal.faults or goal.unmodelled or goal.broken for goal in result.goals):
        return
    if not search.found.stuck and steps.surely_broken():
        search.look_further(search.found.expanded + _looks(budget, len(search.observations)).whole)
    result.stuck = search.found.stuck
    if not result.stuck:
        without = Search(steps, search.observations, only=0)
        without.run(max(0, budget))
        without.look_further(max(0, budget))
        result.expanded += without.found.expanded
        result.stuck = without.found.stuck


def _plainly(steps: Steps, search: Search, budget: int, tried: set[int]) -> Explained | None:
    """What explains a thread that violates by what it shows, mostly without a proof that nothing smaller does.

    The faults of which such a thread must have used one are tried, unless they have been, alone and then with the one
    that racers use most.  If these do not explain it, what nothing explains is taken for true as it comes.  None if the
    budget was used up.
    """
    looks = _looks(budget, len(search.observations))
    before = search.found.expanded
    if search.run(before + looks.whole):
        return search.found
    spent = search.found.expanded - before
    again = search.prospects.again
    for sets in (again, [one | CHECK_THEN_CLAIM for one in again]):
        result = Explained(smallest=False, surely=steps.surely_broken())
        for faults in sets:
            if faults in tried:
                continue
            dive, _, expanded = _dive(steps, search, faults, looks.dive, patient=False)
            spent += expanded
            result.goals += dive.found.goals
            result.ways |= dive.found.ways
        if result.goals:
            _see_how_far(steps, search, result, budget - spent)
            result.expanded += search.found.expanded + spent
            return result
    found = _without(steps, search, budget - spent)
    if found is not None:
        found.expanded += spent
        found.smallest = False
    return found


def _without(steps: Steps, search: Search, budget: int) -> Explained | None:
    """What nothing explains of a thread that no faults explain, one way of all; None if the budget was used up."""
    tries: list[Explained] = []
    ways = [(one | CHECK_THEN_CLAIM, True) for one in search.prospects.again]
    if len(search.observations) <= _FEW:
        ways += [(_ALL_FAULTS & ~CHECK_THEN_CLAIM, False), (_ALL_FAULTS, True)]
    for faults, eager in ways:
        greedy = Search(steps, search.observations, only=faults, hasty=True, eager=eager)
        if greedy.run_greedily(budget, min((found.cost[0] for found in tries), default=None)):
            tries.append(greedy.found)
    if not tries:
        return None
    found = min(tries, key=lambda one: one.cost)
    _see_how_far(steps, search, found, budget)
    found.surely = steps.surely_broken()
    found.expanded += search.found.expanded
    return found
