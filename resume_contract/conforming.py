"""Records systems, checks what they did, and compares it with what is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from resume_contract.errors import ResumeContractError
from separating_models.pool import Failure, call_all
from trace_check.conformance.atlas import Atlas, SystemEntry, read_atlas, saturation_claim, system_entry
from trace_check.conformance.judging import Finding, judge
from trace_check.conformance.plan import Omitted, Recording, plan
from trace_check.conformance.races import (
    REPETITIONS,
    Cell,
    RaceRow,
    cells,
    effects_a_racer,
    fired_in,
    judge_race,
    race_scenario,
    run_race,
)
from trace_check.conformance.recordings import each_done, make_recording, require_environment
from trace_check.errors import RecordingError, TraceError
from trace_check.events import Header
from trace_check.reader import TraceStream
from trace_check.recording.system import load_system

__all__ = ["ATLAS", "TRACES", "Conformance", "check_stored", "conform", "judged_again", "keep"]

ATLAS = "conformance.json"
TRACES = "traces"
FORMAT_VERSION = 1
"""Of what `conform --json` prints; see docs/json.md."""

Report = Callable[[str], None]

_TOGETHER = 12  # traces that one process checks before it takes more


@dataclass
class Conformance:
    """What was recorded, and how it compares.

    Attributes:
        findings: of each recording those of all its repetitions.
        races: rows of the concurrency table.
        omitted: what is not applicable.
        not_recorded: what could not be had here.
        differences: where the verdicts aren't what is kept, or what they were the first time; one line each.
        mistaken: where a kept trace is not of what the atlas says; one line each.
        unread: why the trace of a race could not be read or has no verdict; one line each.
        compared: how many recordings were compared with what is kept.
        traces: the folder of the recorded traces.
    """

    findings: dict[Recording, list[Finding]] = field(default_factory=dict)
    races: list[RaceRow] = field(default_factory=list)
    omitted: list[Omitted] = field(default_factory=list)
    not_recorded: list[Omitted] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    mistaken: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    compared: int = 0
    traces: Path = Path()

    @property
    def unchecked(self) -> list[Finding]:
        """The recordings that have no verdict."""
        return [f for found in self.findings.values() for f in found if f.verdict == "unchecked"]

    def distribution(self, recording: Recording) -> Counter[str]:
        """The outcomes of a recording's repetitions."""
        return Counter(finding.summary for finding in self.findings[recording])

    def closing_line(self, *, stored: bool) -> str:
        """How many there are of what, in one line.

        Args:
            stored: nothing was recorded, but what is kept was checked again.
        """
        number = sum(map(len, self.findings.values()))
        counts = {"checked again" if stored else "recorded": number, "races": len(self.races)}
        counts |= {"compared": self.compared, "differences": len(self.differences) + len(self.mistaken)}
        counts |= {
            "unchecked": len(self.unchecked) + len(self.unread),
            "not recorded": len(self.not_recorded),
        }
        always = ("checked again", "recorded", "compared", "differences", "not recorded")
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count or what in always)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "version": FORMAT_VERSION,
            "recordings": [
                {**msgspec.to_builtins(found[0]), "outcomes": dict(self.distribution(recording))}
                for recording, found in self.findings.items()
            ],
            "races": msgspec.to_builtins(self.races),
            "omitted": msgspec.to_builtins(self.omitted),
            "not_recorded": msgspec.to_builtins(self.not_recorded),
            "compared": self.compared,
            "differences": self.differences + self.mistaken,
        }


def conform(
    folder: Path,
    *,
    systems: Sequence[str] = (),
    stores: Sequence[str] = (),
    scenarios: Sequence[str] = (),
    repeat: int = 1,
    races: bool = False,
    only_races: bool = False,
    jobs: int = 2,
    report: Report = lambda _: None,
) -> Conformance:
    """Record systems and check what they did.

    Args:
        folder: where the traces go.
        systems, stores, scenarios: only these; all where nothing is named.
        repeat: how often each is recorded; the first is kept.
        races: fill the concurrency table as well.
        only_races: record nothing else.
        jobs: recordings at a time.
        report: told how far it is.

    Raises:
        RecordingError: an unknown name.
    """
    recordings, omitted = plan(systems, stores, scenarios)
    result = Conformance(omitted=omitted, traces=folder)
    there = _with_environment(dict.fromkeys((r.system, r.store) for r in recordings), result, report)
    recordings = [recording for recording in recordings if (recording.system, recording.store) in there]
    if not only_races:
        _record(recordings, folder, repeat, jobs, result, report)
    if races:
        wanted = [cell for cell in cells(systems) if (cell.system, cell.store) in there]
        _race(wanted, folder, result, report)
    return result


