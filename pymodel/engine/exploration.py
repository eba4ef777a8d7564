"""What a search found, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pymodel.engine.model import Model, Record

if TYPE_CHECKING:
    from pymodel.engine._store import StateStore

__all__ = ["ActionCount", "Exploration", "Found", "Progress"]


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
