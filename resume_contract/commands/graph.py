"""``resume-contract graph``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pymodel.engine import state_graph
from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS, build
from pymodel.resume.program import PROGRAMS
from resume_contract.commands.options import ManifestOption
from resume_contract.errors import ResumeContractError, require
from resume_contract.examples import shortest_violation
from resume_contract.graphs import FORMATS, draw_behaviour, draw_graph
from resume_contract.manifest import MANIFEST, load_manifest
from resume_contract.progress import counts_text, status_line
from resume_contract.writing import require_output

__all__ = ["graph_command"]

MOST_STATES = 20_000
"""More states are no picture."""


def graph_command(
    model: Annotated[str, typer.Argument(help="A model of the manifest.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .png, .svg or .dot file; by default MODEL.png.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault", "-f", help="Switch this fault on and draw the shortest behaviour that it breaks."
        ),
    ] = None,
    manifest: ManifestOption = MANIFEST,
) -> None:
    """Draw the state graph of a small model, or with --fault the shortest counterexample."""
    (chosen,) = load_manifest(manifest).select([model])
    path = output or Path(f"{model}.png")
    require(path.suffix.removeprefix("."), f"file {path}: format", FORMATS)
    require_output(path, [manifest])
    program = PROGRAMS[chosen.program]
    if not fault:
        if chosen.expect.distinct > MOST_STATES:
            raise ResumeContractError(
                f"model {model}: {chosen.expect.distinct:,} states are too many for a picture:"
                f" choose a model of at most {MOST_STATES:,}"
            )
        with status_line(f"{model}: drawing"):
            graph = state_graph(build(program, chosen.limits, name=model), max_states=MOST_STATES)
            draw_graph(graph, path)
        typer.echo(f"{path}: {graph.number_of_nodes():,} states, {graph.number_of_edges():,} transitions")
        return
    for name in fault:
        require(name, "fault", FAULTS)
    built = build(
        program, _roomy(chosen.limits, len(program.units)), fault, name=f"{model} with {', '.join(fault)}"
    )
    with status_line(f"{model}: searching") as report:
        trace = shortest_violation(built, CLAUSES, lambda counts: report(counts_text(counts)))
    if trace is None:
        raise ResumeContractError(
            f"model {model}: {', '.join(fault)} breaks nothing there: choose a model with more runners, crashes or forks"
        )
    draw_behaviour(trace, path)
    typer.echo(f"{path}: {trace.subject}, in {len(trace)} states")


def _roomy(bounds: Bounds, units: int) -> Bounds:
    """The same bounds, with room in the record for what a fault may do."""
    from dataclasses import replace

    return replace(bounds, length=units + 2, computations=3)
