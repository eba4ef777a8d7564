"""The models there are, their bounds and what is expected of each: ``specs/manifest.yaml``, typed and validated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from pymodel.errors import ModelError
from pymodel.resume.clauses import SOMETIMES
from pymodel.resume.layout import Bounds
from pymodel.resume.program import PROGRAMS
from pymodel.resume.tla_constants import constants
from pymodel.resume.transitions import ACTIONS
from resume_contract.errors import ResumeContractError
from resume_contract.lists import read_list
from resume_contract.places import ENGINES, MANIFEST, ROOT
from tlc_runner.config import Config, read_config
from tlc_runner.outcome import Outcome

__all__ = [
    "BOUNDS",
    "CLAUSE_INVARIANTS",
    "ENGINES",
    "MANIFEST",
    "ROOT",
    "Excused",
    "Expected",
    "Manifest",
    "ManifestError",
    "ModelEntry",
    "load_manifest",
]

BOUNDS = ("small", "base", "scaled")

CLAUSE_INVARIANTS = {
    "PC": "PC",
    "EO": "EO",
    "FD1": "FD",
    "FD2": "FD",
    "CV": "CV",
    "COV": "CO-V",
    "COC": "CO-C",
    "RD": "RD",
    "FI": "FI",
}
"""The clauses' invariants by their names in the TLA+ -> the clause that each belongs to."""

_LIVENESS = "LV"

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]


class ManifestError(ResumeContractError):
    """The manifest cannot be used, or does not agree with a configuration file."""


class BoundsEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of :class:`pymodel.resume.layout.Bounds`."""

    runners: int = 2
    branches: int = 1
    answers: int = 1
    values: int = 2
    crashes: int = 0
    expiries: int = 0
    invalid: int = 0
    length: int = 0
    computations: int = 1
    applied: int = 2


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model must come to.

    Attributes:
        outcome: the name of a :class:`tlc_runner.Outcome`.
        property: the clause or invariant that is violated, None where none is.
        distinct, generated, depth: as TLC counts them.
    """

    outcome: Name
    distinct: Count
    generated: Count
    depth: Count
    property: Name | None = None


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """One model.

    Attributes:
        name: what it is called on the command line.
        bound: how large it is: small, base or scaled.
        module, cfg: its TLA+, relative to the manifest.
        program: a name of :data:`pymodel.resume.program.PROGRAMS`.
        bounds: the numbers that the configuration file has, too.
        engines: which engines run it.
        tlc_workers: TLC's worker threads; only with one is its depth exact.
        coverage: does TLC count how often each action was taken?
        expect: what it must come to.
        notes: why it is there.
    """

    name: Name
    bound: Literal["small", "base", "scaled"]
    module: Name
    cfg: Name
    program: Name
    bounds: BoundsEntry
    expect: Expected
    engines: Annotated[tuple[Literal["tlc", "mirror"], ...], Meta(min_length=1)] = ("tlc", "mirror")
    tlc_workers: Count = 1
    coverage: bool = True
    notes: str = ""

    @cached_property
    def limits(self) -> Bounds:
        """The bounds as the mirror wants them."""
        return Bounds(**msgspec.structs.asdict(self.bounds))

    @property
    def expected_outcome(self) -> Outcome:
        """The expected outcome."""
        return Outcome[self.expect.outcome]


class Excused(Struct, frozen=True, forbid_unknown_fields=True):
    """What a bound cannot reach, and why: the vacuity check wants everything else there."""

    bound: Literal["small", "base", "scaled"]
    because: Name
    actions: tuple[Name, ...] = ()
    sometimes: tuple[Name, ...] = ()


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    models: Annotated[tuple[ModelEntry, ...], Meta(min_length=1)]
    excused: tuple[Excused, ...] = ()


