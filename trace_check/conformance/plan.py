"""Which recordings there are to make: systems x stores x scenarios x sinks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from trace_check.errors import RecordingError
from trace_check.recording.system import SYSTEMS, System, load_system

__all__ = ["KEYED_ON_EVERY_STORE", "Omitted", "Recording", "plan"]

KEYED_ON_EVERY_STORE: Final = ("kill-", "recovery-", "second-answer-at-", "race-")
"""Beginnings of the scenarios that are recorded with a keyed sink on every store, not on the first alone."""

_NO_KEY: Final = "the system offers no identity of a step that would be the same for a retry"


class Recording(msgspec.Struct, frozen=True, order=True):
    """A recording to make.

    Attributes:
        system: a name of :data:`~trace_check.recording.system.SYSTEMS`.
        store, scenario, sink: which of its.
        varies: processes race in it, so that its verdict may vary.
    """

    system: str
    store: str
    scenario: str
    sink: Literal["plain", "keyed"]
    varies: bool = False

    @property
    def label(self) -> str:
        """In a few words."""
        return f"{self.system} {self.store} {self.scenario} {self.sink}"


class Omitted(msgspec.Struct, frozen=True):
    """A recording that there is none of, and why; an empty scenario stands for all of them."""

    system: str
    store: str
    scenario: str
    sink: str
    reason: str
    because: Literal["not applicable", "not planned", "not recorded"] = "not applicable"

    @property
    def label(self) -> str:
        """What there is none of, in a few words."""
        return " ".join(part for part in (self.system, self.store, self.scenario, self.sink) if part)


def plan(
    systems: Sequence[str] = (), stores: Sequence[str] = (), scenarios: Sequence[str] = ()
) -> tuple[list[Recording], list[Omitted]]:
    """The recordings to make, and those that can't be.

    Args:
        systems, stores, scenarios: only these; all where nothing is named.

    Raises:
        RecordingError: a name that no system knows, or nothing is left to record.
    """
    recordings: list[Recording] = []
    omitted: list[Omitted] = []
    for name in dict.fromkeys(systems or SYSTEMS):
        for system in _with_each_store(name):
            if not stores or system.store in stores:
                made, left = _plan_one(name, system, scenarios)
                recordings += made
                omitted += left
    if not recordings and not omitted:
        asked = " ".join([*stores, *scenarios])
        raise RecordingError(f"nothing to record for {asked!r}", "name a store and a scenario of the system")
    return recordings, omitted


def _with_each_store(name: str) -> Iterator[System]:
    first = load_system(name)
    yield first
    for store in first.stores[1:]:
        yield load_system(name, store)


def _plan_one(name: str, system: System, wanted: Sequence[str]) -> tuple[list[Recording], list[Omitted]]:
    recordings: list[Recording] = []
    omitted: list[Omitted] = []
    for scenario, reason in system.not_applicable().items():
        if not wanted or scenario in wanted:
            omitted.append(Omitted(name, system.store, scenario, "", reason))
    for scenario, reason in system.not_planned().items():
        if not wanted or scenario in wanted:
            omitted.append(Omitted(name, system.store, scenario, "", reason, "not planned"))
    for scenario, what in system.scenarios().items():
        if wanted and scenario not in wanted:
            continue
        recordings.append(Recording(name, system.store, scenario, what.sink, what.varies))
        is_first = system.store == system.stores[0]
        if what.sink == "keyed" or not (is_first or scenario.startswith(KEYED_ON_EVERY_STORE)):
            continue
        if system.key is None:
            omitted.append(Omitted(name, system.store, scenario, "keyed", _NO_KEY))
        else:
            recordings.append(Recording(name, system.store, scenario, "keyed", what.varies))
    return recordings, omitted
