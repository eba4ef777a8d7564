"""``resume-contract explain``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from resume_contract.commands.options import JsonOption
from resume_contract.definitions import CLAUSES, FAULTS, faults_of
from resume_contract.errors import ResumeContractError
from resume_contract.progress import status_line

__all__ = ["explain_command"]

_LIVENESS = (
    "It is about behaviours that go on for ever, so no single state breaks it: TLC checks it, "
    "`resume-contract check small-liveness --engine tlc`."
)


def explain_command(
    name: Annotated[str, typer.Argument(help="A clause (PC, EO, …) or a fault (unkeyed_effect, …).")],
    example: Annotated[bool, typer.Option(help="Search the shortest behaviour that breaks it.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Say what a clause or a fault is, with the shortest behaviour that breaks it."""
    if name in CLAUSES:
        faults, clause = faults_of(name), name
        about = CLAUSES[name]
        text = f"{name}, {about.title}\n\n{about.says}\n{about.why}\n\nFaults that break it: {', '.join(faults)}."
    elif name in FAULTS:
        faults, clause = (name,), FAULTS[name].breaks
        text = f"{name}\n\n{FAULTS[name].does}\nIt breaks {clause}, {CLAUSES[clause].title}: {CLAUSES[clause].says}"
    else:
        raise ResumeContractError(
            f"{name} is neither a clause nor a fault: clauses are {', '.join(CLAUSES)}; faults are {', '.join(FAULTS)}"
        )
    data: dict[str, Any] = {
        "version": 1,
        "name": name,
        "clause": clause,
        "faults": list(faults),
        "text": text,
    }
    shown = ""
    if clause == "LV":
        shown = _LIVENESS
    elif example:
        data["example"], shown = _example(faults)
        data["program"], lines = _program()
        shown = f"{lines}\n\n{shown}"
    if as_json:
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        typer.echo(f"{text}\n\n{shown}" if shown else text)


def _program() -> tuple[Any, str]:
    """The program of the examples, and a line for each of its units; step x of a behaviour is its x-th step."""
    from resume_contract.examples import example_program

    units = example_program()
    lines = [
        f"  unit {number}: " + " ; ".join(f"{step['kind']} {step['step']}" for step in unit)
        for number, unit in enumerate(units, 1)
    ]
    return units, "\n".join(["The program of the example:", *lines])


def _example(faults: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The shortest of the faults' examples."""
    from resume_contract.examples import example_of

    with status_line("searching the shortest counterexample") as report:
        traces = []
        for fault in faults:
            report(fault)
            traces.append(example_of(fault))
    shortest = min(traces, key=len)
    return shortest.to_json(), shortest.render()
