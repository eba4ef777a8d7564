"""``specs/pluscal/manifest.yaml``, typed and validated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from pymodel.constants import Constant
from resume_contract.errors import require
from resume_contract.lists import read_list
from resume_contract.manifest import ROOT, ManifestError
from resume_contract.pluscal.configuration import constants_of, with_constants
from tlc_runner.config import Config, read_config
from tlc_runner.pluscal import TRANSLATOR_OPTIONS

__all__ = ["MANIFEST", "Algorithm", "Expected", "Manifest", "ModelEntry", "load_manifest", "verdict"]

MANIFEST = ROOT / "specs" / "pluscal" / "manifest.yaml"

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Number = Annotated[int, Meta(ge=0)]
Outcome = Literal["SUCCESS", "INVARIANT_VIOLATED", "ACTION_PROPERTY_VIOLATED", "LIVENESS_VIOLATED"]


class Algorithm(Struct, frozen=True, forbid_unknown_fields=True):
    """A PlusCal algorithm.

    Attributes:
        file: where it and its translation are, relative to the manifest.
        mirror: the package with its mirror, which has `build(constants)`; with `LIVENESS` and `fair_process` the mirror
            judges temporal properties, too.
        measures: operators of the module whose greatest values are wanted; the mirror has sometimes properties
            ``MEASURE >= n`` for them.
        module_path: folders of further modules, relative to the manifest.
    """

    file: Name
    mirror: Name
    measures: tuple[Name, ...] = ()
    module_path: tuple[Name, ...] = ()


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model must come to; the counts are those of the whole graph, also where a property fails.

    Attributes:
        outcome, property: what TLC stops with, and the property that it names; see `verdict`.
        distinct, generated, depth: as TLC counts them.
        fails: each property that doesn't hold -> the depth of its shortest counterexample; null where that is endless.
        most: each measure -> its greatest value in a reachable state.
    """

    outcome: Outcome
    distinct: Count
    generated: Count
    depth: Count
    property: Name | None = None
    fails: dict[Name, Count | None] = {}
    most: dict[Name, Number] = {}


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One model.

    Attributes:
        name: what it is called on the command line.
        algorithm: which.
        cfg: its configuration file, relative to the manifest.
        expect: what it must come to.
        module: what the configuration is for, relative to the manifest; by default the algorithm's file.
        constants: values that take the place of those in the configuration file.
        temporal: shall its temporal properties be judged?
        notes: why it is there.
    """

    name: Name
    algorithm: Name
    cfg: Name
    expect: Expected
    module: Name | None = None
    constants: dict[Name, Constant] = {}
    temporal: bool = True
    notes: str = ""


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    translator: tuple[str, ...]
    algorithms: dict[Name, Algorithm]
    models: Annotated[tuple[ModelEntry, ...], Meta(min_length=1)]


class Manifest(Struct, frozen=True, dict=True):
    """A validated manifest; `path` is where it was read."""

    path: Path
    algorithms: dict[str, Algorithm]
    models: tuple[ModelEntry, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The models' names, in order."""
        return tuple(model.name for model in self.models)

    def place(self, name: str) -> Path:
        """A file or folder that the manifest names."""
        return self.path.parent / name

    def algorithm_of(self, model: ModelEntry) -> Algorithm:
        """A model's algorithm."""
        return self.algorithms[model.algorithm]

    def module_of(self, model: ModelEntry) -> Path:
        """The module that TLC runs."""
        return self.place(model.module or self.algorithm_of(model).file)

    def config_of(self, model: ModelEntry) -> Config:
        """A model's configuration file."""
        return read_config(self.place(model.cfg))

    def properties_of(self, model: ModelEntry) -> tuple[str, ...]:
        """The properties, but for invariants, that are judged."""
        return self.config_of(model).properties if model.temporal else ()

    def constants_of(self, model: ModelEntry) -> dict[str, Constant]:
        """A model's constants."""
        return constants_of(self.config_of(model).portable_text) | model.constants

    def select(self, names: Sequence[str]) -> tuple[ModelEntry, ...]:
        """The models of these names, or of these algorithms; all without any.

        Raises:
            ResumeContractError: a name is unknown; the message lists those that there are.
        """
        for name in names:
            require(name, "model", [*self.algorithms, *self.names])
        return tuple(
            model for model in self.models if not names or model.name in names or model.algorithm in names
        )


def verdict(fails: Mapping[str, int | None], properties: Collection[str]) -> tuple[Outcome, str | None]:
    """What TLC stops with, by what fails, and the property that it is.

    That is the shallowest state that breaks an invariant or step that no property allows; or else, at the end, a
    behaviour without end.

    Args:
        fails: as in `Expected`.
        properties: the names of the properties that are no invariants.
    """
    depths = {name: depth for name, depth in fails.items() if depth is not None}
    if depths:
        first = min(depths, key=lambda name: depths[name])
        return ("ACTION_PROPERTY_VIOLATED" if first in properties else "INVARIANT_VIOLATED"), first
    if fails:
        return "LIVENESS_VIOLATED", next(iter(fails))
    return "SUCCESS", None


def load_manifest(path: Path = MANIFEST) -> Manifest:
    """Read a manifest and hold it against the files that it names.

    Raises:
        ManifestError: it cannot be read, or a value in it is impossible.
        TLCError: a configuration file cannot be read.
    """
    document = read_list(path, _Document, ManifestError, "--manifest")
    if document.translator != TRANSLATOR_OPTIONS:
        raise ManifestError(
            f"{path}: translator is {' '.join(document.translator)}, the translations are made with"
            f" {' '.join(TRANSLATOR_OPTIONS)}: write that"
        )
    manifest = Manifest(path, document.algorithms, document.models)
    for model in manifest.models:
        _validate(manifest, model)
    return manifest


def _validate(manifest: Manifest, model: ModelEntry) -> None:
    def refuse(what: str) -> ManifestError:
        return ManifestError(f"{manifest.path}: model {model.name}: {what}")

    if manifest.names.count(model.name) > 1:
        raise refuse("stands twice: model names must be unique")
    if model.name in manifest.algorithms:
        raise refuse("is the name of an algorithm, too: give it another")
    if model.algorithm not in manifest.algorithms:
        raise refuse(f"algorithm {model.algorithm} is unknown: one of {', '.join(manifest.algorithms)}")
    module = manifest.module_of(model)
    if not module.is_file():
        raise refuse(f"module {module.name} is no file: name one that exists")
    config = manifest.config_of(model)
    properties = manifest.properties_of(model)
    expect = model.expect
    for name, depth in expect.fails.items():
        known = properties if depth is None else (*config.invariants, *properties)
        if name not in known:
            raise refuse(f"{name} fails, and is not checked: one of {', '.join(known) or 'none'} could")
    wanted = verdict(expect.fails, properties)
    if (expect.outcome, expect.property) != wanted:
        outcome = " ".join(filter(None, wanted))
        raise refuse(f"what fails makes the outcome {outcome}: make the two agree")
    measures = manifest.algorithm_of(model).measures
    if tuple(expect.most) != measures:
        raise refuse(f"most must give {', '.join(measures) or 'nothing'}, in this order")
    if len(properties) > 1 and any(name in properties for name in expect.fails):
        raise refuse(f"TLC does not say which property fails: let {model.cfg} list that one alone")
    with_constants(manifest.place(model.cfg), config.portable_text, model.constants)
