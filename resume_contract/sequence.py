"""A trace as a sequence of moments: actors are columns, events are lines, in the order of the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET
from rich.table import Table
from rich.text import Text

from trace_check.events import Event, event_kind
from trace_check.printing import printable
from trace_check.reader import Trace

if TYPE_CHECKING:
    from trace_check.checker import Verdict

__all__ = [
    "LEGEND",
    "Moment",
    "actors_of",
    "legend_of",
    "mark_moments",
    "moments_of",
    "sequence_table",
    "title_of",
]

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

BREAKS, FIRST, UNMODELLED = "✗", "◆", "○"
LEGEND: Final = {
    BREAKS: "a clause breaks",
    FIRST: "the first event that the reference cannot explain",
    UNMODELLED: "no fault accounts for it",
}
"""Mark of an event -> what it means."""

_NARROWEST = 18  # characters of a column, below which actors get none of their own


@dataclass(frozen=True)
class Moment:
    """One event of a diagram.

    Attributes:
        line: its line in the file.
        actor, branch: whose it is, and where.
        text: what happened, short.
        broken: the clauses that break there.
        begin: of an operation's end, the index of the moment that began it.
        pending: it begins an operation that has no end.
        is_first: it is the first event that the reference can't explain.
        is_unmodelled: no fault accounts for it.
    """

    line: int
    actor: str
    branch: str
    text: str
    broken: tuple[str, ...] = ()
    begin: int | None = None
    pending: bool = False
    is_first: bool = False
    is_unmodelled: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks of `LEGEND` that it has."""
        has = {BREAKS: bool(self.broken), FIRST: self.is_first, UNMODELLED: self.is_unmodelled}
        return tuple(mark for mark in LEGEND if has[mark])

    @property
    def verdict(self) -> str:
        """What the verdict says of it, short: its marks, and the clauses that break."""
        others = [mark for mark in self.marks if mark != BREAKS]
        return " ".join([*others, *([f"{BREAKS} {', '.join(self.broken)}"] if self.broken else [])])


def moments_of(trace: Trace, broken: dict[int, tuple[str, ...]] | None = None) -> list[Moment]:
    """A trace's events for a diagram.

    Args:
        trace: a trace that keeps the format.
        broken: position in `trace.events` -> the clauses that break there.
    """
    marked = broken or {}
    begins = {op.end: op.begin for op in trace.operations.values() if op.end is not None}
    pending = {op.begin for op in trace.operations.values() if op.end is None}
    return [
        Moment(
            line,
            event.actor,
            event.branch,
            _text(event),
            broken=marked.get(at, ()),
            begin=begins.get(at),
            pending=at in pending,
        )
        for at, (event, line) in enumerate(zip(trace.events, trace.lines, strict=True))
    ]


def mark_moments(moments: Sequence[Moment], verdict: Verdict) -> list[Moment]:
    """The moments with what a verdict says of them.  Verdicts count events from 1."""
    broken: dict[int, list[str]] = {}
    for one in verdict.clauses:
        broken.setdefault(one.event, []).append(one.clause)
    first = verdict.first_unexplained
    return [
        replace(
            moment,
            broken=tuple(broken.get(number, ())),
            is_first=first is not None and first.event == number,
            is_unmodelled=number in verdict.unmodelled,
        )
        for number, moment in enumerate(moments, 1)
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


def actors_of(moments: Sequence[Moment]) -> list[str]:
    """The actors, in the order in which they begin."""
    return list(dict.fromkeys(moment.actor for moment in moments))


def title_of(trace: Trace) -> str:
    """What was recorded."""
    header = trace.header
    return printable(
        f"{header.system} {header.version}, {header.scenario} ({header.store}, {header.sink} sink)"
    )


def legend_of(moments: Sequence[Moment]) -> list[str]:
    """The marks that occur, each with what it means."""
    used = {mark for moment in moments for mark in moment.marks}
    return [f"{mark} {meaning}" for mark, meaning in LEGEND.items() if mark in used]


def sequence_table(trace: Trace, moments: Sequence[Moment], *, width: int = 120) -> Table:
    """The diagram for a terminal: a column for each actor, or where they are too many one for all.

    Args:
        width: the terminal's, in characters.
    """
    table = Table(
        title=Text(title_of(trace)),
        box=None,
        pad_edge=False,
        header_style="bold",
        title_justify="left",
    )
    actors = actors_of(moments)
    together = len(actors) * _NARROWEST > width - 30
    table.add_column("line", justify="right", style="dim")
    table.add_column("branch", style="dim")
    for actor in ["actor", "event"] if together else actors:
        table.add_column(Text(printable(actor)), overflow="fold")
    table.add_column("")
    for moment in moments:
        style = "bold red" if moment.broken else "bold yellow" if moment.marks else ""
        said = Text(printable(moment.text), style=style)
        if together:
            cells = [Text(printable(moment.actor)), said]
        else:
            cells = [said if actor == moment.actor else Text("│", style="dim") for actor in actors]
        table.add_row(
            str(moment.line), Text(printable(moment.branch)), *cells, Text(moment.verdict, style=style)
        )
    return table
