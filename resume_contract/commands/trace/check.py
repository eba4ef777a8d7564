"""``resume-contract trace check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.commands.trace.options import TornOption
from resume_contract.errors import COULD_NOT_CHECK
from resume_contract.progress import status_line
from resume_contract.trace_files import trace_files
from resume_contract.verdicts import verdict_lines

__all__ = ["check_command"]


def check_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Traces, or folders of them.")],
    as_json: JsonOption = False,
    allow_torn: TornOption = False,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=1, help="How many states the search may look at for one trace."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Accept the violations that this file lists."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline",
            metavar="FILE",
            help="List the violations that were found, and those of --baseline, in this file.",
        ),
    ] = None,
) -> None:
    """Say of each trace whether the reference explains it, and if not, which clauses break where and why."""
    from resume_contract.baselines import Known
    from trace_check.checker import DEFAULT_BUDGET, check_file

    known = Known(baseline, allow_torn=allow_torn)
    verdicts = []
    for path in trace_files(files):
        with status_line(str(path)):
            verdicts.append(check_file(path, allow_torn=allow_torn, budget=budget or DEFAULT_BUDGET))
    known.hold_against(verdicts)
    if as_json:
        told = [verdict.to_json() | known.to_json(verdict) for verdict in verdicts]
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
    for verdict in verdicts:
        if verdict.exit_status == COULD_NOT_CHECK:
            typer.echo(f"error: {verdict.error}", err=True)
        elif not as_json:
            typer.echo("\n".join(verdict_lines(verdict) + known.lines_of(verdict)))
    for line in [] if as_json else known.closing_lines():
        typer.echo(line)
    if write_baseline is not None:
        known.write(write_baseline)
    raise typer.Exit(known.status())
