"""``resume-contract trace trials``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.progress import status_line

if TYPE_CHECKING:
    from trace_check.trials.running import Trials

__all__ = ["trials_command"]

RESULTS = Path("results")


def trials_command(
    count: Annotated[
        int, typer.Option("--count", min=1, help="How many behaviours of the reference, and with faults.")
    ] = 300,
    first: Annotated[int, typer.Option("--first", min=0, help="The seed of the first.")] = 0,
    write: Annotated[
        bool, typer.Option("--write", help="Write results/checker-trials.json and .md.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Put the checker to the test: random behaviours of the model, with and without faults, as traces."""
    from resume_contract.writing import require_folder, write_json, write_text
    from trace_check.trials.running import run_trials

    if write:
        require_folder(RESULTS)
    with status_line("trials") as report:
        trials = run_trials(count, first=first, report=report)
    if write:
        write_json(RESULTS / "checker-trials.json", trials.to_json())
        write_text(RESULTS / "checker-trials.md", "\n".join(_page(trials)) + "\n")
    if as_json:
        typer.echo(json.dumps(trials.to_json(), indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_page(trials)))
    raise typer.Exit(1 if trials.error_count else 0)


def _page(trials: Trials) -> list[str]:
    """The outcome as Markdown."""
    said = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(trials.reference.items()))
    faulty = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(trials.faulty.items()))
    lines = [
        "# Trials of the trace checker",
        "",
        f"Made by `resume-contract trace trials --count {trials.count} --write`.",
        "",
        f"**{trials.count:,} random behaviours of the reference**, with overlapping operations, kinds of events that go"
        f" unseen and operations without an end: {said}.",
        f"{trials.hidden:,} of them conform with steps that had to be supposed, {trials.pending:,} have an operation"
        " without an end.",
        "",
        f"**{trials.count:,} random behaviours with faults**, each fault in turn, three in ten with a second one:"
        f" {faulty}. {trials.smaller:,} are explained by fewer faults than were used.",
        "",
        f"**Errors** (a false alarm, a deviation that can be read off the lines and conforms, an explanation larger than"
        f" what was injected, an unmodelled event): {trials.error_count}.",
        *(f"- {error}" for error in trials.errors),
        *(
            ["", f"**Unchecked**, the first of them: {'; '.join(trials.unchecked)}."]
            if trials.unchecked
            else []
        ),
        "",
        "| fault | behaviours | rejected | plain in the lines | not to be seen | of these, a clause breaks | unchecked |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for fault, n in sorted(trials.by_fault.items()):
        lines.append(
            f"| `{fault}` | {n.behaviours} | {n.rejected} | {n.plain} | {n.unseen} | {n.unseen_broken} | {n.unchecked} |"
        )
    lines += [
        "",
        "*Not to be seen*: the reference has a behaviour that shows the very same events. The fault was used, and left no"
        " mark: an effect fired again by a process that dies before anybody hears of it, an answer that is lost and given"
        " again, a second claim that looks like a take-over.",
    ]
    return lines
