"""``resume-contract trace shrink``."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.commands.trace.options import BudgetOption, TornOption
from resume_contract.errors import ResumeContractError
from resume_contract.progress import status_line
from resume_contract.trace_files import ENDINGS
from resume_contract.trace_inputs import TraceInputs, sources
from resume_contract.verdicts import verdict_lines
from resume_contract.writing import require_output, void, write_atomically
from trace_check.printing import printable

if TYPE_CHECKING:
    from trace_check.shrinking import Shrunk

__all__ = ["shrink_command"]


def shrink_command(
    file: Annotated[str, typer.Argument(help="A trace that violates the contract, or - for standard input.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write what is left to this .jsonl or .jsonl.gz file.")
    ],
    as_json: JsonOption = False,
    allow_torn: TornOption = False,
    budget: BudgetOption = None,
) -> None:
    """Reduce a trace to the shortest one that has the same verdict."""
    from trace_check.checker import DEFAULT_BUDGET
    from trace_check.reader import read_trace
    from trace_check.shrinking import shrink

    if not output.name.endswith(ENDINGS):
        raise ResumeContractError(
            f"file {output}: its format is unknown: name one that ends in {' or '.join(ENDINGS)}"
        )
    require_output(output, sources([file]))
    with TraceInputs([file], folders=False) as inputs:
        trace = inputs.trace(read_trace(inputs.paths[0], allow_torn=allow_torn))
    with status_line(f"shrinking {file}") as report:
        shrunk = shrink(trace, budget=budget or DEFAULT_BUDGET, report=report)
    data = shrunk.data()
    if output.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # without the time: the same trace is the same file
    write_atomically(output, lambda part: void(part.write_bytes(data)))
    verdict = replace(shrunk.verdict, file=str(output))
    if as_json:
        told = {
            "file": file,
            "output": str(output),
            "before": asdict(shrunk.before),
            "after": asdict(shrunk.after),
            "candidates": shrunk.candidates,
            "undecided": shrunk.undecided,
            "verdict": verdict.to_json(),
        }
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{printable(file)}: {_kept(shrunk)} are left")
    if shrunk.undecided:
        typer.echo(f"  {shrunk.undecided} shorter traces used up the budget: raise it to have them decided")
    typer.echo("\n".join(verdict_lines(verdict)))


def _kept(shrunk: Shrunk) -> str:
    before, after = asdict(shrunk.before), asdict(shrunk.after)
    said = [f"{after[name]} of {before[name]} {name}" for name in before if before[name] > 1]
    return ", ".join(said)
