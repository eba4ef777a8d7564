"""The separating models on disk: modules that stand alone, and what they are models of."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pymodel.errors import ModelError
from pymodel.resume.clauses import CLAUSES
from pymodel.resume.layout import Bounds
from separating_models.by_tlc import INVARIANT_OF
from separating_models.configuration import Configuration, program_of
from separating_models.errors import SeparationError
from separating_models.search import Found
from separating_models.standalone import Standalone

__all__ = [
    "FOLDER",
    "configuration_from_json",
    "liveness_models",
    "read_models",
    "separating_model",
    "write_model",
]

FOLDER = Path(__file__).resolve().parent / "models"
"""Where they are kept."""

_VERSION = 1
_RERUN = "java -cp tla2tools.jar tlc2.TLC"


def separating_model(found: Found) -> Standalone:
    """The module of a separating model."""
    clause = found.clause
    name = f"Separates{INVARIANT_OF[clause]}"
    size = found.size
    configuration = found.examination.configuration
    others = tuple(other for other in CLAUSES if other != clause)
    return Standalone(
        name=name,
        configuration=configuration,
        title=(
            f"A separating model of {clause}: it breaks {clause} and no other clause of the",
            "RESUME CONTRACT.  It is the reference with the fault",
            f"{configuration.faults[0]}.",
            "",
            f"Minimal: of {found.smaller:,} configurations that are smaller or as small, none",
            "separates the clause at less depth, in the order (faults, runners, branches,",
            f"units, crashes, answers, depth) = ({', '.join(map(str, (*size, found.examination.breaks[clause])))}).",
            *_rerun(name, f"Invariant {INVARIANT_OF[clause]} is violated"),
        ),
        broken=(clause,),
        kept=others,
    )


def liveness_models() -> tuple[Standalone, ...]:
    """For each fault of liveness a model that breaks LV and no clause of safety, and one that breaks EO and keeps LV."""
    crash = Bounds(runners=1, branches=1, crashes=1, length=1, computations=3)
    return (
        Standalone(
            name="BreaksLVOrphanedClaim",
            configuration=Configuration(program_of("gate"), crash, ("orphaned_claim",)),
            title=(
                "It breaks LV and no clause of safety: the owner of a claim dies, and",
                "nobody may take the claim over (orphaned_claim).",
                *_rerun("BreaksLVOrphanedClaim", "Temporal properties were violated"),
            ),
            broken=("LV",),
            kept=CLAUSES,
        ),
        Standalone(
            name="BreaksLVStuckRunning",
            configuration=Configuration(program_of("pure"), crash, ("stuck_running",)),
            title=(
                "It breaks LV and no clause of safety: a run whose process has crashed",
                "can never be loaded again (stuck_running).",
                *_rerun("BreaksLVStuckRunning", "Temporal properties were violated"),
            ),
            broken=("LV",),
            kept=CLAUSES,
        ),
        Standalone(
            name="KeepsLV",
            configuration=Configuration(program_of("effect"), crash, ("unkeyed_effect",)),
            title=(
                "The converse: it breaks a clause of safety, EO, and LV holds.  A retry of",
                "an effect is applied again (unkeyed_effect).",
                *_rerun("KeepsLV", "Invariant EO is violated"),
            ),
            broken=("EO",),
            kept=(*(clause for clause in CLAUSES if clause != "EO"), "LV"),
        ),
    )


def _rerun(name: str, says: str) -> tuple[str, ...]:
    return (
        "",
        f"  {_RERUN} {name}.tla",
        f"      says: {says}",
        f"  {_RERUN} -config {name}_others.cfg {name}.tla",
        "      finds no error",
        "",
        f"{name}.json is the same model for the mirror.  This file is generated:",
        "resume-contract separate writes it, and resume-contract separate --verify",
        "checks it.",
    )


def put_models(models: Sequence[Standalone], folder: Path) -> None:
    """Write models to the folder where they are kept, each file in one step."""
    with TemporaryDirectory(dir=folder, prefix=".") as temporary:
        for model in models:
            write_model(model, Path(temporary))
        for path in sorted(Path(temporary).iterdir()):
            os.replace(path, folder / path.name)


def write_model(model: Standalone, folder: Path) -> None:
    """Write a model's files to a folder: the module, its two configuration files, and the model for the mirror."""
    data = {
        "version": _VERSION,
        "name": model.name,
        "breaks": list(model.broken),
        "keeps": list(model.kept),
        "title": list(model.title),
        "configuration": model.configuration.to_json(),
    }
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    for name, content in {**_files(model), f"{model.name}.json": text}.items():
        (folder / name).write_text(content, encoding="utf-8")


def _files(model: Standalone) -> dict[str, str]:
    """What is generated, by file name."""
    return {
        f"{model.name}.tla": model.text,
        f"{model.name}.cfg": model.cfg,
        f"{model.name}_others.cfg": model.cfg_of_the_others,
    }


def read_models(folder: Path = FOLDER) -> tuple[Standalone, ...]:
    """The models of a folder, whose modules and configuration files must be what would be generated now.

    Raises:
        SeparationError: there are none, one cannot be read, or its files were changed.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise SeparationError(
            f"{folder}: there is no model: write them with `resume-contract separate --write DIR`"
        )
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> Standalone:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != _VERSION:
            raise SeparationError(
                f"{path}: its version is {data['version']}, known is {_VERSION}: generate it again"
            )
        model = Standalone(
            name=str(data["name"]),
            configuration=configuration_from_json(data["configuration"]),
            title=tuple(map(str, data["title"])),
            broken=tuple(map(str, data["breaks"])),
            kept=tuple(map(str, data["keeps"])),
        )
    except (OSError, ValueError, KeyError, TypeError, ModelError, RecursionError) as error:
        raise SeparationError(
            f"{path}: it is no model ({type(error).__name__}: {error}): generate it again"
        ) from None
    known = (*CLAUSES, "LV")
    for clause in (*model.broken, *model.kept):
        if clause not in known:
            raise SeparationError(f"{path}: clause {clause} is unknown: one of {', '.join(known)}")
    for name, text in _files(model).items():
        file = path.with_name(name)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            raise SeparationError(
                f"{file}: it is not what {path.name} and the specs yield: generate it again, or undo the change"
            )
    return model


def configuration_from_json(data: Mapping[str, Any]) -> Configuration:
    """A configuration from what :meth:`Configuration.to_json` gives.

    Raises:
        KeyError, TypeError, ModelError: it is none.
    """
    return Configuration(program_of(data["program"]), Bounds(**data["bounds"]), tuple(data["faults"]))