def _with_environment(
    wanted: Iterable[tuple[str, str]], result: Conformance, report: Report
) -> set[tuple[str, str]]:
    """The systems, each with a store, that can be had here."""
    there = set()
    for system, store in wanted:
        report(f"the environment of {system} {store}")
        try:
            require_environment(system, store)
            there.add((system, store))
        except RecordingError as error:
            result.not_recorded.append(_missing(error, system, store))
    return there


def _missing(
    error: RecordingError, system: str, store: str = "", scenario: str = "", sink: str = ""
) -> Omitted:
    return Omitted(system, store, scenario, sink, str(error), "not recorded")


def _record(
    recordings: Sequence[Recording],
    folder: Path,
    repeat: int,
    jobs: int,
    result: Conformance,
    report: Report,
) -> None:
    calls = []
    of: list[tuple[Recording, Path]] = []
    for recording in recordings:
        for number in range(repeat):
            place = folder if number == 0 else folder / f".again-{number}"
            calls.append(partial(make_recording, recording, place))
            of.append((recording, place))
    done = 0
    for number, answer in each_done(calls, jobs):
        recording, place = of[number]
        done += 1
        report(f"{done} of {len(calls)}, {recording.label}")
        if isinstance(answer, RecordingError):
            result.not_recorded.append(
                _missing(answer, recording.system, recording.store, recording.scenario, recording.sink)
            )
            continue
        version = load_system(recording.system, recording.store).version()
        result.findings.setdefault(recording, []).append(judge(recording, version, answer, place))
    result.findings = {r: result.findings[r] for r in recordings if r in result.findings}
    for recording, found in result.findings.items():
        outcomes = {finding.outcome for finding in found}
        if len(outcomes) > 1 and not recording.varies:
            words = "; ".join(f"{n} times {what}" for what, n in result.distribution(recording).items())
            result.differences.append(f"{recording.label}: not the same every time: {words}")


def _race(wanted: Sequence[Cell], folder: Path, result: Conformance, report: Report) -> None:
    """Races run one at a time: the others would take the processors from the racers."""
    for number, cell in enumerate(wanted, 1):
        fired: list[int] = []
        paths: list[Path] = []
        for repetition in range(REPETITIONS):
            report(f"race {number} of {len(wanted)}, {cell.label}, {repetition + 1} of {REPETITIONS}")
            try:
                count, path = run_race(cell, folder / f".again-{repetition}")
                fired.append(count)
                paths.append(path)
            except RecordingError as error:
                result.not_recorded.append(_missing(error, cell.system, cell.store, f"race of {cell.racers}"))
        if any(fired):
            result.races.append(_row(cell, fired, paths, folder))
        elif fired:
            # Racers that never come through a gate put nothing to the test.
            none = RecordingError(f"{cell.label}: no racer fired the effect", "look at the trace of it")
            result.not_recorded.append(_missing(none, cell.system, cell.store, f"race of {cell.racers}"))


def _row(cell: Cell, fired: list[int], paths: list[Path], folder: Path) -> RaceRow:
    """The row of a cell, with the trace of the first repetition that has a verdict; without any, of the last.

    Its number of effects comes first.
    """
    system = load_system(cell.system, cell.store)
    version = system.version()
    kept = folder / f"{system.name}-{version}" / paths[0].name
    kept.parent.mkdir(parents=True, exist_ok=True)
    before: list[int] = []  # of the repetitions that have no verdict
    for path in paths:
        shutil.copyfile(path, kept)
        finding = judge_race(kept, folder, system=system.name, version=version, store=cell.store)
        if finding.verdict != "unchecked" or len(before) == len(paths) - 1:
            break
        before.append(fired[len(before)])
    return RaceRow(
        system=system.name,
        version=version,
        store=cell.store,
        k=cell.racers,
        behind_gate=cell.behind_gate,
        effects=[fired[len(before)], *before, *fired[len(before) + 1 :]],
        per_racer=effects_a_racer(fired, cell.racers),
        trace=kept.relative_to(folder).as_posix(),
        finding=finding,
    )


