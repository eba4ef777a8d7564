"""A sequence diagram as a picture: SVG, in which an event says more under the pointer, or PNG."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from resume_contract.errors import ResumeContractError
from resume_contract.pictures import figure, save
from resume_contract.sequence import BREAKS, FIRST, LEGEND, UNMODELLED, Moment, actors_of, title_of
from resume_contract.writing import write_text
from trace_check.printing import printable
from trace_check.reader import Trace

__all__ = ["MOST_EVENTS", "draw_sequence", "sequence_figure"]

MOST_EVENTS: Final = 2_000
"""Events that are drawn at most: a longer picture nobody can look at."""

# All lengths are inches, sizes of letters points.
_ROW = 0.21
_LETTERS = 7.0
_GAP = 0.3  # between columns
_MARGIN = 0.2
_TOP = 0.85
_NOTE = 0.16
_LEGEND_LINE = 0.28
_MOST_LETTERS = 46  # of an event's text; the rest is under the pointer
_NOTE_LETTERS = 130
_MOST_PIXELS = 36e6
_COLOURS: Final = {
    BREAKS: ("firebrick", "mistyrose"),
    FIRST: ("darkorange", "papayawhip"),
    UNMODELLED: ("rebeccapurple", "lavender"),
}
_BEGUN = "steelblue"
_OPERATION: Final = "an operation, from ▷ its begin to ◁ its end (dotted: it has none)"


@dataclass(frozen=True)
class _Layout:
    """Where things are."""

    columns: dict[str, float]
    width: float
    rows: int
    height: float
    legend: Sequence[Sequence[str]]

    def y(self, row: float) -> float:
        return _TOP + row * _ROW

    @property
    def notes(self) -> float:
        """Where the lines of text beneath the legend begin."""
        return self.y(self.rows + 3) + (len(self.legend) - 1) * _LEGEND_LINE


def draw_sequence(
    trace: Trace,
    moments: Sequence[Moment],
    path: Path,
    *,
    notes: Sequence[str] = (),
    hover: Mapping[int, str] | None = None,
) -> None:
    """The diagram as a picture, in the format of the name's ending (.svg or .png).

    Args:
        notes: lines of text beneath the diagram.
        hover: index of a moment -> what is said of it under the pointer, besides its text (SVG only).

    Raises:
        ResumeContractError: the trace is too long to be looked at.
        OSError: `path` cannot be written.
    """
    made, layout = _drawn(trace, moments, notes)
    save(made, path, dpi=min(120.0, (_MOST_PIXELS / (layout.width * layout.height)) ** 0.5))
    if path.suffix == ".svg":
        _add_hover(path, moments, hover or {})


def sequence_figure(trace: Trace, moments: Sequence[Moment], notes: Sequence[str] = ()) -> Any:
    """The diagram as a figure of matplotlib, whose units of both axes are inches; see `draw_sequence`.

    Raises:
        ResumeContractError: the trace is too long to be looked at.
    """
    return _drawn(trace, moments, notes)[0]


def _drawn(trace: Trace, moments: Sequence[Moment], notes: Sequence[str]) -> tuple[Any, _Layout]:
    if len(moments) > MOST_EVENTS:
        raise ResumeContractError(
            f"{trace.path}: {len(moments):,} events are too many for a picture, which takes {MOST_EVENTS:,}:"
            " draw one thread of it (--thread), or what `trace shrink` makes of it"
        )
    notes = [part for note in notes for part in _wrapped(note)]
    layout = _lay_out(moments, notes, title_of(trace))
    made: Any
    axes: Any
    made, axes = figure(layout.width, layout.height)
    made.set_layout_engine("none")
    axes.set_position([0, 0, 1, 1])
    axes.set_axis_off()
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    _write(axes, _MARGIN, 0.25, title_of(trace), size=10, weight="bold")
    _draw_lifelines(axes, layout, moments)
    _draw_operations(axes, layout, moments)
    for at, moment in enumerate(moments):
        _draw_moment(axes, layout, at, moment)
    _draw_legend(axes, layout)
    for number, note in enumerate(notes):
        _write(axes, _MARGIN, layout.notes + number * _NOTE, note, family="DejaVu Sans Mono")
    return made, layout


def _wrapped(note: str) -> list[str]:
    """A note's lines, none too long, those that go on indented further."""
    text = printable(note)
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    return textwrap.wrap(text, _NOTE_LETTERS, subsequent_indent=indent, drop_whitespace=False) or [""]


def _lay_out(moments: Sequence[Moment], notes: Sequence[str], title: str) -> _Layout:
    label = max((_width(_label(moment)) for moment in moments), default=0.0)
    x = _MARGIN + label + _GAP
    columns: dict[str, float] = {}
    for actor in actors_of(moments):
        texts = [_cell(moment) for moment in moments if moment.actor == actor]
        wide = max(_width(text) for text in [*texts, actor + "  "]) + 0.1
        columns[actor] = x + wide / 2
        x += wide + _GAP
    widest = max([_width(note) * 1.15 for note in notes] + [_width(title) * 1.6, 6.5])
    width = max(x, widest + 2 * _MARGIN)
    rows = len(moments)
    legend = _legend_lines(moments, width)
    beneath = (len(legend) - 1) * _LEGEND_LINE + len(notes) * _NOTE + _MARGIN
    return _Layout(columns, width, rows, _TOP + (rows + 3) * _ROW + beneath, legend)


