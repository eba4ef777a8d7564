"""``resume-contract trace``: record, check and show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.errors import COULD_NOT_CHECK, ResumeContractError, require
from resume_contract.progress import status_line

if TYPE_CHECKING:
    from trace_check.checker import Verdict

__all__ = ["app"]

app = typer.Typer(
    help="Record traces of a framework, check them against the reference, and show them.",
    rich_markup_mode=None,
)

ALL = "all"
ENDINGS = (".jsonl", ".jsonl.gz")
PICTURES = ("svg", "png")

TornOption = Annotated[
    bool,
    typer.Option(
        "--allow-torn", help="Leave out a last line that was cut short, instead of refusing the file."
    ),
]


@app.command("record")
def record_command(
    system: Annotated[str, typer.Argument(help="A system, such as langgraph, or module:class.")],
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...", help='Scenarios, or "all".')],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of traces.")] = Path(
        "results/traces"
    ),
) -> None:
    """Run a workflow on a framework, kill and resume it as a scenario says, and keep the trace."""
    from trace_check.recording import record
    from trace_check.recording.system import load_system

    found = load_system(system)
    found.version()  # before anything runs: an unknown or a missing framework
    known = found.scenarios()
    for name in scenarios:
        require(name, "scenario", [*known, ALL])
    for name in known if ALL in scenarios else scenarios:
        with status_line(f"recording {name} on {system}"):
            path = record(system, name, output)
        typer.echo(str(path))


@app.command("check")
def check_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Traces, or folders of them.")],
    as_json: JsonOption = False,
    allow_torn: TornOption = False,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=1, help="How many states the search may look at for one trace."),
    ] = None,
) -> None:
    """Say of each trace whether the reference explains it, and if not, which clauses break where and why."""
    verdicts = []
    for path in _files(files):
        with status_line(str(path)):
            verdicts.append(_checked(path, allow_torn, budget))
    if as_json:
        typer.echo(json.dumps([verdict.to_json() for verdict in verdicts], indent=2, ensure_ascii=False))
    for verdict in verdicts:
        if verdict.exit_status == COULD_NOT_CHECK:
            typer.echo(f"error: {verdict.error}", err=True)
        elif not as_json:
            typer.echo("\n".join(_lines(verdict)))
    raise typer.Exit(max(verdict.exit_status for verdict in verdicts))


@app.command("show")
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
    from trace_check.reader import read_trace

    if output is not None:
        require(output.suffix.removeprefix("."), f"file {output}: format", PICTURES)
    trace = read_trace(file, allow_torn=allow_torn)
    verdict = _checked(file, allow_torn, None) if check else None
    moments = moments_of(trace, _broken(verdict) if verdict else None)
    if output is not None:
        draw_sequence(trace, moments, output)
        typer.echo(str(output))
        return
    print_table(sequence_table(trace, moments))
    if verdict is not None:
        typer.echo("\n".join(["", *_lines(verdict)]))


def _files(paths: Sequence[Path]) -> list[Path]:
    """The traces: files as they are, and for a folder all in it.

    Raises:
        ResumeContractError: a folder without traces.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.name.endswith(ENDINGS) and file.is_file())
        if not inside:
            raise ResumeContractError(f"{path}: no file in it ends in {' or '.join(ENDINGS)}: name a trace")
        found += inside
    return found


def _checked(path: Path, allow_torn: bool, budget: int | None) -> Verdict:
    """The checker's verdict on one file; one that cannot be read is "unchecked"."""
    from trace_check.checker import DEFAULT_BUDGET, check_file

    return check_file(path, allow_torn=allow_torn, budget=budget or DEFAULT_BUDGET)


def _broken(verdict: Verdict) -> dict[int, tuple[str, ...]]:
    """Position of an event, from 0 -> the clauses that break there.  Verdicts count events from 1."""
    found: dict[int, list[str]] = {}
    for broken in verdict.clauses:
        found.setdefault(broken.event - 1, []).append(broken.clause)
    return {at: tuple(names) for at, names in found.items()}


def _lines(verdict: Verdict) -> list[str]:
    """A verdict for people."""
    lines = [f"{verdict.file}: {verdict.verdict}"]
    for broken in verdict.clauses:
        certainty = "certainly" if broken.certain else "possibly"
        lines.append(f"  {broken.clause} is {certainty} broken, at event {broken.event}")
    lines += [f"  explained by {' and '.join(faults)}" for faults in verdict.explanations if faults]
    first = verdict.first_unexplained
    if first is not None:
        lines.append(
            f"  the first event that the reference cannot explain: {first.event}, {first.kind}, line {first.line}"
        )
        lines.append(f"    the closest action is {first.closest}; what it lacks: {first.condition}")
    if verdict.unmodelled:
        lines.append(f"  explained by no set of faults: event {', '.join(map(str, verdict.unmodelled))}")
    if verdict.verdict == "conforms":
        clauses = ", ".join(verdict.exercised) or "no clause, so it is no evidence"
        lines.append(f"  puts to a test: {clauses}; steps supposed: {verdict.hidden_steps}")
    lines += [f"  warning: {warning}" for warning in verdict.warnings]
    return lines
