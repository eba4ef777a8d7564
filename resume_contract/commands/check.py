"""``resume-contract check``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from resume_contract.checking import CheckReport, check
from resume_contract.commands.options import (
    EngineOption,
    HeapOption,
    JarOption,
    JavaOption,
    JsonOption,
    ManifestOption,
    TimeoutOption,
    WorkersOption,
    engines_of,
)
from resume_contract.engines import OnProgress, Tools, tlc_command_of
from resume_contract.errors import COULD_NOT_CHECK
from resume_contract.manifest import MANIFEST, load_manifest
from resume_contract.progress import counts_text, status_line
from resume_contract.tables import check_table, print_table
from resume_contract.terminal import drawable
from resume_contract.writing import require_folder, write_json

__all__ = ["check_command"]


def check_command(
    models: Annotated[
        list[str] | None, typer.Argument(help="Models of the manifest; all without it.")
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option("--bound", "-b", help="small, base or scaled; may be given several times."),
    ] = None,
    engine: EngineOption = "both",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    expected: Annotated[bool, typer.Option(help="Hold the runs against what the manifest expects.")] = True,
    coverage: Annotated[bool, typer.Option(help="Let TLC count how often each action is taken.")] = True,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write bounds.json and bounds.png to this folder.")
    ] = None,
    print_command: Annotated[
        bool, typer.Option("--print-command", help="Print TLC's command lines and run nothing.")
    ] = False,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
    timeout: TimeoutOption = None,
    manifest: ManifestOption = MANIFEST,
) -> None:
    """Check models by TLC, by the mirror, and one against the other."""
    engines = engines_of(engine)
    known = load_manifest(manifest)
    chosen = known.select(models or (), bound or ())
    tools = Tools(
        jar=tlc_jar,
        java=java,
        heap=heap,
        workers=workers,
        coverage=coverage,
        levels=write is not None,
        timeout=timeout,
    )
    if print_command:
        for model in chosen:
            if "tlc" in model.engines:
                typer.echo(shlex.join(tlc_command_of(known, model, tools)))
        return
    if write is not None:
        require_folder(write)
    report = check(known, chosen, engines, tools, watch=_watch, expected=expected)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        _show(report)
    report.tell()
    if write is not None and report.exit_status != COULD_NOT_CHECK:
        _write(report, write)
    raise typer.Exit(report.exit_status)


@contextmanager
def _watch(name: str) -> Iterator[OnProgress | None]:
    with status_line(name) as report:
        yield lambda counts: report(counts_text(counts))


def _show(report: CheckReport) -> None:
    print_table(check_table(report.rows, report.is_unexpected))
    for row in report.rows:
        if row.counterexample and report.is_unexpected(row):
            typer.echo(f"\n{row.model} by {row.engine}: {row.message}\n{row.counterexample}")
    for reach in report.reach:
        typer.echo(reach.summary())
    if any(row.depth_is_upper_bound for row in report.rows):
        typer.echo(drawable("A depth with ≤ is an upper bound: TLC had several workers."))


def _write(report: CheckReport, folder: Path) -> None:
    from resume_contract.pictures import draw_bounds

    draw_bounds(report.rows, folder / "bounds.png")
    write_json(folder / "bounds.json", report.to_json())
