"""Translations compared with fresh ones, and runs with the manifest and with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from resume_contract.engines import OnProgress, Tools
from resume_contract.pluscal.manifest import Manifest, ModelEntry, verdict
from resume_contract.pluscal.running import Run, run_model
from resume_contract.reports import Report
from tlc_runner.pluscal import is_translation_current

__all__ = ["FORMAT_VERSION", "PlusCalReport", "Watch", "check"]

FORMAT_VERSION = 1
"""The version of the JSON that `pluscal` prints."""

Watch = Callable[[str], AbstractContextManager[OnProgress | None]]


@dataclass(frozen=True)
class PlusCalReport(Report[Run]):
    """What a check found.

    Attributes:
        translations: algorithm -> is the translation in its file the one that the translator makes?
        runs: one for each model and engine.
        differences: one line each.
    """

    translations: dict[str, bool]
    runs: tuple[Run, ...]
    differences: tuple[str, ...]

    @property
    def judged(self) -> tuple[Run, ...]:
        """The runs."""
        return self.runs

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/pluscal.md``."""
        return {
            "version": FORMAT_VERSION,
            "translations": self.translations,
            "runs": [run.to_json() for run in self.runs],
            "differences": list(self.differences),
            "versions": self.versions,
        }


def check(
    manifest: Manifest,
    models: Sequence[ModelEntry],
    engines: Sequence[str],
    tools: Tools,
    *,
    watch: Watch,
) -> PlusCalReport:
    """Translate the models' algorithms afresh and compare; run the models, and compare.

    Args:
        manifest: where the models are from.
        models: which.
        engines: "tlc", "mirror" or both.
        tools: what they run with; TLC has one worker always.
        watch: given the name of a run, a context whose value is told how far it is.

    Raises:
        TLCError, EngineError: the translator or an engine cannot run.
    """
    translations: dict[str, bool] = {}
    differences: list[str] = []
    for name in dict.fromkeys(model.algorithm for model in models):
        file = manifest.place(manifest.algorithms[name].file)
        with watch(f"translating {name}"):
            translations[name] = is_translation_current(file, java=tools.java, jar=tools.jar)
        if not translations[name]:
            differences.append(
                f"{file}: the translation is not that of the algorithm:"
                f" python -m tlc_runner translate --in-place {file} makes it anew"
            )
    runs: list[Run] = []
    for model in models:
        mine = []
        for engine in engines:
            with watch(f"{model.name} by {engine}") as on_progress:
                mine.append(run_model(manifest, model, engine, tools, on_progress))
        for run in mine:
            differences += _unexpected(model, run)
        if len(mine) == 2:
            differences += _disagreements(*mine)
        runs += mine
    return PlusCalReport(translations, tuple(runs), tuple(differences))


def _unexpected(model: ModelEntry, run: Run) -> Iterator[str]:
    """How a run differs from the manifest, in what its engine judges."""
    expect, place = model.expect, f"{run.model} by {run.engine}"
    if not run.is_decided:
        yield f"{place}: {run.outcome} ({run.message})"
        return
    fails = {name: depth for name, depth in expect.fails.items() if name in run.judged}
    found, wanted = (run.outcome, run.violated), verdict(fails, run.properties)
    if found != wanted:
        yield f"{place}: outcome is {_text(found)}, the manifest expects {_text(wanted)}"
    for what, mine, theirs in (
        ("what fails", run.fails, fails),
        ("the greatest values", run.most, expect.most),
        ("distinct", run.distinct, expect.distinct),
        ("generated", run.generated, expect.generated),
        ("depth", run.depth, expect.depth),
    ):
        if mine != theirs:
            yield f"{place}: {what}: {_text(mine)}, the manifest expects {_text(theirs)}"


def _disagreements(tlc: Run, mirror: Run) -> Iterator[str]:
    """How the engines differ in what both say."""
    if not (tlc.is_decided and mirror.is_decided):
        return
    both = [name for name in tlc.judged if name in mirror.judged]
    for what, theirs, mine in (
        (
            "what fails",
            {name: tlc.fails[name] for name in both if name in tlc.fails},
            {name: mirror.fails[name] for name in both if name in mirror.fails},
        ),
        ("the greatest values", tlc.most, mirror.most),
        ("distinct", tlc.distinct, mirror.distinct),
        ("generated", tlc.generated, mirror.generated),
        ("depth", tlc.depth, mirror.depth),
        ("how often labels are taken", _taken(tlc.actions or mirror.actions), _taken(mirror.actions)),
    ):
        if theirs != mine:
            yield f"{tlc.model}: TLC and the mirror differ in {what}: {_text(theirs)} and {_text(mine)}"


def _taken(actions: dict[str, int] | None) -> dict[str, int]:
    """Without the labels that are never taken: TLC doesn't know those of an empty set of processes."""
    return {name: count for name, count in sorted((actions or {}).items()) if count}


def _text(value: object) -> str:
    if isinstance(value, dict):
        parts = [f"{name} {'for ever' if number is None else number}" for name, number in value.items()]
        return ", ".join(parts) or "nothing"
    if isinstance(value, tuple):
        return " ".join(str(part) for part in value if part is not None)
    return f"{value:,}" if isinstance(value, int) else str(value)
