"""Models run by engines, held against the manifest, against each other, and against vacuity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from resume_contract.engines import OnProgress, Tools, run_model
from resume_contract.manifest import BOUNDS, Manifest, ModelEntry
from resume_contract.reports import Report
from resume_contract.rows import Row
from resume_contract.vacuity import Reach, judge_reach
from tlc_runner.outcome import Outcome

__all__ = ["FORMAT_VERSION", "CheckReport", "check"]

FORMAT_VERSION = 1
"""The version of the JSON that `check` prints and writes."""


@dataclass(frozen=True)
class CheckReport(Report[Row]):
    """What a check found.

    Attributes:
        rows: one for each run.
        differences: from the manifest, between the engines, and in what was reached; one line each.
        reach: what each whole bound reached.
    """

    rows: tuple[Row, ...]
    differences: tuple[str, ...]
    reach: tuple[Reach, ...]

    @property
    def judged(self) -> tuple[Row, ...]:
        """The runs."""
        return self.rows

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        return {
            "version": FORMAT_VERSION,
            "rows": [row.to_json() for row in self.rows],
            "reach": [reach.to_json() for reach in self.reach],
            "differences": list(self.differences),
            "versions": self.versions,
        }


Watch = Callable[[str], AbstractContextManager[OnProgress | None]]


def check(
    manifest: Manifest,
    models: Sequence[ModelEntry],
    engines: Sequence[str],
    tools: Tools,
    *,
    watch: Watch,
    expected: bool = True,
) -> CheckReport:
    """Run models by engines, one after another.

    Args:
        manifest: where the models are from.
        models: which.
        engines: "tlc", "mirror" or both; a model runs on those of them that it has.
        tools: what the engines run with.
        watch: given the name of a run, a context whose value is told how far it is.
        expected: hold rows against the manifest; if False, a violation is all that counts.

    Raises:
        TLCError, EngineError: an engine cannot run.
    """
    rows: list[Row] = []
    differences: list[str] = []
    for model in models:
        mine: list[Row] = []
        for engine in engines:
            if engine in model.engines:
                with watch(f"{model.name} by {engine}") as on_progress:
                    mine.append(run_model(manifest, model, engine, tools, on_progress))
        for row in mine:
            differences += _unexpected(model, row) if expected else _violation(row)
        differences += _disagreements(mine)
        rows += mine
    reach = tuple(_reach(manifest, models, engines, rows))
    if expected:
        differences += [line for each in reach for line in each.problems]
    return CheckReport(tuple(rows), tuple(differences), reach)


def _violation(row: Row) -> list[str]:
    return [] if row.outcome == Outcome.SUCCESS.name else [f"{row.name}: {row.message or row.outcome}"]


def _unexpected(model: ModelEntry, row: Row) -> Iterator[str]:
    """How a row differs from the manifest."""
    wanted = model.expect
    if (row.outcome, row.violated) != (wanted.outcome, wanted.property):
        found = f"{row.outcome} {row.violated or ''}".strip()
        expected = f"{wanted.outcome} {wanted.property or ''}".strip()
        reason = f" ({row.message})" if row.message else ""
        yield f"{row.name}: outcome is {found}, the manifest expects {expected}{reason}"
        return  # the counts are those of another search then
    for name, number in (("distinct", wanted.distinct), ("generated", wanted.generated)):
        if getattr(row, name) != number:
            yield f"{row.name}: {name} is {_number(getattr(row, name))}, the manifest expects {number:,}"
    if not _depth_fits(row, wanted.depth):
        least = "at least " if row.depth_is_upper_bound else ""
        yield f"{row.name}: depth is {_number(row.depth)}, the manifest expects {least}{wanted.depth}"


def _disagreements(rows: Sequence[Row]) -> Iterator[str]:
    """How the engines differ on one model.  The mirror's depth is exact; TLC's only with one worker."""
    by_engine = {row.engine: row for row in rows}
    if by_engine.keys() != {"tlc", "mirror"}:
        return
    tlc, mirror = by_engine["tlc"], by_engine["mirror"]
    for name in ("outcome", "violated", "distinct", "generated", "actions", "levels"):
        theirs, mine = getattr(tlc, name), getattr(mirror, name)
        optional = name in ("actions", "levels")
        if theirs != mine and not (optional and theirs is None):
            yield f"{tlc.model}: TLC and the mirror differ in {name}: {_shown(theirs, mine)}"
            if name == "outcome":
                return  # the counts are those of different searches then
    if not _depth_fits(tlc, mirror.depth):
        yield f"{tlc.model}: TLC and the mirror differ in depth: {_number(tlc.depth)} and {_number(mirror.depth)}"


def _depth_fits(row: Row, exact: int | None) -> bool:
    if row.depth is None or exact is None:
        return False
    return row.depth >= exact if row.depth_is_upper_bound else row.depth == exact


def _shown(theirs: object, mine: object) -> str:
    """Two different values, or only what differs in them."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        keys = [key for key in {**mine, **theirs} if theirs.get(key) != mine.get(key)]
        return ", ".join(f"{key} {_number(theirs.get(key))} and {_number(mine.get(key))}" for key in keys)
    if isinstance(theirs, tuple) and isinstance(mine, tuple) and len(theirs) == len(mine):
        pairs = enumerate(zip(theirs, mine, strict=True), 1)
        return ", ".join(f"{a} and {b} at depth {depth}" for depth, (a, b) in pairs if a != b)
    return f"{_number(theirs)} and {_number(mine)}"


def _number(value: object) -> str:
    if value is None:
        return "unknown"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _reach(
    manifest: Manifest, models: Sequence[ModelEntry], engines: Sequence[str], rows: Iterable[Row]
) -> Iterator[Reach]:
    """What each bound reached of which all models ran: of a part of them nothing can be said."""
    for bound in BOUNDS:
        whole = manifest.of_bound(bound)
        mine = [row for row in rows if row.bound == bound]
        if whole and all(model in models for model in whole) and "mirror" in engines:
            yield judge_reach(
                bound, mine, [excused for excused in manifest.excused if excused.bound == bound]
            )
