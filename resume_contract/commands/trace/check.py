"""``resume-contract trace check``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from resume_contract.commands.options import HeapOption, JarOption, JavaOption, JsonOption
from resume_contract.commands.trace.options import BudgetOption, TornOption
from resume_contract.errors import COULD_NOT_CHECK, ResumeContractError, require
from resume_contract.progress import status_line
from resume_contract.second_opinions import Opinions, SecondOpinions
from resume_contract.trace_inputs import TraceInputs, sources
from resume_contract.verdicts import verdict_lines
from resume_contract.writing import require_output
from trace_check.printing import printable

if TYPE_CHECKING:
    from trace_check.by_tlc import Tlc

__all__ = ["check_command"]


def check_command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Traces, folders of them, or - for standard input."),
    ],
    as_json: JsonOption = False,
    allow_torn: TornOption = False,
    budget: BudgetOption = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Accept the violations that this file lists."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline",
            metavar="FILE",
            help="List the violations that were found, and those of --baseline, in this file.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=1, help="Processes: for several traces, or the threads of a large one."
        ),
    ] = 1,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            "-e",
            help="mirror, tlc, both: TLC's is then a second opinion, or guided: TLC confirms the mirror's explanations.",
        ),
    ] = "mirror",
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="Seconds that a run of TLC may take; 300 by default.")
    ] = None,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
) -> None:
    """Say of each trace whether the reference explains it, and if not, which clauses break where and why."""
    from resume_contract.baselines import Known
    from trace_check.checker import DEFAULT_BUDGET
    from trace_check.streaming import check_files

    require(engine, "engine", ["mirror", "tlc", "both", "guided"])
    tlc = _tlc(tlc_jar, java, heap, timeout) if engine != "mirror" else None
    if tlc is not None and engine == "tlc" and not (baseline is None and write_baseline is None):
        raise ResumeContractError(
            "--baseline: TLC does not say at which event a clause breaks: leave out --engine tlc"
        )
    with TraceInputs(files) as inputs:
        if tlc is not None and engine == "tlc":
            _by_tlc_alone(Opinions(tlc, allow_torn), inputs, as_json)
        if write_baseline is not None:
            require_output(write_baseline, [*inputs.paths, *sources(files)])
        known = Known(baseline, allow_torn=allow_torn)
        second = SecondOpinions(tlc, allow_torn, budget, guided=engine == "guided")
        with status_line("checking") as report:
            found = check_files(
                inputs.paths,
                allow_torn=allow_torn,
                budget=budget or DEFAULT_BUDGET,
                jobs=jobs,
                on_progress=lambda path, text: report(inputs.named(f"{path} {text}")),
            )
            verdicts = []
            for verdict in found:
                verdicts.append(verdict)
                second.ask(verdict, report)
        known.hold_against(verdicts)
        if as_json:
            told = [
                inputs.named(verdict.to_json())
                | known.to_json(verdict)
                | inputs.named(second.to_json(verdict))
                for verdict in verdicts
            ]
            typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        for verdict in verdicts:
            error = verdict.error if verdict.exit_status == COULD_NOT_CHECK else second.error_of(verdict)
            if error is not None:
                typer.echo(f"error: {printable(inputs.named(error))}", err=True)
            if verdict.exit_status != COULD_NOT_CHECK and not as_json:
                lines = verdict_lines(inputs.verdict(verdict)) + known.lines_of(verdict)
                _say(lines + inputs.named(second.lines_of(verdict)))
        if not as_json:
            _say(known.closing_lines())
        if write_baseline is not None:
            known.write(write_baseline)
        raise typer.Exit(max(known.status(), second.status()))


def _say(lines: Sequence[str]) -> None:
    if lines:
        typer.echo("\n".join(map(printable, lines)))


def _tlc(jar: Path | None, java: Path | None, heap: str | None, timeout: float | None) -> Tlc:
    from trace_check.by_tlc import Tlc
    from trace_check.by_tlc.running import DEFAULT_TIMEOUT

    return Tlc(jar=jar, java=java, heap=heap, timeout=DEFAULT_TIMEOUT if timeout is None else timeout)


def _by_tlc_alone(opinions: Opinions, inputs: TraceInputs, as_json: bool) -> NoReturn:
    """What TLC says, without the mirror."""
    for path in inputs.paths:
        with status_line(inputs.named(str(path))) as report:
            opinions.ask(path, report)
    if as_json:
        typer.echo(json.dumps(inputs.named(opinions.to_json()), indent=2, ensure_ascii=False))
    else:
        _say(inputs.named(opinions.lines()))
    for error in opinions.errors:
        typer.echo(f"error: {printable(inputs.named(error))}", err=True)
    raise typer.Exit(opinions.status())
