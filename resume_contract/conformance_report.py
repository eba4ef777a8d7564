"""The atlas as a table, as Markdown and as pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from resume_contract.conforming import Conformance
from resume_contract.pictures import figure, save
from trace_check.conformance.advice import advice_on
from trace_check.conformance.atlas import Atlas, SystemEntry
from trace_check.conformance.profiles import Standing
from trace_check.conformance.races import RaceRow
from trace_check.explained import ALL_CLAUSES
from trace_check.recording.system import SYSTEMS

__all__ = ["draw_conformance", "draw_races", "findings_table", "markdown"]

_WORDS: Final[dict[Standing, str]] = {
    "holds": "holds",
    "breaks": "**breaks**",
    "not_exercised": "-",
    "not_applicable": "n/a",
}
_COLOURS: Final[dict[Standing, str]] = {
    "holds": "#4c9a6a",
    "breaks": "#c8443c",
    "not_exercised": "#eeeeee",
    "not_applicable": "#ffffff",
}
_POSSIBLE: Final = "#e6a09c"
_GAP: Final = 0.35
"""Between the rows of two systems, in rows."""
_PANELS: Final = 4
"""Panels beside each other in the picture of the races."""


def findings_table(result: Conformance) -> Table:
    """A line for each recording."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("system", "store", "scenario", "sink", "verdict"):
        table.add_column(name, overflow="fold")
    for recording, found in result.findings.items():
        outcomes = result.distribution(recording)
        words = [what if len(found) == 1 else f"{n} times {what}" for what, n in outcomes.items()]
        table.add_row(
            f"{recording.system} {found[0].version}",
            recording.store,
            recording.scenario,
            recording.sink,
            "\n".join(words),
        )
    for row in result.races:
        table.add_row(
            f"{row.system} {row.version}",
            row.store,
            f"race of {row.k}, {row.behind_gate:g} s",
            "",
            f"{', '.join(map(str, row.effects))} effects; {row.per_racer:g} a racer"
            + ("" if row.finding is None else f"; {row.finding.summary}"),
        )
    return table


def markdown(atlas: Atlas) -> str:
    """The atlas as a page."""
    return "\n".join(_lines(atlas)) + "\n"


def _lines(atlas: Atlas) -> Iterator[str]:
    yield "# What systems do on resume"
    yield ""
    yield (
        "Recorded from the real packages, in real processes that are killed, stopped and raced, without"
        " any LLM, and checked against the transition relation of the reference. *breaks*: in some"
        " recorded schedule; *holds*: put to a test and not broken in any recorded schedule, which is no"
        " proof; -: nothing recorded puts it to a test; n/a: the system has no way to do what the clause"
        " is about. (?): a smallest explanation breaks it, another one doesn't. *Plain sink only*, at EO: it breaks where"
        " the receiver applies every firing, and in no recording whose receiver knows keys. Without keys no system avoids"
        " all of that; what of it is its own doing is [below](#effects-applied-again-or-not-at-all-by-cause)."
        + _keyed_only(atlas)
    )
    yield ""
    yield "![Systems by clauses](conformance.png)"
    yield ""
    yield "| system | store | " + " | ".join(ALL_CLAUSES) + " |"
    yield "|---|---|" + "---|" * len(ALL_CLAUSES)
    for entry in atlas.systems:
        cells = [_cell(entry, clause) for clause in ALL_CLAUSES]
        yield f"| {entry.system} {entry.version} | {_store(entry)} | " + " | ".join(cells) + " |"
    yield ""
    yield (
        "A cell links to the trace that shows it; the line is that of the breaking event. The contract takes the store to"
        " keep what it has acknowledged: `torn-store`, where it does not, is recorded below and is not counted here."
    )
    yield ""
    yield (
        "Traces are compressed, which a browser doesn't show. In a checkout of this project"
        " `resume-contract trace show results/traces/SYSTEM/NAME.jsonl.gz` draws one, and"
        " `resume-contract trace check` of the same file explains the verdict; `zcat` prints its lines."
    )
    yield from _advice(atlas)
    yield from _effects(atlas)
    yield from _races(atlas)
    yield from _claims(atlas)
    yield from _scenarios(atlas)
    yield from _missing(atlas)


