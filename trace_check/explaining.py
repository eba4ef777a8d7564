"""How a thread is explained: by a search of it as it is, or where that would take too long, by way of its twins."""

from __future__ import annotations

from pymodel.resume.fault_names import FAULTS
from trace_check.matching import Matcher
from trace_check.observations import Thread
from trace_check.search import Explained, Search, Steps
from trace_check.symmetry import Loosened, loosen

__all__ = ["explain", "explain_thread"]

_FIRST_LOOK = 500
"""Places that are looked at before twins are made use of."""

_ALL_FAULTS = (1 << len(FAULTS)) - 1

_HASTY_LOOK = 2_000
"""Places that are looked at where an explanation may be missed."""

_DIVES = ((True, True), (False, True), (False, False))
"""How a set of faults is looked for, one way after the other: is it eager, is it hasty (see `Search`)?"""


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
    search = Search(steps, matcher.thread.observations, below=below)
    if search.run(min(_FIRST_LOOK, budget)):
        return search.found
    spent = 0
    loosened = loosen(matcher.thread)
    if loosened is not None and below is None:
        found, spent = _by_twins(steps, search, loosened, budget - search.found.expanded)
        if found is not None:
            return found
    if not search.run(budget - spent):
        search.found.goals.clear()
    search.found.expanded += spent
    return search.found


def _by_twins(steps: Steps, search: Search, loosened: Loosened, budget: int) -> tuple[Explained | None, int]:
    """Which faults may explain the thread is found with its twins interchangeable; whether they do, in the thread itself.

    None: that wasn't to be found out this way.  The number is that of the places expanded.
    """
    observations = steps.matcher.thread.observations
    loose = Search(steps, loosened.observations, loosened=loosened)
    finished = loose.run(budget // 2)
    spent = loose.found.expanded
    if not finished:
        return None, spent
    if not loose.found.goals:
        return _without(steps, search, budget - spent), spent
    result = Explained()
    for faults in sorted({goal.faults for goal in loose.found.goals}):
        for eager, hasty in _DIVES:
            dive = Search(steps, observations, only=faults, hasty=hasty, eager=eager)
            finished = dive.run(min(_HASTY_LOOK, budget - spent) if hasty else budget - spent)
            spent += dive.found.expanded
            if dive.found.goals:
                break
        if not finished:
            return None, spent
        result.goals += dive.found.goals
        result.ways |= dive.found.ways
    if not result.goals:
        return None, spent
    confirmed = {goal.faults for goal in result.goals}
    result.surely = -1
    for goal in loose.found.goals:
        if goal.faults in confirmed:
            result.surely &= goal.broken
    if any(goal.faults or goal.broken for goal in result.goals):
        result.stuck = search.found.stuck
        if not result.stuck:
            without = Search(steps, observations, only=0)
            without.run(max(0, budget - spent))
            without.look_further(max(0, budget - spent))
            spent += without.found.expanded
            result.stuck = without.found.stuck
    result.expanded = search.found.expanded + spent
    return result, spent


def _without(steps: Steps, search: Search, budget: int) -> Explained | None:
    """What nothing explains of a thread that no faults explain, one way of all; None if the budget was used up."""
    observations = steps.matcher.thread.observations
    greedy = Search(steps, observations, only=_ALL_FAULTS, hasty=True, eager=True)
    if not greedy.run_greedily(budget):
        return None
    search.look_further(search.found.expanded + budget)
    found = greedy.found
    found.stuck = search.found.stuck
    found.surely = search.surely_broken()
    found.expanded += search.found.expanded
    return found
