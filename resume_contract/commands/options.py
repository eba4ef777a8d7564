"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resume_contract.errors import require
from resume_contract.places import ENGINES, MANIFEST

__all__ = [
    "EngineOption",
    "HeapOption",
    "JarOption",
    "JavaOption",
    "JobsOption",
    "JsonOption",
    "ManifestOption",
    "TimeoutOption",
    "WorkersOption",
    "engines_of",
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, as described in docs/json.md.")]
EngineOption = Annotated[str, typer.Option("--engine", "-e", help="tlc, mirror or both.")]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", "-w", min=1, help="Threads of each engine; by default TLC's are in the manifest."
    ),
]
JarOption = Annotated[
    Path | None, typer.Option("--tlc-jar", envvar="TLA2TOOLS_JAR", help="The tla2tools.jar to use.")
]
JavaOption = Annotated[
    Path | None,
    typer.Option("--java", help="The java executable to use; by default that of JAVA_HOME or PATH."),
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Processes; by default one for each processor.")
]
HeapOption = Annotated[str | None, typer.Option("--heap", help="Java's largest heap, such as 4g.")]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", help="Seconds that TLC may take for a model.")
]
ManifestOption = Annotated[
    Path, typer.Option("--manifest", envvar="RESUME_CONTRACT_MANIFEST", help="The manifest of the models.")
]
DEFAULT_MANIFEST = MANIFEST


def engines_of(name: str) -> tuple[str, ...]:
    """The engines that an option names.

    Raises:
        ResumeContractError: it names none.
    """
    require(name, "engine", [*ENGINES, "both"])
    return ENGINES if name == "both" else (name,)
