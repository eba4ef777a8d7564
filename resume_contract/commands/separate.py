"""``resume-contract separate``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from resume_contract.commands.options import (
    HeapOption,
    JarOption,
    JavaOption,
    JobsOption,
    JsonOption,
    TimeoutOption,
)
from resume_contract.errors import CHECKED, DIFFERS, require
from resume_contract.progress import Report, status_line
from resume_contract.tables import print_table
from resume_contract.writing import require_folder, write_json, write_text

__all__ = ["separate_command"]


def separate_command(
    clauses: Annotated[
        list[str] | None, typer.Argument(help="Clauses to separate (PC, EO, …); all without it.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the models that are kept instead of searching anew.")
    ] = False,
    lattice: Annotated[
        bool, typer.Option(help="Decide all 128 sets of safety clauses, too (only when writing).")
    ] = True,
    tlc_states: Annotated[
        int, typer.Option(min=0, help="The most states of a set's model that TLC is asked about.")
    ] = 100_000,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", help="Write independence.json, .md and lattice.png to this folder, and the models."
        ),
    ] = None,
    models: Annotated[
        Path | None, typer.Option("--models", help="Where the models are kept.", show_default=False)
    ] = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Find for each clause a minimal model that breaks it alone, and verify it by both engines."""
    from pymodel.engine.explorer import available_workers
    from pymodel.resume.clauses import CLAUSES
    from resume_contract.independence_report import draw_lattice, independence_markdown, models_table
    from separating_models.by_tlc import Tlc
    from separating_models.independence import Checked, Independence, decide_lattice, verify_all
    from separating_models.models import FOLDER, liveness_models, put_models, read_models, separating_model
    from separating_models.search import find_separating

    for clause in clauses or ():
        require(clause, "clause", CLAUSES)
    wanted = tuple(clause for clause in CLAUSES if not clauses or clause in clauses)
    folder = models or FOLDER
    if write is not None:
        require_folder(write)
        require_folder(folder)
    tools = Tlc(tlc_jar, java, heap, timeout)
    workers = jobs or available_workers()

    if verify:
        kept = [
            model
            for model in read_models(folder)
            if not clauses or (not model.live and set(model.broken) <= set(wanted))
        ]
        with status_line("verifying") as report:
            result = Independence(
                {}, verify_all(kept, folder, jobs=workers, tlc=tools, on_done=_told(report))
            )
    else:
        with status_line("searching separating models") as report:
            found = find_separating(
                wanted, on_size=lambda size, done: report(f"{done:,} configurations, now {size}")
            )
        made = [separating_model(each) for each in found.values()]
        if not clauses:
            made += liveness_models()
        with status_line("verifying") as report:
            verified = verify_all(made, jobs=workers, tlc=tools, on_done=_told(report))
        sets: tuple[Checked, ...] = ()
        if write is not None and lattice and not clauses:
            with status_line("deciding the lattice") as report:
                sets = decide_lattice(jobs=workers, tlc=tools, tlc_states=tlc_states, on_done=_told(report))
        result = Independence(found, verified, sets)
    if as_json:
        typer.echo(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
    else:
        print_table(models_table(result))
        if result.lattice:
            count = sum(each.element.found is not None for each in result.lattice)
            typer.echo(f"{count} of {len(result.lattice)} sets of safety clauses are realised")
    missing = [clause for clause in wanted if not verify and clause not in result.found]
    for clause in missing:
        typer.echo(f"difference: {clause}: no configuration that was searched separates it", err=True)
    if write is not None and not verify and not missing:
        put_models(made, folder)
        if result.lattice:
            draw_lattice(result, write / "lattice.png")
        if not clauses:
            write_text(write / "independence.md", independence_markdown(result))
            write_json(write / "independence.json", result.to_json())
    raise typer.Exit(DIFFERS if missing else CHECKED)


def _told(report: Report) -> Callable[[str, int, int], None]:
    return lambda name, done, of: report(f"{done} of {of}, {name}")
