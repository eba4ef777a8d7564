"""The reachable states of a spec as a networkx graph."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from .config import read_config
from .errors import SpecError, TLCError
from .outcome import Outcome
from .run import PathLike, run_tlc
from .values import parse_state

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["read_dot", "state_graph"]

_LABEL = r'\[label="((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"(-?\d+) {_LABEL}(.*)")
_EDGE = re.compile(rf"(-?\d+) -> (-?\d+) {_LABEL}")
_ESCAPE = re.compile(r"\\(.)")


def state_graph(
    spec: PathLike,
    cfg: PathLike | None = None,
    *,
    workers: int = 1,
    timeout: float | None = None,
    heap: str | None = None,
    java: PathLike | None = None,
    jar: PathLike | None = None,
    module_path: Sequence[PathLike] = (),
    extra_jars: Sequence[PathLike] = (),
    extra_args: Sequence[str] = (),
) -> nx.MultiDiGraph:
    """All reachable states and transitions of a spec, from TLC's labelled dump.

    Nothing is checked, neither deadlock nor the invariants and properties of the configuration, so the
    graph is always whole. For the parameters see `run_tlc`.

    Returns
    -------
    networkx.MultiDiGraph
        A node is TLC's fingerprint of a state; its attributes are ``state`` (variable -> value) and
        ``initial`` (bool). An edge's key and its attribute ``action`` are the name of the action; ``count``
        says in how many ways (arguments, disjuncts) that action leads from the one state to the other. The
        attribute ``result`` of the graph is the `TLCResult` of the run: the counts of all edges and of the
        initial states sum up to its ``generated``, unless a constraint in ``cfg`` keeps states out of the
        graph.

    Raises
    ------
    TLCError
        If TLC cannot explore the whole graph (a syntax error, an evaluation error, a timeout, …).
    """
    config = read_config(Path(spec).absolute().with_suffix(".cfg") if cfg is None else Path(cfg).absolute())
    with tempfile.TemporaryDirectory(prefix="tlc-graph-") as folder:
        model = Path(folder) / config.path.name
        model.write_text(config.bare_text, encoding="utf-8")
        dump = Path(folder) / "graph.dot"
        result = run_tlc(
            spec,
            model,
            workers=workers,
            check_deadlock=False,
            dump=dump,
            timeout=timeout,
            heap=heap,
            java=java,
            jar=jar,
            module_path=module_path,
            extra_jars=extra_jars,
            extra_args=extra_args,
        )
        if result.outcome is not Outcome.SUCCESS:
            raise TLCError(result.message.replace(str(model), str(config.path)))
        with dump.open(encoding="utf-8") as lines:
            graph = read_dot(lines)
    graph.graph["result"] = replace(result, cfg_sha256=sha256(config.path.read_bytes()).hexdigest())
    return graph


def read_dot(lines: Iterable[str]) -> nx.MultiDiGraph:
    """Reads the text of ``-dump dot,actionlabels``; the graph is as for `state_graph`.

    Raises
    ------
    SpecError
        If an edge leads to a state the dump does not describe, or there is no state at all.
    """
    import networkx as nx

    graph = nx.MultiDiGraph()
    counts: dict[tuple[int, int, str], int] = {}
    for line in lines:
        if edge := _EDGE.match(line):
            key = (int(edge[1]), int(edge[2]), _unescape(edge[3]))
            counts[key] = counts.get(key, 0) + 1
        elif node := _NODE.match(line):
            number = int(node[1])
            initial = "filled" in node[3]
            if number not in graph:
                graph.add_node(number, state=parse_state(_unescape(node[2])), initial=initial)
            elif initial:
                graph.nodes[number]["initial"] = True
    if not len(graph):
        raise SpecError("the dump holds no state: it must come from -dump dot,actionlabels")
    for (source, target, action), count in counts.items():
        if source not in graph or target not in graph:
            raise SpecError(
                f"the dump does not describe state {target if source in graph else source}: it is cut off"
            )
        graph.add_edge(source, target, key=action, action=action, count=count)
    return graph


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text) if "\\" in text else text
