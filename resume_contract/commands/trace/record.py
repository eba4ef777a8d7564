"""``resume-contract trace record``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from resume_contract.errors import COULD_NOT_CHECK, ResumeContractError, require
from resume_contract.errors import explain as explain_error
from resume_contract.progress import status_line
from resume_contract.writing import require_folder

__all__ = ["record_command"]

ALL = "all"


def record_command(
    system: Annotated[str, typer.Argument(help="A system, such as langgraph, or module:class.")],
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...", help='Scenarios, or "all".')],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder that the traces are written to.")
    ] = Path("traces"),
    store: Annotated[
        str | None, typer.Option("--store", help="One of the system's stores; its first without it.")
    ] = None,
    sink: Annotated[
        str | None, typer.Option("--sink", help="plain or keyed; the scenario's own without it.")
    ] = None,
) -> None:
    """Run a workflow on a framework, kill and resume it as a scenario says, and keep the trace."""
    from trace_check.errors import RecordingError
    from trace_check.recording import record
    from trace_check.recording.system import load_system

    if sink is not None:
        require(sink, "sink", ["plain", "keyed"])
    found = load_system(system, store)
    found.version()  # before anything runs: an unknown or a missing framework
    known = found.scenarios()
    for name in scenarios:
        if name not in (*known, ALL) and (why := found.why_not(name)) is not None:
            raise ResumeContractError(f"{why}; leave it out")
        require(name, "scenario", [*known, ALL])
    if not known:
        raise ResumeContractError(
            f"system {system}: no scenario is applicable to it: there is nothing to record"
        )
    require_folder(output)
    failed = 0
    for name in known if ALL in scenarios else dict.fromkeys(scenarios):
        try:
            with status_line(f"recording {name} on {system}"):
                path = record(system, name, output, store=store, sink=cast(Any, sink))
        except RecordingError as error:  # the others may be had all the same
            failed += 1
            typer.echo(f"error: {name}: {explain_error(error)}", err=True)
        else:
            typer.echo(str(path))
    if failed:
        raise typer.Exit(COULD_NOT_CHECK)