def _store(entry: SystemEntry) -> str:
    """The store's name, which leads to what is said of it."""
    anchor = re.sub(r"[^\w -]", "", _heading(entry).lower()).replace(
        " ", "-"
    )  # as Markdown's readers make it
    kept_by = " (kept by the application)" if entry.kept_by == "application" else ""
    return f"[{entry.store}](#{anchor}){kept_by}"


def _heading(entry: SystemEntry) -> str:
    return f"{entry.system} {entry.version}, {entry.store}"


def _cell(entry: SystemEntry, clause: str) -> str:
    standing = entry.profile[clause]
    words = _WORDS[standing]
    proof = entry.proofs.get(clause)
    if proof is None:
        return words
    doubt = "" if proof.certain else " (?)"
    where = f" :{proof.line}" if proof.line is not None else ""
    only = f" ({_without_keys(entry)})" if _is_plain_only(entry, clause) else ""
    return f"[{words}](traces/{proof.trace}){where}{doubt}{only}"


def _is_plain_only(entry: SystemEntry, clause: str) -> bool:
    """Whether effects are seen to go wrong only with the sink that applies every firing."""
    return clause == "EO" and entry.profile[clause] == "breaks" and entry.proofs[clause].sinks == ["plain"]


def _without_keys(entry: SystemEntry) -> str:
    return "plain sink only" if "keyed" in entry.effects else "plain sink; not recorded with keys"


def _keyed_only(atlas: Atlas) -> str:
    """Which systems say nothing of the plain sink, in a sentence; nothing if there are none."""
    names = dict.fromkeys(entry.system for entry in atlas.systems if list(entry.effects) == ["keyed"])
    return f" Recorded with the keyed sink only: {', '.join(f'`{name}`' for name in names)}." if names else ""


def _advice(atlas: Atlas) -> Iterator[str]:
    yield ""
    yield "## What to do"
    yield ""
    yield (
        "For whoever builds on one of these systems: a sentence for each clause that it breaks here and for each"
        " cause, with a trace that shows it. *Possibly*: a smallest explanation breaks the clause, another one"
        " doesn't. Races are counted here."
    )
    for system in dict.fromkeys(entry.system for entry in atlas.systems):
        yield ""
        yield f"### {system}"
        yield ""
        advice = advice_on(atlas, system)
        every = [entry for entry in atlas.systems if entry.system == system]
        for one in advice:
            where = _with_stores(one.entries, every)
            possibly = "" if one.certain else "possibly "
            yield f"- {possibly}**{one.clause}**{where} ([trace](traces/{one.trace})): {one.text}"
        if advice and system in SYSTEMS:
            yield ""
            yield f"Why it is so with this system: [its page](../docs/systems/{system}.md)."
        if not advice:
            yield "Nothing that was recorded breaks a clause."


def _with_stores(entries: Sequence[SystemEntry], every: Sequence[SystemEntry]) -> str:
    """With which stores something is so, in words; nothing where it is so with all."""
    if len(entries) == len(every):
        return ""
    words = []
    for store in dict.fromkeys(entry.store for entry in entries):
        versions = [entry.version for entry in entries if entry.store == store]
        is_all = len(versions) == sum(entry.store == store for entry in every)
        words += [store] if is_all else [f"{store} of {version}" for version in versions]
    return f" with {', '.join(words)}"


