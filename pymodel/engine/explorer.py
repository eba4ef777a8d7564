"""Breadth-first search of all reachable states, exact and in parallel.

A level of the search is cut into chunks of states. A *round* expands some chunks in parallel, interns (one thread)
the components that are new, and inserts the successors (in parallel again, by partition). Neither the chunks nor the
order of insertion depend on the number of workers, so neither does anything in the result but the times.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pymodel.engine.exploration import ActionCount, Exploration, Found, Progress
from pymodel.engine.model import Model
from pymodel.errors import LimitError, ModelError

__all__ = ["ActionCount", "Exploration", "Found", "Progress", "available_workers", "explore"]


def available_workers() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def explore(
    model: Model,
    *,
    workers: int | None = None,
    stop_at_first: bool = False,
    max_depth: int | None = None,
    max_states: int | None = None,
    memory_limit: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Search all states reachable from the model's initial ones.

    Args:
        model: what to search.
        workers: threads, at most 8; all available processors if None.
        stop_at_first: end soon after an invariant is found violated.
        max_depth: levels to search; states of the last are judged but not expanded.
        max_states: end soon after so many distinct states.
        memory_limit: bytes that states, tables and buffers may take together.
        on_progress: called after every level and several times a second.

    Raises:
        CapacityError: a reachable state does not fit the record.
        MemoryLimitError: `memory_limit`, or the machine's memory, is not enough.
        LimitError: there are more states than can be numbered.
        ModelError: the model breaks its contract.
    """
    from pymodel.engine._search import Limits, Search  # brings numba along

    begun = time.perf_counter()
    for name, value in (("workers", workers), ("max_depth", max_depth), ("max_states", max_states)):
        if value is not None and value < 1:
            raise ModelError(f"{name} is {value}: it must be at least 1")
    search = Search(
        model,
        min(8, workers or available_workers()),
        Limits(stop_at_first, max_depth, max_states),
        memory_limit,
        on_progress,
    )
    try:
        with ThreadPoolExecutor(max(1, search.workers - 1), thread_name_prefix="explore") as pool:
            search.run(pool)
    except MemoryError as error:
        raise LimitError("the machine's memory is not enough: tighten the model's bounds") from error
    return search.result(time.perf_counter() - begun)
