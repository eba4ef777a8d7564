"""``resume-contract conform``."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resume_contract.commands.options import JobsOption, JsonOption
from resume_contract.errors import CHECKED, COULD_NOT_CHECK, DIFFERS, ResumeContractError, require
from resume_contract.progress import status_line
from resume_contract.tables import print_table
from resume_contract.writing import require_folder, write_json, write_text

if TYPE_CHECKING:
    from resume_contract.conforming import Conformance

__all__ = ["conform_command"]


def conform_command(
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            "-s",
            help="Systems, or module:class of recorders of yours; all without it. Several times if wanted.",
        ),
    ] = None,
    store: Annotated[list[str] | None, typer.Option("--store", help="Stores; all without it.")] = None,
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", help="Scenarios; all without it.")
    ] = None,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Record nothing: check the kept traces again, without any framework."),
    ] = False,
    races: Annotated[bool, typer.Option("--races", help="Fill the concurrency table as well.")] = False,
    races_only: Annotated[
        bool, typer.Option("--races-only", help="Fill the concurrency table and record nothing else.")
    ] = False,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="How often each scenario is recorded.")] = 1,
    jobs: JobsOption = None,
    results: Annotated[Path, typer.Option("--results", help="The results to compare with.")] = Path(
        "results"
    ),
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            help="Keep the traces, conformance.json, .md and .png here, whatever was kept before.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Record what frameworks do on resume, check it, and compare the verdicts with those that are kept."""
    from pymodel.engine.explorer import available_workers
    from resume_contract.conformance_report import (
        draw_conformance,
        draw_races,
        findings_table,
        markdown,
    )
    from resume_contract.conforming import ATLAS, check_stored, compare, conform, judged_again, keep
    from trace_check.conformance.atlas import read_atlas
    from trace_check.recording.system import SYSTEMS, load_system

    own = [name for name in system or [] if ":" in name]
    for name in system or []:
        if name in own:
            load_system(name)
        else:
            require(name, "system", [*SYSTEMS, "module:class"])
    if stored and (system or store or scenario or races or races_only or repeat > 1):
        raise ResumeContractError(
            "--stored checks all kept traces: give no option that chooses what to record"
        )
    if write is not None:
        if scenario:
            raise ResumeContractError("--write keeps whole systems: leave --scenario out")
        require_folder(write)
    # before an hour is spent: is there anything to compare with?
    only_own = bool(own) and own == system and not (results / ATLAS).exists()
    kept = None if write is not None or stored or only_own else read_atlas(results / ATLAS)
    if write is not None and not stored and (write / ATLAS).exists():
        read_atlas(write / ATLAS)  # what is not recorded now stays as it is kept there
    with tempfile.TemporaryDirectory(prefix="conform-") as name, status_line("conformance") as report:
        if stored:
            result = check_stored(results, jobs or available_workers(), report)
        else:
            result = conform(
                Path(name),
                systems=system or [],
                stores=store or [],
                scenarios=scenario or [],
                repeat=repeat,
                races=races or races_only,
                only_races=races_only,
                jobs=jobs or available_workers(),
                report=report,
            )
            if kept is not None:
                compare(result, kept)
        refusal = _not_to_keep(result, write) if stored and write is not None else None
        if write is not None and refusal is None:
            if stored:
                atlas = judged_again(result, results)
                result.differences.clear()
            else:
                atlas = keep(result, write, system or list(SYSTEMS))
            write_json(write / "conformance.json", atlas.to_json())
            write_text(write / "conformance.md", markdown(atlas))
            draw_conformance(atlas, write / "conformance.png")
            if atlas.races:
                draw_races(atlas, write / "races.png")
    if as_json:
        typer.echo(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
    else:
        print_table(findings_table(result), whole_lines=True)
        typer.echo(result.closing_line(stored=stored))
    for line in result.differences + result.mistaken:
        typer.echo(f"difference: {line}", err=True)
    for left in result.not_recorded:
        typer.echo(f"not recorded: {left.label}: {left.reason}", err=True)
    for found in result.unchecked:
        typer.echo(f"unchecked: {found.trace}: {found.error}", err=True)
    for line in result.unread:
        typer.echo(f"unchecked: {line}", err=True)
    if refusal is not None:
        raise ResumeContractError(refusal)
    if result.unchecked or result.unread:
        raise typer.Exit(COULD_NOT_CHECK)
    if result.differences or result.mistaken:
        raise typer.Exit(DIFFERS)
    raise typer.Exit(COULD_NOT_CHECK if result.not_recorded else CHECKED)


def _not_to_keep(result: Conformance, write: Path) -> str | None:
    """Why the verdicts on kept traces are not to replace those of before; None if they may."""
    left = len(result.unchecked) + len(result.unread) + len(result.mistaken)
    if not left:
        return None
    traces = (
        "1 kept trace has no verdict or is" if left == 1 else f"{left} kept traces have no verdict or are"
    )
    return (
        f"{write}: not written, as {traces} not what the atlas names: mend them, or record the systems again"
    )