def compare(result: Conformance, atlas: Atlas) -> None:
    """Say where the first repetition of a recording differs from what is kept."""
    kept = atlas.findings()
    for recording, found in result.findings.items():
        before = kept.get(found[0].key)
        if before is None and ":" in recording.system:
            continue  # a system of the user's own, of which nothing is kept
        if before is None:
            result.differences.append(f"{recording.label}: is not among what is kept")
        elif not recording.varies:
            result.compared += 1
            if before.outcome != found[0].outcome:
                result.differences.append(
                    f"{recording.label}: kept is {before.summary}; recorded now: {found[0].summary}"
                )


def check_stored(results: Path, jobs: int = 1, report: Report = lambda _: None) -> Conformance:
    """Check every trace that the atlas is made of again, without any framework.

    Args:
        results: the folder of the atlas.
        jobs: processes.
        report: told how far it is.

    Raises:
        TraceError: there is no atlas.
        ResumeContractError: it has no recording.
    """
    atlas = read_atlas(results / ATLAS)
    result = Conformance(traces=results / TRACES)
    kept = [_Kept(entry.system, before) for entry in atlas.systems for before in entry.recordings]
    calls = [
        partial(_judge_again, kept[at : at + _TOGETHER], result.traces)
        for at in range(0, len(kept), _TOGETHER)
    ]
    races = [partial(_race_again, row, result.traces) for row in atlas.races]
    answers: list[Any] = []
    of_all: list[Callable[[], Any]] = [*races, *calls]  # what takes longest comes first
    for answer in call_all(of_all, jobs=jobs, on_done=lambda n: report(f"part {n + 1} of {len(of_all)}")):
        if isinstance(answer, Failure):
            raise ResumeContractError(f"{result.traces}: {answer.reason}")
        answers.append(answer)
    again: list[tuple[Finding, str]] = [one for answer in answers[len(races) :] for one in answer]
    for (_, before), (found, mistaken) in zip(kept, again, strict=True):
        path = result.traces / before.trace
        result.findings[_recording_of(before)] = [found]
        if mistaken:
            result.mistaken.append(f"{path}: {mistaken}")
        if found.verdict == "unchecked":
            continue
        result.compared += 1
        if found.outcome != before.outcome:
            result.differences.append(f"{path}: kept is {before.summary}; checked now: {found.summary}")
        if found.breaks != before.breaks:
            result.differences.append(
                f"{path}: the events at which clauses break are not those that are kept"
            )
        if (found.exercised, found.smallest) != (before.exercised, before.smallest):
            result.differences.append(
                f"{path}: what it puts to a test, or whether the explanation is the smallest, is not what is kept"
            )
    for found_again in answers[: len(races)]:
        result.races.append(found_again.row)
        result.differences += found_again.differences
        result.mistaken += found_again.mistaken
        result.unread += found_again.unread
    if not result.findings:
        raise ResumeContractError(f"{results / ATLAS}: no recording in it: record some with conform --write")
    return result


class _Kept(NamedTuple):
    """What an atlas says of a trace, and the system's name in the trace's header."""

    system: str
    finding: Finding


def _judge_again(kept: Sequence[_Kept], traces: Path) -> list[tuple[Finding, str]]:
    """What each trace shows now, and how it is not of what the atlas says."""
    again = []
    for system, before in kept:
        path = traces / before.trace
        found = judge(_recording_of(before), before.version, path, traces)
        named = {"system": system, "version": before.version, "store": before.store}
        named |= {"scenario": before.scenario, "sink": before.sink}
        again.append((found, "" if found.verdict == "unchecked" else _mistaken(named, _header(path))))
    return again


