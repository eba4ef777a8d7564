"""Independence, shown whole: separating models, the models of liveness, and the lattice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pymodel.resume.model import FAULTS
from separating_models.by_mirror import examine_by_mirror
from separating_models.by_tlc import Tlc
from separating_models.certificate import Verified, verify
from separating_models.configuration import Configuration, program_of
from separating_models.errors import SeparationError
from separating_models.examination import Examination
from separating_models.examining import Task, examine_all
from separating_models.lattice import (
    ANTECEDENTS,
    SPACE,
    Element,
    breaking_alone,
    decide,
    elements,
)
from separating_models.pool import Failure, call_all
from separating_models.search import SEARCHED, Found
from separating_models.standalone import Standalone

__all__ = ["FORMAT_VERSION", "Checked", "Independence", "decide_lattice", "verify_all"]

FORMAT_VERSION = 1
"""The version of the JSON."""

_SAFETY_FAULTS = FAULTS[:18]

OnDone = Callable[[str, int, int], None]
"""Told what is done, how many are, and how many there are."""


@dataclass(frozen=True)
class Checked:
    """An element of the lattice; `tlc` is what TLC found of the same model, None where it was not asked."""

    element: Element
    tlc: Examination | None = None

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        found = self.element.found
        data: dict[str, Any] = {
            "breaks": list(self.element.breaks),
            "found": found is not None,
            "tried": self.element.tried,
        }
        if found is None:
            return data | {"engines": ["mirror"]}
        return data | {
            "configuration": found.configuration.to_json(),
            "depths": dict(found.breaks),
            "joint_witness": None if self.element.joint is None else self.element.joint.to_json(),
            "distinct": found.distinct,
            "generated": found.generated,
            "engines": ["mirror", *(["tlc"] if self.tlc is not None else [])],
        }


@dataclass(frozen=True)
class Independence:
    """Everything that was shown; `lattice` is empty where it was not asked for."""

    found: Mapping[str, Found]
    verified: Mapping[str, Verified]
    lattice: tuple[Checked, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As in ``docs/json.md``."""
        versions: dict[str, str] = {}
        separating: dict[str, Any] = {}
        liveness: list[dict[str, Any]] = []
        for each in self.verified.values():
            data = each.to_json()
            versions |= data.pop("versions")
            if each.model.live:
                liveness.append(data)
                continue
            (clause,) = each.model.broken
            separating[clause] = data
            if clause in self.found:
                separating[clause]["size"] = self.found[clause].size._asdict()
                separating[clause]["examined"] = self.found[clause].smaller
        return {
            "version": FORMAT_VERSION,
            "searched": SEARCHED,
            "separating": separating,
            "liveness": liveness,
            "space": [Configuration(program_of(shape), bounds).to_json() for shape, bounds in SPACE]
            if self.lattice
            else [],
            "antecedents": {clause: list(names) for clause, names in ANTECEDENTS.items()},
            "lattice": [each.to_json() for each in self.lattice],
            "versions": versions,
        }


def verify_all(
    models: Sequence[Standalone],
    folder: Path | None = None,
    *,
    jobs: int,
    tlc: Tlc | None = None,
    on_done: OnDone | None = None,
) -> dict[str, Verified]:
    """Verify models, several at a time; by name.

    Raises:
        SeparationError: one doesn't verify.
    """
    found = _numbered(
        [partial(verify, model, folder, tlc) for model in models],
        [model.name for model in models],
        jobs,
        on_done,
        ahead=len(models),
    )
    return dict(zip((model.name for model in models), found, strict=True))


def decide_lattice(
    *,
    jobs: int,
    tlc: Tlc | None = None,
    tlc_states: int = 0,
    only: Collection[tuple[str, ...]] | None = None,
    on_done: OnDone | None = None,
) -> tuple[Checked, ...]:
    """Decide every set of safety clauses by the mirror, and check by TLC those that are small enough.

    Args:
        jobs: processes.
        tlc: what TLC is run with.
        tlc_states: the most distinct states of a model that TLC is asked about.
        only: decide these sets only.
        on_done: told of progress.

    Raises:
        SeparationError: the engines differ, or one cannot examine a model.
    """
    wanted = [each for each in elements() if only is None or each in only]
    singles = [
        Configuration(program_of(shape), bounds, (fault,))
        for shape, bounds in SPACE
        for fault in _SAFETY_FAULTS
    ]
    alone = _numbered(
        [partial(examine_by_mirror, each) for each in singles],
        [str(each) for each in singles],
        jobs,
        on_done,
        ahead=len(singles),
    )
    count = len(_SAFETY_FAULTS)
    breaking = breaking_alone([alone[i * count : (i + 1) * count] for i in range(len(SPACE))])
    # the large sets take longest
    order = sorted(wanted, key=len, reverse=True)
    decided = _numbered(
        [partial(decide, each, breaking) for each in order], [_words(each) for each in order], jobs, on_done
    )
    by_set = {each.breaks: each for each in decided}
    asked = [each for each in by_set.values() if each.found is not None and each.found.distinct <= tlc_states]
    tasks = [Task(each.found.configuration, "tlc") for each in asked if each.found is not None]
    done = 0

    def note(i: int) -> None:
        nonlocal done
        done += 1
        if on_done is not None:
            on_done(f"{_words(asked[i].breaks)} by TLC", done, len(tasks))

    answers = examine_all(tasks, jobs=jobs, tlc=tlc, on_done=note)
    by_tlc: dict[tuple[str, ...], Examination] = {}
    for each, answer in zip(asked, answers, strict=True):
        if isinstance(answer, Failure):
            raise SeparationError(f"{_words(each.breaks)}: {answer.reason}")
        if each.found is not None and answer.figures != each.found.figures:
            raise SeparationError(
                f"{_words(each.breaks)}: TLC finds {answer.figures}, the mirror {each.found.figures}"
            )
        by_tlc[each.breaks] = answer
    return tuple(Checked(by_set[each], by_tlc.get(each)) for each in wanted)


def _numbered(
    calls: Sequence[Callable[[], Any]],
    names: Sequence[str],
    jobs: int,
    on_done: OnDone | None,
    ahead: int | None = None,
) -> list[Any]:
    """The answers of calls that must not fail."""
    done = 0

    def note(i: int) -> None:
        nonlocal done
        done += 1
        if on_done is not None:
            on_done(names[i], done, len(calls))

    answers = call_all(calls, jobs=jobs, ahead=ahead, on_done=note)
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, Failure):
            raise SeparationError(f"{name}: {answer.reason}")
    return answers


def _words(breaks: Collection[str]) -> str:
    return "{" + ", ".join(breaks) + "}"
