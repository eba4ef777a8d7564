"""``resume-contract trace``: record, check and show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.errors import CHECKED, COULD_NOT_CHECK, DIFFERS, ResumeContractError, require
from resume_contract.progress import status_line
from trace_check.errors import TraceError

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
    from trace_check.recording import SCENARIOS, record
    from trace_check.recording.system import load_system

    load_system(system).version()  # before anything runs: an unknown or a missing framework
    for name in scenarios:
        require(name, "scenario", [*SCENARIOS, ALL])
    for name in SCENARIOS if ALL in scenarios else scenarios:
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
        typer.echo(json.dumps(verdicts, indent=2, ensure_ascii=False))
    for verdict in verdicts:
        if verdict["verdict"] == "unchecked":
            typer.echo(f"error: {verdict['error']}", err=True)
        elif not as_json:
            typer.echo("\n".join(_lines(verdict)))
    raise typer.Exit(max(_STATUS[verdict["verdict"]] for verdict in verdicts))


_STATUS = {"conforms": CHECKED, "violates": DIFFERS, "unchecked": COULD_NOT_CHECK}


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


def _checked(path: Path, allow_torn: bool, budget: int | None) -> dict[str, Any]:
    """The checker's verdict on one file as JSON-ready data; a file that cannot be read is "unchecked"."""
    from trace_check.checker import check_file

    options: dict[str, Any] = {} if budget is None else {"budget": budget}
    try:
        verdict: dict[str, Any] = check_file(path, allow_torn=allow_torn, **options).to_json()
    except (TraceError, OSError) as error:
        from resume_contract.errors import explain

        verdict = {
            "file": str(path),
            "verdict": "unchecked",
            "clauses": [],
            "explanations": [],
            "unmodelled": [],
            "first_unexplained": None,
            "hidden_steps": 0,
            "exercised": {},
            "error": explain(error),
        }
    return verdict


def _broken(verdict: dict[str, Any]) -> dict[int, tuple[str, ...]]:
    """Position of an event, from 0 -> the clauses that break there.  Verdicts count events from 1."""
    found: dict[int, list[str]] = {}
    for clause in verdict["clauses"]:
        if clause["event"] is not None:
            found.setdefault(clause["event"] - 1, []).append(clause["clause"])
    return {at: tuple(names) for at, names in found.items()}


def _lines(verdict: dict[str, Any]) -> list[str]:
    """A verdict for people."""
    lines = [f"{verdict['file']}: {verdict['verdict']}"]
    if verdict["verdict"] == "unchecked":
        return [f"{lines[0]} ({verdict['error']})"]
    for clause in verdict["clauses"]:
        certainty = "certainly" if clause["certain"] else "possibly"
        lines.append(f"  {clause['clause']} is {certainty} broken, at event {clause['event']}")
    for faults in verdict["explanations"]:
        if faults:
            lines.append(f"  explained by {' and '.join(faults)}")
    first = verdict.get("first_unexplained")
    if first:
        lines.append(f"  the reference explains it up to line {first['line']}, event {first['event']}")
        if first.get("closest"):
            lines.append(
                f"    closest action: {first['closest']}; {first.get('condition') or 'no condition is known'}"
            )
    if verdict.get("unmodelled"):
        lines.append(f"  outside of the model: {', '.join(map(str, verdict['unmodelled']))}")
    return lines
