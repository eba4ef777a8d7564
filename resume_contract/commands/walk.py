"""``resume-contract walk``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from resume_contract.commands.options import JarOption, JavaOption, JsonOption, ManifestOption
from resume_contract.errors import CHECKED, DIFFERS
from resume_contract.manifest import MANIFEST, load_manifest
from resume_contract.progress import status_line

__all__ = ["walk_command"]


def walk_command(
    model: Annotated[str, typer.Argument(help="A model of the manifest.")],
    states: Annotated[int, typer.Option("--states", "-n", min=1, help="Different states to compare.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", "-s", help="The same seed gives the same walks.")] = 0,
    as_json: JsonOption = False,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    manifest: ManifestOption = MANIFEST,
) -> None:
    """Ask TLC and the mirror for the successors of states on random walks, and compare them action by action."""
    known = load_manifest(manifest)
    (chosen,) = known.select([model])
    from resume_contract.agreement import walk
    from tlc_runner.oracle import SpecOracle

    oracle = SpecOracle(known.module(chosen), known.cfg(chosen), jar=tlc_jar, java=java)
    with status_line(f"{model}: comparing successors") as report:
        found = walk(
            chosen.program,
            chosen.limits,
            states=states,
            seed=seed,
            oracle=oracle,
            on_progress=lambda count: report(f"{count:,} of {states:,} states"),
        )
    if as_json:
        data = {
            "version": 1,
            "model": model,
            "seed": seed,
            "agree": found.agree,
            "states": found.states,
            "transitions": found.transitions,
            "actions": found.actions,
            "restarts": found.restarts,
            "differences": [difference.describe() for difference in found.differences],
        }
        typer.echo(json.dumps(data, indent=2))
    else:
        typer.echo(
            f"{model}: {found.states:,} states and {found.transitions:,} transitions compared, seed {seed}: "
            + ("TLC and the mirror agree" if found.agree else "TLC and the mirror differ")
        )
        missing = [action for action, count in found.actions.items() if not count]
        if missing:
            typer.echo(f"never met: {', '.join(missing)}")
        for difference in found.differences:
            typer.echo(difference.describe())
    raise typer.Exit(CHECKED if found.agree else DIFFERS)
