"""``resume-contract induction``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from resume_contract.commands.options import HeapOption, JarOption, JavaOption, JsonOption, TimeoutOption
from resume_contract.engines import OnProgress, Tools
from resume_contract.errors import COULD_NOT_CHECK
from resume_contract.induction import (
    CONJUNCTS,
    OBLIGATIONS,
    InductionReport,
    InductionRow,
    load_obligations,
    prove,
    select,
)
from resume_contract.progress import counts_text, status_line
from resume_contract.tables import print_table
from resume_contract.writing import require_folder, void, write_atomically, write_json

__all__ = ["induction_command"]


def induction_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Obligations of specs/induction.yaml; all without it.")
    ] = None,
    as_json: JsonOption = False,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write induction.json and induction.md to this folder.")
    ] = None,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
    timeout: TimeoutOption = None,
    obligations: Annotated[
        Path, typer.Option("--obligations", help="The list of the obligations.")
    ] = OBLIGATIONS,
) -> None:
    """Check the inductive invariant: initiation, consecution and safety, by TLC."""
    known = load_obligations(obligations)
    chosen = select(known, names or ())
    tools = Tools(jar=tlc_jar, java=java, heap=heap, timeout=timeout)
    if write is not None:
        require_folder(write)
    report = prove(known, chosen, tools, watch=_watch)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        _show(report)
    report.tell()
    if write is not None and report.exit_status != COULD_NOT_CHECK:
        write_json(write / "induction.json", report.to_json())
        text = _markdown(report)
        write_atomically(write / "induction.md", lambda part: void(part.write_text(text, encoding="utf-8")))
    raise typer.Exit(report.exit_status)


@contextmanager
def _watch(name: str) -> Iterator[OnProgress | None]:
    with status_line(name) as report:
        yield lambda counts: report(counts_text(counts))


_COLUMNS = ("obligation", "size", "states", "starts", "outcome", "seconds")


def _cells(row: InductionRow) -> tuple[str, ...]:
    violated = f" {row.violated} ({row.where})" if row.violated else ""
    return (
        row.obligation.name,
        row.obligation.size,
        row.obligation.method,
        "" if row.starts is None else f"{row.starts:,}",
        f"{row.outcome.name}{violated}",
        f"{row.seconds:.1f}",
    )


def _show(report: InductionReport) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name in ("starts", "seconds") else "left")
    for row in report.rows:
        cells = list(_cells(row))
        if report.is_unexpected(row):
            cells[4] = f"[red]{cells[4]}[/red]"
        table.add_row(*cells)
    print_table(table)
    for row in report.rows:
        if row.counterexample and report.is_unexpected(row):
            typer.echo(f"\n{row.obligation.name}: {row.message}\n{row.counterexample}")


def _markdown(report: InductionReport) -> str:
    """The same as pages: the obligations by kind, and what fails without each conjunct."""
    lines = [
        "# The inductive invariant",
        "",
        "Made by `resume-contract induction --write results`; what it means is in `docs/induction.md`.",
        "*Exhausted*: all states of that size that satisfy Ind, and one step from each. *Sampled*: some of them.",
        "",
        f"| {' | '.join(('kind', *_COLUMNS))} |",
        f"|{'---|' * (len(_COLUMNS) + 1)}",
    ]
    lines += [f"| {' | '.join((row.obligation.kind, *_cells(row)))} |" for row in report.rows]
    for row in report.rows:
        if row.fails is not None:
            lines += ["", f"Without one conjunct ({row.obligation.name}) there fails:", ""]
            lines += ["| without | in a start state | after a step |", "|---|---|---|"]
            for dropped in CONJUNCTS:
                fails = row.fails.get(dropped, {})
                start, step = (", ".join(fails.get(where, ())) or "nothing" for where in ("start", "step"))
                lines.append(f"| {dropped} | {start} | {step} |")
    if report.differences:
        lines += ["", "Not as expected:", "", *(f"- {line}" for line in report.differences)]
    return "\n".join(lines) + "\n"
