"""Breadth-first search of all reachable states, exact and in parallel.

A level of the search is cut into chunks of states. A *round* expands some chunks in parallel, interns (one thread)
the components that are new, and inserts the successors (in parallel again, by partition). Neither the chunks nor the
order of insertion depend on the number of workers, so neither does anything in the result but the times.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pymodel.engine.errors import LimitError, ModelError
from pymodel.engine.model import Model, Record

if TYPE_CHECKING:
    from pymodel.engine._store import StateStore

__all__ = ["ActionCount", "Exploration", "Found", "Progress", "available_workers", "explore"]


class ActionCount(NamedTuple):
    """How often an action was taken, and how many states it was the first to reach."""

    generated: int
    distinct: int


@dataclass(frozen=True)
class Found:
    """A state that shows something first: its depth (initial states have 1) and its index."""

    depth: int
    index: int


class Progress(NamedTuple):
    """Where a search is: the level being expanded, counts, states not expanded yet, seconds of search."""

    level: int
    distinct: int
    generated: int
    queue: int
    seconds: float


@dataclass(frozen=True)
class Exploration:
    """What a search found.

    Attributes:
        model: the model searched.
        distinct: distinct states.
        generated: initial states and successors, duplicates included (TLC's "states generated").
        depth: number of levels; initial states are level 1 (TLC's "depth").
        levels: distinct states by depth, from depth 1.
        actions: counts by action name.
        initial: distinct initial states.
        terminal: states without any successor.
        violations: for each violated invariant, one of its shallowest states.
        witnesses: for each sometimes property that holds somewhere, one of its shallowest states.
        marked: the model's marks that some transition has.
        seconds: time of the search alone.
        total_seconds: with loading or compiling the model.
        peak_bytes: memory for states, tables and buffers at its peak.
        workers: threads used.
        complete: False when a limit ended the search.
        store: the states.
    """

    model: Model
    distinct: int
    generated: int
    depth: int
    levels: tuple[int, ...]
    actions: dict[str, ActionCount]
    initial: int
    terminal: int
    violations: dict[str, Found]
    witnesses: dict[str, Found]
    marked: frozenset[str]
    seconds: float
    total_seconds: float
    peak_bytes: int
    workers: int
    complete: bool
    store: StateStore = field(repr=False, compare=False)

    @property
    def sometimes(self) -> dict[str, int | None]:
        """For each sometimes property the first depth at which it holds; None: nowhere."""
        return {
            name: self.witnesses[name].depth if name in self.witnesses else None
            for name in self.model.sometimes
        }

    @property
    def peak_bytes_per_state(self) -> float:
        """Bytes a distinct state at the peak of memory."""
        return self.peak_bytes / self.distinct

    def record(self, index: int) -> Record:
        """The state with this index."""
        return self.store.record(index)

    def records(self) -> Iterator[Record]:
        """All distinct states found, in no order of meaning."""
        return self.store.records()


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
    from pymodel.engine._search import Limits, Search

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
