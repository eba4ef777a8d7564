"""Pictures of what was found, by matplotlib."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resume_contract.manifest import BOUNDS
from resume_contract.rows import Row
from resume_contract.writing import write_atomically

__all__ = ["bounds_figure", "draw_bounds", "figure", "save"]


def figure(width: float, height: float, **options: Any) -> Any:
    """A figure that needs no screen, with its axes: as `matplotlib.pyplot.subplots`, without its global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made, made.subplots(**options)


def save(made: Any, path: Path, *, dpi: float = 120) -> None:
    """Write a figure in the format of the name's ending, in one step."""
    from matplotlib import rc_context

    # without the date, and with ids that are not drawn by lot: the same picture is the same file
    metadata = {"Date": None} if path.suffix == ".svg" else None
    with rc_context({"svg.hashsalt": "resume-contract"}):
        write_atomically(path, lambda part: made.savefig(part, dpi=dpi, metadata=metadata))


def draw_bounds(rows: Sequence[Row], path: Path) -> None:
    """Write the picture of :func:`bounds_figure`.

    Raises:
        OSError: `path` cannot be written.
    """
    save(bounds_figure(rows), path)


def bounds_figure(rows: Sequence[Row]) -> Any:
    """States by depth for each bound: a line for the mirror, marks for TLC.

    The axis counts the states *up to* a depth, because that is what TLC's progress reports tell where nobody counted
    the states of each depth.
    """
    bounds = [bound for bound in BOUNDS if any(row.bound == bound for row in rows)]
    made, grid = figure(4.2 * len(bounds), 3.6, ncols=len(bounds), squeeze=False)
    for axes, bound in zip(grid[0], bounds, strict=True):
        _draw_bound(axes, bound, [row for row in rows if row.bound == bound])
    grid[0][0].set_ylabel("distinct states up to that depth")
    made.suptitle("The resume contract: states by depth")
    return made


def _draw_bound(axes: Any, bound: str, rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D

    colours = {name: f"C{i}" for i, name in enumerate(dict.fromkeys(row.model for row in rows))}
    handles = []
    sampled = False
    for row in rows:
        colour = colours[row.model]
        if row.engine == "mirror" and row.levels is not None:
            axes.plot(*_upto(row.levels), color=colour, linewidth=1.4)
            label = f"{row.model}: {row.distinct:,}"
            handles.append(Line2D([], [], color=colour, linewidth=1.4, label=label))
        elif row.engine == "tlc" and row.levels is not None:
            axes.plot(
                *_upto(row.levels), color=colour, linestyle="", marker="o", markersize=3.5, fillstyle="none"
            )
        elif row.engine == "tlc" and row.progress and row.depth_is_upper_bound:
            # (of a model that TLC alone runs, with one worker, there is nothing to compare)
            sampled = True
            axes.plot(*zip(*row.progress, strict=True), color=colour, linestyle="", marker="x", markersize=5)
    handles.append(Line2D([], [], color="grey", linewidth=1.4, label="mirror"))
    if any(row.engine == "tlc" and row.levels is not None for row in rows):
        handles.append(
            Line2D(
                [], [], color="grey", linestyle="", marker="o", markersize=3.5, fillstyle="none", label="TLC"
            )
        )
    if sampled:
        handles.append(
            Line2D([], [], color="grey", linestyle="", marker="x", label="TLC, its progress reports only")
        )
    axes.set_yscale("log")
    axes.set_title(bound)
    axes.set_xlabel("depth")
    axes.grid(visible=True, alpha=0.25)
    axes.legend(handles=handles, fontsize=7, loc="lower right")


def _upto(levels: Sequence[int]) -> tuple[list[int], list[int]]:
    """Depths from 1, and states up to each."""
    return list(range(1, len(levels) + 1)), list(itertools.accumulate(levels))
