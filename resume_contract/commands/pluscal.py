"""``resume-contract pluscal``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from resume_contract.commands.options import (
    EngineOption,
    HeapOption,
    JarOption,
    JavaOption,
    JsonOption,
    TimeoutOption,
    engines_of,
)
from resume_contract.engines import OnProgress, Tools
from resume_contract.errors import CHECKED
from resume_contract.progress import counts_text, status_line
from resume_contract.writing import require_folder

__all__ = ["pluscal_command"]


def pluscal_command(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Models or algorithms of specs/pluscal/manifest.yaml; all without it."),
    ] = None,
    engine: EngineOption = "both",
    as_json: JsonOption = False,
    coverage: Annotated[bool, typer.Option(help="Let TLC count how often each label is taken.")] = True,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write claim-gate.json and claim-gate.md to this folder.")
    ] = None,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
    timeout: TimeoutOption = None,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", help="Another manifest than specs/pluscal/manifest.yaml.")
    ] = None,
) -> None:
    """Check the PlusCal algorithms: their translations, and their models by TLC and by their mirrors."""
    from resume_contract.pluscal.checking import check
    from resume_contract.pluscal.claim_gate import require_all, write_claim_gate
    from resume_contract.pluscal.manifest import MANIFEST, load_manifest
    from resume_contract.pluscal.tables import pluscal_table, print_wide

    engines = engines_of(engine)
    known = load_manifest(manifest or MANIFEST)
    chosen = known.select(models or ())
    if write is not None:
        require_all(known, chosen, engines)
        require_folder(write)
    tools = Tools(jar=tlc_jar, java=java, heap=heap, coverage=coverage, timeout=timeout)
    report = check(known, chosen, engines, tools, watch=_watch)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        print_wide(pluscal_table(report))
    report.tell()
    if write is not None and report.exit_status == CHECKED:
        write_claim_gate(known, report, write)
    raise typer.Exit(report.exit_status)


@contextmanager
def _watch(name: str) -> Iterator[OnProgress | None]:
    with status_line(name) as report:
        yield lambda counts: report(counts_text(counts))
