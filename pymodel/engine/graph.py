"""The whole labelled state graph of a small model."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from pymodel.engine.model import Model, Record
from pymodel.engine.stepping import stepper
from pymodel.engine.values import FrozenDict, decoded
from pymodel.errors import LimitError, ModelError

if TYPE_CHECKING:
    import networkx

__all__ = ["state_graph"]


def state_graph(
    model: Model, *, compiled: bool = True, max_states: int | None = None
) -> networkx.MultiDiGraph:
    """All reachable states and transitions.

    Nodes are decoded states (`FrozenDict`s) with attributes `initial` (bool), `depth` (1 for initial ones) and
    `record` (bytes); each transition that `Next` gives is an edge with attributes `action` (its name) and `label`.
    Two transitions with equal ends and equal labels are one edge.

    Args:
        model: a small one: everything is held as Python values.
        compiled: use the compiled `Next`. If False, numba is not imported.
        max_states: refuse to go beyond so many.

    Raises:
        LimitError: there are more than `max_states` states.
        CapacityError, ModelError: as in `explore`.
    """
    import networkx as nx

    graph = nx.MultiDiGraph(name=model.name)
    successors = stepper(model, compiled=compiled)
    nodes: dict[bytes, FrozenDict] = {}
    queue: deque[tuple[Record, int]] = deque()

    def visit(record: Record, depth: int) -> FrozenDict:
        key = record.tobytes()
        node = nodes.get(key)
        if node is None:
            if max_states is not None and len(nodes) >= max_states:
                raise LimitError(f"model {model.name}: more than {max_states:,} states: too many for a graph")
            node = nodes[key] = decoded(model.decode(record))
            if node in graph:
                raise ModelError(
                    f"model {model.name}: decode gives two different records the same value: decode all of it"
                )
            graph.add_node(node, initial=depth == 1, depth=depth, record=key)
            queue.append((record, depth))
        return node

    for row in model.initial:
        visit(np.array(row), 1)
    while queue:
        record, depth = queue.popleft()
        source = nodes[record.tobytes()]
        for label, record_after in successors(record):
            target = visit(record_after, depth + 1)
            graph.add_edge(source, target, key=label, action=model.actions[label[0]], label=label)
    return graph