class Manifest(Struct, frozen=True):
    """A validated manifest; `path` is where it was read."""

    path: Path
    models: tuple[ModelEntry, ...]
    excused: tuple[Excused, ...]

    def module(self, model: ModelEntry) -> Path:
        """A model's module."""
        return self.path.parent / model.module

    def cfg(self, model: ModelEntry) -> Path:
        """A model's configuration file."""
        return self.path.parent / model.cfg

    def of_bound(self, bound: str) -> tuple[ModelEntry, ...]:
        """The models of a bound."""
        return tuple(model for model in self.models if model.bound == bound)

    def select(self, names: Sequence[str] = (), bounds: Sequence[str] = ()) -> tuple[ModelEntry, ...]:
        """The models of these names, or all, that are of these bounds, or of any.

        Raises:
            ManifestError: an unknown name or bound, or nothing is left; the message lists those that there are.
        """
        known = {model.name: model for model in self.models}
        for name in names:
            if name not in known:
                raise ManifestError(f"model {name} is unknown: one of {', '.join(known)}")
        for bound in bounds:
            if bound not in BOUNDS:
                raise ManifestError(f"bound {bound} is unknown: one of {', '.join(BOUNDS)}")
        found = tuple(
            model
            for model in self.models
            if (not names or model.name in names) and (not bounds or model.bound in bounds)
        )
        if not found:
            raise ManifestError(
                f"no model of {', '.join(names) or 'all'} is of bound {', '.join(bounds)}: leave out one of the two"
            )
        return found


def load_manifest(path: Path = MANIFEST) -> Manifest:
    """Read a manifest and hold it against the configuration files that it names.

    Raises:
        ManifestError: it cannot be read, a value in it is impossible, or a configuration file says otherwise.
        TLCError: a configuration file cannot be read.
    """
    document = read_list(path, _Document, ManifestError, "--manifest")
    manifest = Manifest(path, document.models, document.excused)
    names = [model.name for model in manifest.models]
    for model in manifest.models:
        if names.count(model.name) > 1:
            raise ManifestError(f"{path}: model {model.name} stands twice: model names must be unique")
        _validate(manifest, model)
    for excused in manifest.excused:
        _require(path, f"excused at {excused.bound}", "action", excused.actions, ACTIONS)
        _require(path, f"excused at {excused.bound}", "sometimes property", excused.sometimes, SOMETIMES)
    return manifest


def _require(path: Path, place: str, what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ManifestError(f"{path}: {place}: {what} {name} is unknown: one of {', '.join(known)}")


def _validate(manifest: Manifest, model: ModelEntry) -> None:
    place = f"model {model.name}"
    _require(manifest.path, place, "program", [model.program], list(PROGRAMS))
    _require(manifest.path, place, "outcome", [model.expect.outcome], list(Outcome.__members__))
    try:
        _ = model.limits
    except ModelError as error:
        raise ManifestError(f"{manifest.path}: {place}: {error}") from None
    module = manifest.module(model)
    if not module.is_file():
        raise ManifestError(
            f"{manifest.path}: {place}: module {model.module} is no file: name one that exists"
        )
    cfg = read_config(manifest.cfg(model))
    _validate_properties(manifest.path, model, cfg)
    _validate_constants(manifest.path, model, cfg)


def _validate_properties(path: Path, model: ModelEntry, cfg: Config) -> None:
    """A model of the mirror's must judge every clause, or agreement says little; one of TLC's alone must judge LV."""
    wanted = list(CLAUSE_INVARIANTS) if "mirror" in model.engines else [_LIVENESS]
    if "mirror" in model.engines and model.bound != "scaled":
        wanted.append("TypeOK")  # at scaled it would take a quarter of TLC's time
    missing = [name for name in wanted if name not in (*cfg.invariants, *cfg.properties)]
    if missing:
        raise ManifestError(
            f"{path}: model {model.name}: {model.cfg} does not check {', '.join(missing)}: list it there"
        )


def _validate_constants(path: Path, model: ModelEntry, cfg: Config) -> None:
    """The configuration file and the manifest state the same program and bounds."""
    stated = cfg.constants
    for name, wanted in constants(PROGRAMS[model.program], model.limits, model.program).items():
        value = "".join(wanted.split())
        found = stated.get(name)
        if found != value:
            raise ManifestError(
                f"{path}: model {model.name} wants {name} = {value}, {model.cfg} has {found or 'none'}:"
                " make the two agree"
            )
