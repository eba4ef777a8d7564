"""Temporal properties of small models under weak fairness of processes, judged on the whole graph.

A behaviour is *fair* if every fair process that from some point on could always take a step does take steps again and
again.  What a behaviour without end visits for ever lies in a strongly connected component, or is a single state at
which it stands still.  Such a set of states can be visited for ever in a fair way if and only if each fair process has
a step inside it or is disabled in one of its states; if a part of a component can, so can all of it, so maximal
components are all there is to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import networkx as nx
import numpy as np

from pymodel.engine import Label
from pymodel.plain_search import PlainSearch

__all__ = ["FairProcess", "LeadsTo", "Liveness", "Settles", "fair_trap"]

Condition: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""A condition on a decoded state."""

FairProcess: TypeAlias = Callable[[Label], int | None]
"""The process that takes a step if that process is weakly fair, else None."""


@dataclass(frozen=True)
class LeadsTo:
    """TLA+ `trigger ~> goal`: whenever the trigger holds, the goal holds then or later."""

    trigger: Condition
    goal: Condition


@dataclass(frozen=True)
class Settles:
    """TLA+ `<>[] condition`: from some point on the condition holds for ever."""

    condition: Condition


Liveness: TypeAlias = LeadsTo | Settles


def fair_trap(search: PlainSearch, wanted: Liveness, fair: FairProcess) -> frozenset[int] | None:
    """States that a fair behaviour may visit for ever against a property; None: the property holds.

    Args:
        search: the graph.
        wanted: the property.
        fair: which process a step belongs to.

    Returns:
        Numbers of states of `search`; one alone: the behaviour stands still there.
    """
    states = [search.model.decode(np.frombuffer(record, np.uint8)) for record in search.records]
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(len(states)))
    enabled: list[set[int]] = [set() for _ in states]
    processes: set[int] = set()
    for source, target, label in search.edges:
        process = fair(label)
        if source != target:  # a step that changes nothing is none
            graph.add_edge(source, target, process=process)
            if process is not None:
                enabled[source].add(process)
                processes.add(process)
    if isinstance(wanted, LeadsTo):
        without = graph.subgraph(i for i, state in enumerate(states) if not wanted.goal(state))
        starts = [i for i in without if wanted.trigger(states[i])]
        layers = nx.bfs_layers(without, starts) if starts else []
        graph = without.subgraph(i for layer in layers for i in layer)
    for component in nx.strongly_connected_components(graph):
        if isinstance(wanted, Settles) and all(wanted.condition(states[i]) for i in component):
            continue
        steps = {process for *_, process in graph.subgraph(component).edges(data="process")}
        if all(p in steps or any(p not in enabled[i] for i in component) for p in processes):
            return frozenset(component)
    return None
