"""The table of PlusCal runs on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from resume_contract.pluscal.checking import PlusCalReport

__all__ = ["pluscal_table", "print_wide"]

PIPED_WIDTH = 170


def print_wide(table: Table) -> None:
    """Print to standard output; nothing is cut off or wrapped where that is no terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    console.print(table)


def pluscal_table(report: PlusCalReport) -> Table:
    """One line a run; those that are not as expected stand out."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "engine", "outcome", "fails at", "most"):
        table.add_column(name, overflow="fold")
    for name in ("distinct", "generated", "depth", "seconds"):
        table.add_column(name, justify="right")
    for run in report.runs:
        outcome = run.outcome
        table.add_row(
            run.model,
            run.engine,
            f"[red]{outcome}[/red]" if report.is_unexpected(run) else outcome,
            ", ".join(f"{name} {depth or '∞'}" for name, depth in run.fails.items()),
            ", ".join(f"{name} {number}" for name, number in run.most.items()),
            *("" if number is None else f"{number:,}" for number in (run.distinct, run.generated, run.depth)),
            f"{run.seconds:.2f}",
        )
    return table