def _effects(atlas: Atlas) -> Iterator[str]:
    yield ""
    yield "## Effects applied again or not at all, by cause"
    yield ""
    yield (
        "*recorded*: the effect's outcome was durably recorded, and the system ran it all the same: its"
        " own defect. *window*: the process died between firing and recording, or a second one did not"
        " know: no system closes that without a key. With a keyed sink, what is left is what the"
        " system's own identity of a step does not cover. *not applied*: in so many recordings an effect counts as done"
        " that was not applied, as where a fork fires with the key of its parent. -: not recorded with that sink."
        + _keyed_only(atlas)
    )
    yield ""
    yield (
        "| system | store | key | plain sink: recorded | plain: window | plain: not applied"
        " | keyed: recorded | keyed: window | keyed: not applied |"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|"
    for entry in atlas.systems:
        cells = [
            str(entry.effects[sink].get(cause, 0)) if sink in entry.effects else "-"
            for sink in ("plain", "keyed")
            for cause in ("recorded", "window", "not_applied")
        ]
        yield (
            f"| {entry.system} {entry.version} | {entry.store} | {entry.key or 'none'} | "
            + " | ".join(cells)
            + " |"
        )


def _races(atlas: Atlas) -> Iterator[str]:
    if not atlas.races:
        return
    yield ""
    yield "## k racers on one parked gate"
    yield ""
    yield (
        "k processes resume one parked gate at the same time; behind it lie so many seconds and then an"
        " effect. Effects a racer: the mean over the repetitions; 1.0 says that every one of them fires. The verdict is"
        " that on one repetition only, the first that has one, to which the link leads: another of the same row may"
        " come out otherwise. *perhaps less*: a smaller explanation was not ruled out. These races are not part of the"
        " profile above."
    )
    yield ""
    yield "![Effects a racer](races.png)"
    yield ""
    yield (
        "| system | store | k | seconds behind the gate | effects in each repetition | effects a racer"
        " | verdict of the linked repetition |"
    )
    yield "|---|---|---:|---:|---|---:|---|"
    for row in atlas.races:
        yield (
            f"| {row.system} {row.version} | {row.store} | {row.k} | {row.behind_gate:g} |"
            f" [{', '.join(map(str, row.effects))}](traces/{row.trace}) | {row.per_racer:.2f} |"
            f" {_race_verdict(row)} |"
        )


def _race_verdict(row: RaceRow) -> str:
    """What the kept repetition shows; where it conforms, that others fire more."""
    if row.finding is None:
        return ""
    most = max(row.effects)
    fires_more = row.finding.verdict == "conforms" and most > 1
    return row.finding.summary + (f"; another repetition fires {most} effects" if fires_more else "")


def _claims(atlas: Atlas) -> Iterator[str]:
    if not atlas.claims:
        return
    yield ""
    yield "## The paper's claims"
    yield ""
    yield "| claim | here | found |"
    yield "|---|---|---|"
    for claim in atlas.claims:
        yield f"| {claim.claim} | {'reproduced' if claim.reproduced else 'not reproduced'} | {claim.found} |"


def _scenarios(atlas: Atlas) -> Iterator[str]:
    yield ""
    yield "## Every recording"
    for entry in atlas.systems:
        yield ""
        yield f"### {_heading(entry)}"
        yield ""
        if entry.store_note:
            yield entry.store_note
            yield ""
        yield "| scenario | sink | verdict |"
        yield "|---|---|---|"
        for found in entry.recordings:
            varies = " (may vary)" if found.varies else ""
            yield f"| [{found.scenario}](traces/{found.trace}){varies} | {found.sink} | {found.summary} |"
        for left in entry.omitted:
            yield f"| {left.scenario or 'all'} | {left.sink} | {left.because}: {left.reason} |"


def _missing(atlas: Atlas) -> Iterator[str]:
    if atlas.not_recorded:
        yield ""
        yield "## Not recorded"
        yield ""
        for left in atlas.not_recorded:
            yield f"- {left.label}: {left.reason}"


def draw_conformance(atlas: Atlas, path: Path) -> None:
    """Systems by clauses, as a picture: the stores of a version beneath each other, a gap between systems.

    Raises:
        OSError: `path` cannot be written.
    """
    from matplotlib.patches import Patch, Rectangle

    rows = sorted(atlas.systems, key=lambda entry: (entry.system, _natural(entry.version), entry.store))
    places: list[float] = []
    for before, entry in zip([None, *rows], rows, strict=False):
        same = before is None or before.system == entry.system
        places.append((places[-1] + 1 if places else 0) + (0 if same else _GAP))
    height = places[-1] + 1 if places else 1
    made, axes = figure(3.6 + 0.75 * len(ALL_CLAUSES), 1.6 + 0.34 * height)
    for y, entry in zip(places, rows, strict=True):
        for x, clause in enumerate(ALL_CLAUSES):
            standing = entry.profile[clause]
            proof = entry.proofs.get(clause)
            is_doubtful = standing == "breaks" and proof is not None and not proof.certain
            colour = _POSSIBLE if is_doubtful else _COLOURS[standing]
            hatch = "////" if standing == "not_applicable" else None
            axes.add_patch(
                Rectangle(
                    (x, y), 1, 1, facecolor=colour, edgecolor="#bbbbbb" if hatch else "white", hatch=hatch
                )
            )
            if proof is not None:
                axes.text(
                    x + 0.5,
                    y + 0.5,
                    f"{proof.traces}{' p' * _is_plain_only(entry, clause)}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="black" if is_doubtful else "white",
                )
    labels = [f"{entry.system} {entry.version}, {entry.store}" for entry in rows]
    axes.set_xlim(0, len(ALL_CLAUSES))
    axes.set_ylim(height, 0)
    axes.set_xticks([x + 0.5 for x in range(len(ALL_CLAUSES))], ALL_CLAUSES)
    axes.xaxis.tick_top()
    axes.set_yticks([y + 0.5 for y in places], labels, fontsize=8)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    legend = [
        Patch(facecolor=_COLOURS["breaks"], label="breaks in so many traces (p: plain sink only)"),
        Patch(facecolor=_POSSIBLE, label="possibly breaks in so many"),
        Patch(facecolor=_COLOURS["holds"], label="holds: put to a test in so many traces"),
        Patch(facecolor=_COLOURS["not_exercised"], label="not exercised"),
        Patch(facecolor="white", edgecolor="#bbbbbb", hatch="////", label="not applicable"),
    ]
    made.legend(handles=legend, loc="outside lower center", ncols=3, fontsize=7, frameon=False)
    axes.set_title("What systems do on resume", fontsize=11)
    save(made, path)


def _natural(version: str) -> list[tuple[int, str]]:
    """Versions in their order: 1.2.9 before 1.2.24."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in version.split(".")]


def draw_races(atlas: Atlas, path: Path) -> None:
    """Effects a racer by the number of racers: a panel for each system and store, a line for each time behind the gate.

    Raises:
        OSError: `path` cannot be written.
    """
    names = sorted(
        {(row.system, row.version, row.store) for row in atlas.races},
        key=lambda name: (name[0], _natural(name[1]), name[2]),
    )
    seconds = sorted({row.behind_gate for row in atlas.races})
    racers = sorted({row.k for row in atlas.races})
    lines = max(1, -(-len(names) // _PANELS))
    made, grid = figure(
        2.7 * _PANELS, 2.1 * lines + 0.6, nrows=lines, ncols=_PANELS, squeeze=False, sharex=True, sharey=True
    )
    panels = [axes for row in grid for axes in row]
    for axes, name in zip(panels, names, strict=False):
        axes.plot(racers, [1 / k for k in racers], color="#999999", linestyle=":", label="one effect in all")
        for number, behind in enumerate(seconds):
            _draw_line(axes, atlas, name, behind, number)
        axes.set_xscale("log", base=2)
        axes.set_xticks(racers, [str(k) for k in racers])
        axes.set_xticks([], minor=True)
        axes.set_ylim(0, 1.08)
        axes.set_title(f"{name[0]} {name[1]}\n{name[2]}", fontsize=8)
        axes.tick_params(labelsize=7, labelbottom=True)
        axes.grid(visible=True, alpha=0.25)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    made.supxlabel("racers", fontsize=9)
    made.supylabel("effects a racer", fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    save(made, path)


def _draw_line(axes: Any, atlas: Atlas, name: Sequence[str], behind: float, number: int) -> None:
    """A time behind the gate: a hollow mark for the second, so that the first shows where both are the same."""
    rows = [
        row
        for row in atlas.races
        if (row.system, row.version, row.store) == tuple(name) and row.behind_gate == behind
    ]
    axes.plot(
        [row.k for row in rows],
        [row.per_racer for row in rows],
        color=f"C{number}",
        marker="os^D"[number % 4],
        fillstyle="none" if number else "full",
        markersize=8 if number else 4,
        linestyle="--" if number else "-",
        linewidth=1,
        label=f"{behind:g} s behind the gate",
    )
