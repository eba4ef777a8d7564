"""State graphs and behaviours as files: pictures, or DOT for Graphviz."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pymodel.engine import Trace, render_value
from resume_contract.pictures import figure, save
from resume_contract.writing import void, write_atomically

if TYPE_CHECKING:
    import networkx

__all__ = ["FORMATS", "draw_behaviour", "draw_graph"]

FORMATS = ("png", "svg", "dot")


def draw_graph(graph: networkx.MultiDiGraph, path: Path) -> None:
    """Draw a state graph: a column for each depth, a line for each transition in its action's colour.

    Args:
        graph: as :func:`pymodel.engine.state_graph` gives it.
        path: its ending says in which of `FORMATS`.

    Raises:
        OSError: `path` cannot be written.
    """
    if path.suffix == ".dot":
        write_atomically(path, lambda part: void(part.write_text(_graph_dot(graph), encoding="utf-8")))
    else:
        save(_graph_figure(graph), path)


def _graph_figure(graph: networkx.MultiDiGraph) -> Any:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    sizes = Counter(depth for _, depth in graph.nodes(data="depth"))
    placed: Counter[int] = Counter()
    places: dict[Any, tuple[float, float]] = {}
    for node, depth in graph.nodes(data="depth"):
        places[node] = (depth, (placed[depth] + 0.5) / sizes[depth])
        placed[depth] += 1
    made, axes = figure(13, 8)
    by_action: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {}
    for source, target, action in graph.edges(data="action"):
        by_action.setdefault(action, []).append((places[source], places[target]))
    handles = []
    for index, (action, lines) in enumerate(sorted(by_action.items())):
        colour = colormaps["tab20"](index % 20)
        axes.add_collection(LineCollection(lines, colors=[colour], linewidths=0.25, alpha=0.6))
        handles.append(Line2D([], [], color=colour, label=f"{action}: {len(lines):,}"))
    x, y = zip(*places.values(), strict=True)
    axes.scatter(x, y, s=2, color="black", zorder=3)
    axes.set_xlabel("depth")
    axes.set_yticks([])
    axes.set_title(
        f"{graph.name}: {graph.number_of_nodes():,} states, {graph.number_of_edges():,} transitions"
    )
    axes.legend(handles=handles, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return made


def _graph_dot(graph: networkx.MultiDiGraph) -> str:
    numbers = {node: number for number, node in enumerate(graph.nodes, 1)}
    lines = [f"digraph {_quoted(graph.name)} {{", "  node [shape=box, fontname=monospace];"]
    for node, data in graph.nodes(data=True):
        text = "\n".join(f"{name} = {render_value(value)}" for name, value in node.items())
        style = ", style=bold" if data["initial"] else ""
        lines.append(f"  {numbers[node]} [label={_quoted(text)}{style}];")
    for source, target, action in graph.edges(data="action"):
        lines.append(f"  {numbers[source]} -> {numbers[target]} [label={_quoted(action)}];")
    return "\n".join([*lines, "}"]) + "\n"


def draw_behaviour(trace: Trace, path: Path) -> None:
    """Draw a behaviour: a box for each step, with what it changed.

    Raises:
        OSError: `path` cannot be written.
    """
    if path.suffix == ".dot":
        write_atomically(path, lambda part: void(part.write_text(_behaviour_dot(trace), encoding="utf-8")))
    else:
        save(_behaviour_figure(trace), path)


def _changes(trace: Trace) -> list[tuple[str, list[str]]]:
    """For each step its heading and what it changed."""
    return [
        (
            f"{step.number}. {step.description}",
            [f"{d.place}: {render_value(d.before)} → {render_value(d.after)}" for d in step.differences],
        )
        for step in trace.steps
    ]


def _behaviour_figure(trace: Trace) -> Any:
    steps = [(head, [line for text in texts for line in wrap(text, 100)]) for head, texts in _changes(trace)]
    total = sum(2 + len(lines) for _, lines in steps)
    made, axes = figure(10, 1 + 0.2 * total)
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(total, 0)
    at = 0
    for number, (head, lines) in enumerate(steps, 1):
        colour = "firebrick" if number == len(steps) else "black"
        axes.plot([0.01], [at + 0.5], marker="o", color=colour, markersize=6)
        if number < len(steps):
            axes.plot([0.01, 0.01], [at + 0.5, at + 2.5 + len(lines)], color="grey", linewidth=1, zorder=0)
        axes.text(0.03, at + 0.5, head, va="center", weight="bold", fontsize=9, color=colour)
        for offset, line in enumerate(lines, 1):
            axes.text(0.05, at + 0.5 + offset, line, va="center", fontsize=8, family="monospace")
        at += 2 + len(lines)
    axes.set_title(f"{trace.model}: {trace.subject}", fontsize=10)
    return made


def _behaviour_dot(trace: Trace) -> str:
    lines = [
        f"digraph {_quoted(trace.model)} {{",
        f"  label={_quoted(trace.subject)};",
        "  node [shape=box];",
    ]
    for number, (head, changes) in enumerate(_changes(trace), 1):
        lines.append(f"  {number} [label={_quoted(chr(10).join([head, *changes]))}];")
        if number > 1:
            lines.append(f"  {number - 1} -> {number};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")
    return f'"{escaped}"'
