"""Breadth-first search by a model's plain functions, with every transition kept: for models of some thousand states.

Nothing is compiled, so below some ten thousand states it is done before a compiler would be.  `explore` is for the rest;
the counts mean the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.engine import Label, LimitError, Model

__all__ = ["Edge", "PlainSearch", "search_plainly"]


class Edge(NamedTuple):
    """A transition between states, which are numbered from 0 in the order in which they were found."""

    source: int
    target: int
    label: Label


@dataclass(frozen=True)
class PlainSearch:
    """All reachable states and transitions.

    Attributes:
        model: what was searched.
        records: the distinct states, the initial ones first.
        depths: the depth of each; initial states have 1.
        edges: the transitions, self-loops and duplicates included.
        generated: initial states and transitions.
        actions: how often each action was taken, by name.
        violations: for each invariant that is violated, the least depth at which it is.
        sometimes: for each sometimes property the least depth at which it holds; None: nowhere.
        terminal: states without any transition.
    """

    model: Model
    records: tuple[bytes, ...]
    depths: tuple[int, ...]
    edges: tuple[Edge, ...]
    generated: int
    actions: dict[str, int]
    violations: dict[str, int]
    sometimes: dict[str, int | None]
    terminal: int

    @property
    def distinct(self) -> int:
        """How many states there are."""
        return len(self.records)

    @property
    def depth(self) -> int:
        """The greatest depth."""
        return self.depths[-1]


def search_plainly(model: Model, max_states: int = 200_000) -> PlainSearch:
    """Search all states reachable from the model's initial ones.

    Raises:
        LimitError: there are more than `max_states`.
        CapacityError, ModelError: as in `explore`.
    """
    import numpy as np

    numbers: dict[bytes, int] = {}
    depths: list[int] = []
    edges: list[Edge] = []
    violations: dict[str, int] = {}
    sometimes: dict[str, int | None] = dict.fromkeys(model.sometimes)
    terminal = 0

    def number(record: bytes, depth: int) -> int:
        found = numbers.setdefault(record, len(depths))
        if found == len(depths):
            if found >= max_states:
                raise LimitError(f"model {model.name}: more than {max_states:,} states: explore it instead")
            depths.append(depth)
            queue.append(record)
            state = np.frombuffer(record, np.uint8)
            for name in model.violated(state):
                violations.setdefault(name, depth)
            for name in model.witnessed(state):
                if sometimes[name] is None:
                    sometimes[name] = depth
        return found

    queue: list[bytes] = []
    for row in model.initial:
        number(row.tobytes(), 1)
    # the queue grows while it is read, level by level
    for source, record in enumerate(queue):
        steps = model.successors(np.frombuffer(record, np.uint8))
        terminal += not steps
        for label, after in steps:
            edges.append(Edge(source, number(after.tobytes(), depths[source] + 1), label))
    taken = Counter(model.actions[edge.label[0]] for edge in edges)
    return PlainSearch(
        model=model,
        records=tuple(queue),
        depths=tuple(depths),
        edges=tuple(edges),
        generated=len(model.initial) + len(edges),
        actions={name: taken[name] for name in model.actions},
        violations=violations,
        sometimes=sometimes,
        terminal=terminal,
    )
