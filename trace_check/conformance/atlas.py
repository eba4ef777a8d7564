"""The atlas: what every system did, as it is kept in ``results/conformance.json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from trace_check.conformance.judging import Finding
from trace_check.conformance.plan import Omitted
from trace_check.conformance.profiles import Proof, Standing, profile_of
from trace_check.conformance.races import RaceRow, effects_a_racer
from trace_check.errors import TraceError
from trace_check.explained import ALL_CLAUSES
from trace_check.recording.system import load_system

__all__ = ["Atlas", "Claim", "SystemEntry", "read_atlas", "saturation_claim", "system_entry"]

_MEND: Final = "record it again: resume-contract conform --write results"
_PAPERS_SHARE: Final = 36 / 40
_FORKING: Final = ("fork-declared", "fork-undeclared", "second-answer-at-old-checkpoint")


class SystemEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One system with one store.

    Attributes:
        system, version, store: which.
        name: its name in :data:`~trace_check.recording.system.SYSTEMS`.
        kept_by: who keeps the state, the framework or the application.
        key: the identity of a step that the framework offers.
        store_note: what the store is, in a sentence; empty where its recorder says nothing.
        profile: each clause -> its standing.
        proofs: each clause that holds or breaks -> where it is seen.
        effects: each sink -> in how many firings an effect was applied again, by cause, and as `not_applied` in how many
            recordings one counts as done that was not applied at all.
        recordings: what each recording shows.
        omitted: scenarios that are not applicable, or were not recorded, and why.
    """

    system: str
    version: str
    store: str
    name: str
    kept_by: str
    key: str | None
    profile: dict[str, Standing]
    proofs: dict[str, Proof]
    effects: dict[str, dict[str, int]]
    recordings: list[Finding]
    omitted: list[Omitted]
    store_note: str = ""


class Claim(msgspec.Struct, frozen=True):
    """Something that the paper reports, and what was found here."""

    claim: str
    reproduced: bool
    found: str


class Atlas(msgspec.Struct, frozen=True):
    """All systems, the concurrency table, and what became of the paper's claims.

    Attributes:
        systems: one entry for each system with each store.
        races: the concurrency table.
        claims: the paper's claims.
        not_recorded: systems (or recordings) that could not be had here, and why.
    """

    systems: list[SystemEntry]
    races: list[RaceRow] = []
    claims: list[Claim] = []
    not_recorded: list[Omitted] = []

    def findings(self) -> dict[tuple[str, ...], Finding]:
        """What each recording shows, by what was recorded."""
        return {found.key: found for entry in self.systems for found in entry.recordings}

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return dict(msgspec.to_builtins(self))


def system_entry(
    name: str, store: str, findings: Sequence[Finding], omitted: Sequence[Omitted]
) -> SystemEntry:
    """The entry of one system with one store, from what its recordings show."""
    system = load_system(name, store)
    not_applicable = system.not_applicable()
    can_fork = any(scenario not in not_applicable for scenario in _FORKING)
    profile, proofs = profile_of(findings, can_fork)
    return SystemEntry(
        system=system.name,
        version=system.version(),
        store=store,
        name=name,
        kept_by=system.kept_by,
        key=system.key,
        profile=profile,
        proofs=proofs,
        effects={
            sink: _effects_of([f for f in findings if f.sink == sink])
            for sink in ("plain", "keyed")
            if any(f.sink == sink for f in findings)
        },
        recordings=list(findings),
        omitted=list(omitted),
        store_note=system.store_notes.get(store, ""),
    )


def _effects_of(findings: Sequence[Finding]) -> dict[str, int]:
    """What went wrong with effects, by cause."""
    again = {
        cause: sum(found.repeated.get(cause, 0) for found in findings) for cause in ("recorded", "window")
    }
    return again | {"not_applied": sum(found.leaves_out_an_effect for found in findings)}


def saturation_claim(races: Sequence[RaceRow]) -> list[Claim]:
    """The paper's claim on races, that every racer fires in 36 of its 40 cells, beside what was found here.

    Nothing is said where no framework was raced; this project's own reference isn't counted.
    """
    rows = [row for row in races if row.system != "reference"]
    if not rows:
        return []
    full = [row for row in rows if row.per_racer == 1.0]
    short = sorted({f"{row.system} ({row.store})" for row in rows if row not in full})
    found = f"1.0 in {len(full)} of {len(rows)} cells; fewer with {', '.join(short) or 'none'}"
    claim = "k racers at one gate fire k effects: 1.0 effects a racer in 36 of 40 cells"
    return [Claim(claim, len(full) >= _PAPERS_SHARE * len(rows), found)]


def read_atlas(path: Path) -> Atlas:
    """Read what was kept.

    Raises:
        TraceError: it is missing or malformed.
    """
    try:
        atlas = msgspec.json.decode(path.read_bytes(), type=Atlas)
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise TraceError(path, None, what, "record it: resume-contract conform --write results") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise TraceError(path, None, f"is no atlas ({error})", _MEND) from None
    for what in _wrong(atlas):
        raise TraceError(path, None, f"is no atlas ({what})", _MEND)
    return atlas


def _wrong(atlas: Atlas) -> Iterator[str]:
    """What the types don't say of an atlas, and isn't so."""
    seen: set[tuple[str, ...]] = set()
    for number, entry in enumerate(atlas.systems):
        place = f"$.systems[{number}]"
        if set(entry.profile) != set(ALL_CLAUSES):
            yield f"the profile does not have every clause - at `{place}.profile`"
        if any({"recorded", "window"} - set(causes) for causes in entry.effects.values()):
            yield f"a sink lacks a cause - at `{place}.effects`"
        for at, found in enumerate(entry.recordings):
            where = f"{place}.recordings[{at}]"
            if (found.system, found.version, found.store) != (entry.name, entry.version, entry.store):
                yield f"the recording is of another system - at `{where}`"
            if (key := (found.system, found.store, found.scenario, found.sink)) in seen:
                yield f"the recording is there twice - at `{where}`"
            seen.add(key)
            if not _is_inside(found.trace):
                yield f"the trace is not below the folder of traces - at `{where}.trace`"
    raced: set[tuple[object, ...]] = set()
    for number, row in enumerate(atlas.races):
        if not row.effects:
            yield f"the race has no repetition - at `$.races[{number}].effects`"
        elif row.k < 1 or row.per_racer != effects_a_racer(row.effects, row.k):
            yield f"the effects a racer are not those of the repetitions - at `$.races[{number}].per_racer`"
        cell = row.system, row.version, row.store, row.k, row.behind_gate
        if cell in raced:
            yield f"the race is there twice - at `$.races[{number}]`"
        raced.add(cell)
        judged = row.finding
        if judged is not None and (judged.system, judged.version, judged.store, judged.trace) != (
            *cell[:3],
            row.trace,
        ):
            yield f"the finding is of another race - at `$.races[{number}].finding`"
        if not _is_inside(row.trace):
            yield f"the trace is not below the folder of traces - at `$.races[{number}].trace`"


def _is_inside(name: str) -> bool:
    """Whether a trace's name stays below the folder of traces, as the atlas may come from anywhere."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name
