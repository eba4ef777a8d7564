"""``resume-contract trace show``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resume_contract.commands.trace.options import TornOption
from resume_contract.errors import require
from resume_contract.verdicts import verdict_lines

if TYPE_CHECKING:
    from trace_check.checker import Verdict

__all__ = ["show_command"]

PICTURES = ("svg", "png")


def show_command(
    file: Annotated[Path, typer.Argument(help="A trace.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw it to this .svg or .png file.")
    ] = None,
    check: Annotated[bool, typer.Option(help="Check it, and mark the events at which clauses break.")] = True,
    allow_torn: TornOption = False,
) -> None:
    """Show a trace as a sequence diagram."""
    from resume_contract.sequence import draw_sequence, moments_of, sequence_table
    from resume_contract.tables import print_table
    from trace_check.checker import check_file
    from trace_check.reader import read_trace

    if output is not None:
        require(output.suffix.removeprefix("."), f"file {output}: format", PICTURES)
    trace = read_trace(file, allow_torn=allow_torn)
    verdict = check_file(file, allow_torn=allow_torn) if check else None
    moments = moments_of(trace, _broken(verdict) if verdict else None)
    if output is not None:
        draw_sequence(trace, moments, output)
        typer.echo(str(output))
        return
    print_table(sequence_table(trace, moments))
    if verdict is not None:
        typer.echo("\n".join(["", *verdict_lines(verdict)]))


def _broken(verdict: Verdict) -> dict[int, tuple[str, ...]]:
    """Position of an event, from 0 -> the clauses that break there.  Verdicts count events from 1."""
    found: dict[int, list[str]] = {}
    for broken in verdict.clauses:
        found.setdefault(broken.event - 1, []).append(broken.clause)
    return {at: tuple(names) for at, names in found.items()}