@dataclass
class _RaceAgain:
    """A row of the table, held against its trace; see `Conformance` for the lists."""

    row: RaceRow
    differences: list[str] = field(default_factory=list)
    mistaken: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def _race_again(row: RaceRow, traces: Path) -> _RaceAgain:
    """Count what the trace of a race shows to be fired, and check it."""
    path = traces / row.trace
    again = _RaceAgain(row)
    try:
        count, header = fired_in(path), _header(path)
        found = judge_race(path, traces, system=row.system, version=row.version, store=row.store)
    except TraceError as error:
        again.unread.append(str(error))
        return again
    named = {"system": row.system, "version": row.version, "store": row.store}
    scenario = race_scenario(row.k, row.behind_gate)
    # the older ones have the name of the race that is recorded for its verdict
    older = scenario.replace("racers-", "race-", 1)
    named["scenario"] = older if header.scenario == older else scenario
    if mistaken := _mistaken(named, header):
        again.mistaken.append(f"{path}: {mistaken}")
    if count != row.effects[0]:
        again.differences.append(f"{path}: kept are {row.effects[0]} effects; counted now: {count}")
    if found.verdict == "unchecked":
        again.unread.append(str(found.error))
        return again
    before = row.finding
    if before is not None and found != before:
        again.differences.append(f"{path}: kept is {before.summary}; checked now: {found.summary}")
    again.row = msgspec.structs.replace(row, finding=found)
    return again


def _header(path: Path) -> Header:
    with TraceStream(path) as stream:
        return stream.header


def _mistaken(named: dict[str, str], header: Header) -> str:
    """How a header isn't what the atlas says; empty where it is."""
    wrong = {name: value for name, value in named.items() if getattr(header, name) != value}
    if not wrong:
        return ""
    said = ", ".join(f"{name} {value}" for name, value in wrong.items())
    found = ", ".join(f"{name} {getattr(header, name)}" for name in wrong)
    return f"the atlas has it as {said}; its header says {found}"


def _recording_of(found: Finding) -> Recording:
    return Recording(found.system, found.store, found.scenario, cast(Any, found.sink), found.varies)


def judged_again(result: Conformance, results: Path) -> Atlas:
    """The atlas of the same recordings with the verdicts that `check_stored` found.

    Raises:
        TraceError: there is no atlas.
        RecordingError: a system in it is not known.
    """
    before = read_atlas(results / ATLAS)
    now = {found[0].key: found[0] for found in result.findings.values()}
    entries = [
        msgspec.structs.replace(
            system_entry(entry.name, entry.store, [now[f.key] for f in entry.recordings], entry.omitted),
            version=entry.version,  # of the recordings: what is pinned now may be another
        )
        for entry in before.systems
    ]
    return msgspec.structs.replace(before, systems=entries, races=result.races)


def keep(result: Conformance, results: Path, recorded: Sequence[str]) -> Atlas:
    """Put the traces in their place and make the atlas; systems that weren't recorded now stay as they are kept.

    Args:
        result: with every scenario of its systems.
        results: the folder.
        recorded: the systems that were asked for.
    """
    before = read_atlas(results / ATLAS) if (results / ATLAS).exists() else Atlas([])
    entries: list[SystemEntry] = []
    for system, store in dict.fromkeys((r.system, r.store) for r in result.findings):
        of_it = [found[0] for r, found in result.findings.items() if (r.system, r.store) == (system, store)]
        left = [o for o in [*result.omitted, *result.not_recorded] if (o.system, o.store) == (system, store)]
        entries.append(system_entry(system, store, of_it, left))
    names = {(entry.name, entry.store) for entry in entries}
    entries += [entry for entry in before.systems if (entry.name, entry.store) not in names]
    entries.sort(key=lambda entry: (entry.name == "reference", entry.system, entry.version))
    rows = {(r.system, r.version, r.store, r.k, r.behind_gate): r for r in [*before.races, *result.races]}
    missing = [o for o in before.not_recorded if o.system not in recorded] + result.not_recorded
    races = [rows[key] for key in sorted(rows)]
    atlas = Atlas(entries, races, saturation_claim(races), missing)
    _move_traces(result, results / TRACES)
    return atlas


def _move_traces(result: Conformance, target: Path) -> None:
    """Each trace replaces the one that was kept of it, in one step."""
    for path in sorted(result.traces.rglob("*.jsonl.gz")):
        inside = path.relative_to(result.traces)
        if inside.parts[0].startswith("."):
            continue
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=(target / inside).parent, prefix=".", delete=False) as part:
            part.write(path.read_bytes())
        Path(part.name).chmod(0o644)
        shutil.move(part.name, target / inside)