def _legend_lines(moments: Sequence[Moment], width: float) -> list[list[str]]:
    """What the legend says, in lines that the picture has room for: marks, and at last the operation."""
    used = {mark for moment in moments for mark in moment.marks}
    lines: list[list[str]] = [[]]
    x = _MARGIN
    for entry in [*(mark for mark in LEGEND if mark in used), _OPERATION]:
        wide = _width(_legend_text(entry))
        if lines[-1] and x + wide > width - _MARGIN:
            lines.append([])
            x = _MARGIN
        lines[-1].append(entry)
        x += wide + _GAP
    return lines


def _legend_text(entry: str) -> str:
    return entry if entry == _OPERATION else f"{entry} {LEGEND[entry]}"


def _draw_lifelines(axes: Any, layout: _Layout, moments: Sequence[Moment]) -> None:
    for at in range(0, layout.rows, 2):  # every other row is shaded, so that the eye stays in it
        axes.axhspan(layout.y(at - 0.5), layout.y(at + 0.5), color="0.97", zorder=0, linewidth=0)
    for actor, x in layout.columns.items():
        mine = [at for at, moment in enumerate(moments) if moment.actor == actor]
        axes.plot([x, x], [layout.y(mine[0]), layout.y(mine[-1])], color="0.6", linewidth=0.8, zorder=1)
        for row in (-1.2, layout.rows + 0.2):
            _write(axes, x, layout.y(row), printable(actor), size=9, weight="bold", ha="center")


def _draw_operations(axes: Any, layout: _Layout, moments: Sequence[Moment]) -> None:
    """A bar beside the events from the begin of an operation to its end; one without an end fades out."""
    lanes: dict[str, list[int]] = {}
    ends = {moment.begin: at for at, moment in enumerate(moments) if moment.begin is not None}
    for at, moment in enumerate(moments):
        if at not in ends and not moment.pending:
            continue
        end = ends.get(at, layout.rows)
        busy = lanes.setdefault(moment.actor, [])
        lane = next((i for i, until in enumerate(busy) if until < at), len(busy))
        busy[lane : lane + 1] = [end]
        mine = [_width(_cell(one)) for one in moments if one.actor == moment.actor]
        x = layout.columns[moment.actor] - max(mine) / 2 - 0.1 - 0.045 * lane
        top, bottom = layout.y(at), layout.y(end if at in ends else min(at + 1.5, layout.rows))
        style = "-" if at in ends else ":"
        axes.plot(
            [x, x], [top, bottom], color=_BEGUN, linewidth=2, linestyle=style, solid_capstyle="butt", zorder=2
        )


def _draw_moment(axes: Any, layout: _Layout, at: int, moment: Moment) -> None:
    edge, face = next((_COLOURS[mark] for mark in moment.marks), ("0.75", "white"))
    box = {
        "boxstyle": "round,pad=0.18",
        "facecolor": face,
        "edgecolor": edge,
        "linewidth": 1.2 if moment.marks else 0.4,
    }
    drawn = _write(
        axes,
        layout.columns[moment.actor],
        layout.y(at),
        _cell(moment),
        ha="center",
        color=edge if moment.marks else "black",
        weight="bold" if moment.marks else "normal",
        bbox=box,
        zorder=3,
    )
    drawn.set_gid(_gid(at))
    _write(axes, _MARGIN, layout.y(at), _label(moment), color="0.45", size=6)


def _draw_legend(axes: Any, layout: _Layout) -> None:
    for number, line in enumerate(layout.legend):
        x, y = _MARGIN, layout.y(layout.rows + 1.5) + number * _LEGEND_LINE
        for entry in line:
            text = _legend_text(entry)
            if entry == _OPERATION:
                axes.plot([x, x], [y - 0.07, y + 0.07], color=_BEGUN, linewidth=2, solid_capstyle="butt")
                _write(axes, x + 0.08, y, text, color="0.3")
            else:
                edge, face = _COLOURS[entry]
                box = {"boxstyle": "round,pad=0.18", "facecolor": face, "edgecolor": edge, "linewidth": 1.2}
                _write(axes, x, y, text, color=edge, bbox=box)
            x += _width(text) + _GAP


def _write(axes: Any, x: float, y: float, text: str, *, size: float = _LETTERS, **options: Any) -> Any:
    # a value may hold a dollar, which is no formula
    return axes.text(x, y, text, fontsize=size, va="center", parse_math=False, **options)


def _label(moment: Moment) -> str:
    return printable(f"{moment.line}  {moment.branch}  {moment.actor}")


def _cell(moment: Moment) -> str:
    text = printable(moment.text)
    if len(text) > _MOST_LETTERS:
        text = text[: _MOST_LETTERS - 1] + "…"
    return f"{text}  {moment.verdict}" if moment.marks else text


@lru_cache(maxsize=4096)
def _width(text: str) -> float:
    """Of a text in the letters of an event, bold as the widest, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(size=_LETTERS, weight="bold")
    width, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def _gid(at: int) -> str:
    return f"event-{at + 1}"


def _add_hover(path: Path, moments: Sequence[Moment], hover: Mapping[int, str]) -> None:
    """Put a title into each event's group: browsers show it under the pointer."""

    def titled(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        moment = moments[at]
        said = [f"event {at + 1}, line {moment.line}, {moment.actor} on {moment.branch}", moment.text]
        said += [
            LEGEND[mark] + (f": {', '.join(moment.broken)}" if mark == BREAKS else "")
            for mark in moment.marks
        ]
        said += [hover[at]] if at in hover else []
        lines = "\n".join("\n".join(map(printable, one.split("\n"))) for one in said)
        return f"{match[0]}<title>{escape(lines)}</title>"

    text = re.sub(r'<g id="event-(\d+)">', titled, path.read_text(encoding="utf-8"))
    write_text(path, text)
