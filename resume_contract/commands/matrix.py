"""``resume-contract matrix``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from resume_contract.commands.options import (
    EngineOption,
    HeapOption,
    JarOption,
    JavaOption,
    JobsOption,
    JsonOption,
    TimeoutOption,
    engines_of,
)
from resume_contract.errors import CHECKED, COULD_NOT_CHECK, DIFFERS
from resume_contract.progress import status_line
from resume_contract.tables import print_table
from resume_contract.writing import require_folder, write_json, write_text

__all__ = ["matrix_command"]


def matrix_command(
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", "-f", help="Faults; all without it. May be given several times."),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option("--path", "-p", help="interrupt, crash or fork; may be given several times."),
    ] = None,
    engine: EngineOption = "both",
    jobs: JobsOption = None,
    as_json: JsonOption = False,
    write: Annotated[
        Path | None,
        typer.Option("--write", help="Write matrix.json, matrix.md and matrix.png to this folder."),
    ] = None,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Examine every fault on every recovery path: which clauses does it break?"""
    from pymodel.engine.explorer import available_workers
    from pymodel.resume.model import FAULTS
    from resume_contract.matrix_report import draw_matrix, matrix_markdown, matrix_table
    from separating_models.by_tlc import Tlc
    from separating_models.matrix import REFERENCE, fill_matrix
    from separating_models.paths import PATHS

    engines = engines_of(engine)
    if write is not None:
        require_folder(write)
    with status_line("the fault matrix") as report:
        matrix = fill_matrix(
            [*dict.fromkeys(fault or FAULTS), REFERENCE],
            list(dict.fromkeys(path or PATHS)),
            engines,
            jobs=jobs or available_workers(),
            tlc=Tlc(tlc_jar, java, heap, timeout),
            on_done=lambda name, done, of: report(f"{done} of {of}, {name}"),
        )
    if as_json:
        typer.echo(json.dumps(matrix.to_json(), indent=2, ensure_ascii=False))
    else:
        print_table(matrix_table(matrix))
    for line in matrix.disagreements:
        typer.echo(f"difference: {line}", err=True)
    for line in matrix.failures:
        typer.echo(f"error: {line}", err=True)
    if write is not None and not matrix.failures:
        draw_matrix(matrix, write / "matrix.png")
        write_text(write / "matrix.md", matrix_markdown(matrix))
        write_json(write / "matrix.json", matrix.to_json())
    if matrix.failures:
        raise typer.Exit(COULD_NOT_CHECK)
    raise typer.Exit(DIFFERS if matrix.disagreements else CHECKED)
