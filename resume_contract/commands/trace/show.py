"""``resume-contract trace show``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.commands.trace.options import BudgetOption, TornOption
from resume_contract.errors import ResumeContractError, require
from resume_contract.progress import status_line
from resume_contract.trace_inputs import TraceInputs, sources
from resume_contract.verdicts import verdict_lines
from resume_contract.writing import require_output
from trace_check.printing import printable

if TYPE_CHECKING:
    from resume_contract.sequence import Moment
    from trace_check.candidates import Candidates
    from trace_check.checker import Verdict
    from trace_check.reader import Trace

__all__ = ["show_command"]

PICTURES = ("svg", "png")


def show_command(
    file: Annotated[str, typer.Argument(help="A trace, or - for standard input.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw it to this .svg or .png file.")
    ] = None,
    check: Annotated[
        bool, typer.Option(help="Check it, mark what the verdict is about, and list the candidate states.")
    ] = True,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="Show only this workflow instance.")
    ] = None,
    budget: BudgetOption = None,
    as_json: JsonOption = False,
    allow_torn: TornOption = False,
) -> None:
    """Show a trace as a sequence diagram."""
    from resume_contract.sequence import mark_moments, moments_of
    from trace_check.reader import read_trace

    if output is not None:
        require(output.suffix.removeprefix("."), f"file {output}: format", PICTURES)
        require_output(output, sources([file]))
    with TraceInputs([file], folders=False) as inputs:
        trace = inputs.trace(read_trace(inputs.paths[0], allow_torn=allow_torn))
    verdict, candidates = None, None
    if check:
        with status_line(f"checking {file}"):
            verdict, candidates = _checked(trace, budget)
    moments = moments_of(trace)
    if verdict is not None:
        moments = mark_moments(moments, verdict)
    numbers = list(range(1, len(moments) + 1))
    if thread is not None:
        moments, numbers = _of_thread(trace, moments, thread)
        if candidates is not None and candidates.event not in numbers:
            candidates = None
    if output is not None:
        _draw(trace, moments, numbers, verdict, candidates, output)
        if not as_json:
            typer.echo(str(output))
    if as_json:
        typer.echo(
            json.dumps(_told(file, moments, numbers, verdict, candidates), indent=2, ensure_ascii=False)
        )
    elif output is None:
        _print(trace, moments, verdict, candidates)


def _checked(trace: Trace, budget: int | None) -> tuple[Verdict, Candidates | None]:
    """The verdict, and the candidate states before what it can't explain."""
    from pymodel.errors import EngineError
    from trace_check.candidates import candidates_before
    from trace_check.checker import DEFAULT_BUDGET, Verdict, check_trace
    from trace_check.errors import TraceError

    try:
        most = DEFAULT_BUDGET if budget is None else budget
        verdict = check_trace(trace, budget=most)
        first = verdict.first_unexplained
        return verdict, None if first is None else candidates_before(trace, first, budget=most)
    except (TraceError, EngineError) as error:  # it can be shown all the same
        return Verdict(str(trace.path), "unchecked", error=str(error)), None


def _of_thread(trace: Trace, moments: list[Moment], name: str) -> tuple[list[Moment], list[int]]:
    """The moments of a thread, and the numbers of their events."""
    from dataclasses import replace

    places = [at for at, event in enumerate(trace.events) if event.thread == name]
    if not places:
        known = list(dict.fromkeys(event.thread for event in trace.events))
        listed = ", ".join(known[:10]) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
        raise ResumeContractError(f"{trace.path}: thread {name} is unknown: one of {listed}")
    index = {at: new for new, at in enumerate(places)}
    chosen = [moments[at] for at in places]
    moved = [one if one.begin is None else replace(one, begin=index[one.begin]) for one in chosen]
    return moved, [at + 1 for at in places]


def _lines(verdict: Verdict) -> list[str]:
    if verdict.error:
        return [printable(f"{verdict.file}: unchecked"), printable(f"  {verdict.error}")]
    return verdict_lines(verdict)


def _draw(
    trace: Trace,
    moments: list[Moment],
    numbers: list[int],
    verdict: Verdict | None,
    candidates: Candidates | None,
    output: Path,
) -> None:
    from resume_contract.sequence_picture import draw_sequence

    notes = [] if verdict is None else _lines(verdict)
    hover: dict[int, str] = {}
    if candidates is not None:
        notes += ["", *candidates.lines()]
        hover[numbers.index(candidates.event)] = "\n".join(candidates.lines(most=3))
    if verdict is not None and (first := verdict.first_unexplained) is not None and first.event in numbers:
        at = numbers.index(first.event)
        lacks = f"the closest action is {first.closest}; what it lacks: {first.condition}"
        hover[at] = "\n".join([lacks, *([hover[at]] if at in hover else [])])
    draw_sequence(trace, moments, output, notes=notes, hover=hover)


def _print(
    trace: Trace, moments: list[Moment], verdict: Verdict | None, candidates: Candidates | None
) -> None:
    from resume_contract.sequence import legend_of, sequence_table
    from resume_contract.tables import print_table, table_width
    from resume_contract.terminal import drawable

    print_table(sequence_table(trace, moments, width=table_width()))
    if legend := legend_of(moments):
        typer.echo(drawable("\n" + "; ".join(legend)))
    if candidates is not None:
        typer.echo("\n".join(["", *candidates.lines()]))
    if verdict is not None:
        typer.echo("\n".join(["", *_lines(verdict)]))


def _told(
    file: str,
    moments: list[Moment],
    numbers: list[int],
    verdict: Verdict | None,
    candidates: Candidates | None,
) -> dict[str, object]:
    events = [{"event": number, **asdict(moment)} for number, moment in zip(numbers, moments, strict=True)]
    for event in events:
        begin = event.pop("begin")
        event["begun_by"] = None if begin is None else numbers[begin]
    return {
        "file": file,
        "events": events,
        "verdict": None if verdict is None else verdict.to_json(),
        "candidates": None
        if candidates is None
        else {"event": candidates.event, "states": [list(state) for state in candidates.states]},
    }
