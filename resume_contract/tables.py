"""Tables for the terminal; piped they have a fixed width."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table

from resume_contract.rows import Row
from resume_contract.terminal import drawable

__all__ = ["check_table", "print_table", "table_width"]

PIPED_WIDTH = 120
_ENDLESS = 100_000


def print_table(table: RenderableType, *, whole_lines: bool = False) -> None:
    """Print to standard output; nothing is cut off where that is no terminal.

    Args:
        table: the table.
        whole_lines: where that is no terminal, take the width that it needs to break no line.
    """
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
        if whole_lines:
            endless = console.options.update(width=_ENDLESS)
            needed = Measurement.get(console, endless, table).maximum
            console = Console(highlight=False, width=max(PIPED_WIDTH, needed))
    with console.capture() as drawn:
        console.print(table)
    sys.stdout.write(drawable(drawn.get()))
    sys.stdout.flush()  # what is printed next may go another way


def table_width() -> int:
    """The width that a table has, in characters."""
    console = Console()
    return console.width if console.is_terminal else PIPED_WIDTH


def check_table(rows: Iterable[Row], is_unexpected: Callable[[Row], bool]) -> Table:
    """One line a run; those that are not as expected stand out."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "bound", "engine", "outcome"):
        table.add_column(name)
    for name in ("distinct", "generated", "depth", "seconds", "states/s"):
        table.add_column(name, justify="right")
    for row in rows:
        outcome = f"{row.outcome} {row.violated or ''}".strip()
        depth = "" if row.depth is None else f"{'≤ ' if row.depth_is_upper_bound else ''}{row.depth}"
        table.add_row(
            row.model,
            row.bound,
            row.engine,
            f"[red]{outcome}[/red]" if is_unexpected(row) else outcome,
            _count(row.distinct),
            _count(row.generated),
            depth,
            f"{row.seconds:.2f}",
            _count(row.states_per_second),
        )
    return table


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"
