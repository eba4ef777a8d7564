"""A trace as a sequence diagram: actors are columns, events are lines, in the order of the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET
from rich.table import Table
from rich.text import Text

from resume_contract.pictures import figure, save
from trace_check.events import Event, event_kind
from trace_check.reader import Trace

__all__ = ["Moment", "draw_sequence", "moments_of", "sequence_table"]

# What a cell says of an event besides its kind; the first that an event has come first.
_SHOWN: Final = (
    "step",
    "gate",
    "unit",
    "what",
    "value",
    "outcome",
    "child",
    "index",
    "delivery",
    "signal",
    "error",
)
_DENIALS: Final = ("accepted", "applied", "valid", "declared")


@dataclass(frozen=True)
class Moment:
    """One event of a diagram.

    Attributes:
        line: its line in the file.
        actor, branch: whose it is, and where.
        text: what happened, short.
        broken: the clauses that break there.
    """

    line: int
    actor: str
    branch: str
    text: str
    broken: tuple[str, ...] = ()


def moments_of(trace: Trace, broken: dict[int, tuple[str, ...]] | None = None) -> list[Moment]:
    """A trace's events for a diagram.

    Args:
        trace: a trace that keeps the format.
        broken: position in `trace.events` -> the clauses that break there.
    """
    marked = broken or {}
    return [
        Moment(line, event.actor, event.branch, _text(event), marked.get(at, ()))
        for at, (event, line) in enumerate(zip(trace.events, trace.lines, strict=True))
    ]


def _text(event: Event) -> str:
    fields = msgspec.structs.asdict(event)
    parts = [event_kind(event)]
    if event.phase is not None:
        parts[0] = ("▷ " if event.phase == "begin" else "◁ ") + parts[0]
    for name in _SHOWN:
        value = fields.get(name, UNSET)
        if value is not UNSET and value is not None:
            parts.append(f"{value}" if name in ("step", "gate", "unit", "what") else f"{name}={value}")
    parts += [f"not {name}" for name in _DENIALS if fields.get(name) is False]
    if event_kind(event) == "store_read":
        parts.append(
            f"{len(fields['checkpoints'])} sealed, open: {', '.join(fields['open_interrupts']) or 'none'}"
        )
    if event.inferred:
        parts.append("(inferred)")
    return " ".join(parts)


def _actors(moments: list[Moment]) -> list[str]:
    return list(dict.fromkeys(moment.actor for moment in moments))


def sequence_table(trace: Trace, moments: list[Moment]) -> Table:
    """The diagram for a terminal."""
    header = trace.header
    table = Table(
        title=f"{header.system} {header.version}, {header.scenario} ({header.store}, {header.sink} sink)",
        box=None,
        pad_edge=False,
        header_style="bold",
        title_justify="left",
    )
    actors = _actors(moments)
    table.add_column("line", justify="right", style="dim")
    table.add_column("branch", style="dim")
    for actor in actors:
        table.add_column(actor, overflow="fold")
    table.add_column("")
    for moment in moments:
        cells = [Text(moment.text if actor == moment.actor else "│") for actor in actors]
        for actor, cell in zip(actors, cells, strict=True):
            cell.stylize(("bold red" if moment.broken else "") if actor == moment.actor else "dim")
        mark = Text(f"✗ {', '.join(moment.broken)}" if moment.broken else "", style="bold red")
        table.add_row(str(moment.line), moment.branch, *cells, mark)
    return table


def draw_sequence(trace: Trace, moments: list[Moment], path: Path) -> None:
    """The diagram as a picture, in the format of the name's ending (.svg or .png).

    Raises:
        OSError: `path` cannot be written.
    """
    header = trace.header
    actors = _actors(moments)
    column = {actor: at for at, actor in enumerate(actors)}
    made: Any
    axes: Any
    made, axes = figure(1.5 + 3.2 * len(actors), 1.2 + 0.24 * len(moments))
    axes.set_axis_off()
    axes.set_xlim(-0.55, len(actors) - 0.4)
    axes.set_ylim(len(moments) + 0.5, -1.5)
    for actor, x in column.items():
        mine = [at for at, moment in enumerate(moments) if moment.actor == actor]
        axes.plot([x, x], [mine[0] - 0.4, mine[-1] + 0.4], color="grey", linewidth=1, zorder=0)
        axes.text(x, -1, actor, ha="center", va="center", weight="bold", fontsize=9)
    for at, moment in enumerate(moments):
        colour = "firebrick" if moment.broken else "black"
        text = moment.text + (f"  ✗ {', '.join(moment.broken)}" if moment.broken else "")
        axes.text(
            column[moment.actor],
            at,
            text,
            ha="center",
            va="center",
            fontsize=7,
            color=colour,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": colour, "linewidth": 0.5},
        )
        axes.text(-0.53, at, f"{moment.line}  {moment.branch}", va="center", fontsize=6, color="grey")
    axes.set_title(f"{header.system} {header.version}: {header.scenario}", fontsize=10)
    save(made, path)
