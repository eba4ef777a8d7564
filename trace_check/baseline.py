"""Violations that are known already: what tells one from another, and the file that lists them.

A violation is known again by what survives a new recording: whose trace it is (system, store, sink and scenario, not
its version and not the file's name), which clause breaks, at an event of which kind about which step, gate or unit,
and the smallest sets of faults that explain the trace.  Event and line numbers, times, threads, branches, processes and
whether the clause breaks certainly or possibly are not part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from trace_check.checker import Verdict
from trace_check.errors import TraceError
from trace_check.events import AnyEvent, Header, event_about
from trace_check.reader import TraceStream

__all__ = [
    "BASELINE_VERSION",
    "NO_CLAUSE",
    "UNMODELLED",
    "Comparison",
    "Violation",
    "baseline_text",
    "compare",
    "read_baseline",
    "subject_of",
    "violations_of",
]

BASELINE_VERSION: Final = 1
UNMODELLED: Final = "unmodelled"
"""In place of a clause: an event that no set of faults explains."""
NO_CLAUSE: Final = "none"
"""In place of a clause: faults are needed to explain the trace, and break none in it."""

_MEND: Final = "write it anew with `trace check --write-baseline`"


class Violation(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """One violation, as far as it can be known again.

    Attributes:
        system, store, sink, scenario: of the trace's header.
        clause: the clause that breaks, `UNMODELLED` or `NO_CLAUSE`.
        at: the event where it does: its kind, and the step, gate or unit that it is about.
        explanations: the smallest sets of faults that explain the trace.
    """

    system: str
    store: str
    sink: str
    scenario: str
    clause: str
    at: str
    explanations: tuple[tuple[str, ...], ...]

    @property
    def trace(self) -> tuple[str, str, str, str]:
        """What tells its trace from others."""
        return self.system, self.store, self.sink, self.scenario

    def __str__(self) -> str:
        faults = " or ".join(" and ".join(names) or "no fault" for names in self.explanations)
        where = f"{self.system}, {self.scenario} ({self.store}, {self.sink} sink)"
        return f"{where}: {self.clause} at {self.at}, explained by {faults}"


class _File(Struct, forbid_unknown_fields=True):
    version: Annotated[int, Meta(ge=1)]
    violations: list[Violation]


@dataclass(frozen=True)
class Comparison:
    """What was found, beside what is known.

    Attributes:
        known: found and known.
        new: found and not known.
        gone: known, and not found in any of the traces whose they are.
        not_checked: known of traces that weren't among those checked.
    """

    known: frozenset[Violation]
    new: frozenset[Violation]
    gone: frozenset[Violation]
    not_checked: frozenset[Violation]

    def status(self, verdict: Verdict, found: Iterable[Violation]) -> int:
        """The exit status of a verdict with these violations: 0 where all of them are known."""
        return 0 if verdict.exit_status == 1 and self.known.issuperset(found) else verdict.exit_status


def compare(
    known: Iterable[Violation],
    found: Iterable[Violation],
    traces: Iterable[tuple[str, str, str, str]],
) -> Comparison:
    """Hold what was found against what is known.

    Args:
        known: of a baseline.
        found: in all traces that were checked.
        traces: `Violation.trace` of all of these, those that conform included (see `subject_of`).
    """
    expected, seen, checked = frozenset(known), frozenset(found), set(traces)
    missing = expected - seen
    gone = frozenset(violation for violation in missing if violation.trace in checked)
    return Comparison(expected & seen, seen - expected, gone, missing - gone)


def violations_of(verdict: Verdict, *, allow_torn: bool = False) -> tuple[Violation, ...]:
    """The violations of a verdict, in order; none where it is no violation.

    Reads the verdict's trace again, as far as the last event that a clause names.  Of a large log, the events that the
    verdict doesn't list count as well.

    Raises:
        TraceError: that file is not what it was.
    """
    if verdict.exit_status != 1:
        return ()
    places: list[tuple[str, int]] = [(broken.clause, broken.event) for broken in verdict.clauses]
    places += [(UNMODELLED, number) for number in verdict.unmodelled]
    if not places:
        first = verdict.first_unexplained
        places = [(NO_CLAUSE, first.event if first is not None else 0)]
    header, events = _events(verdict.file, {number for _, number in places}, allow_torn)
    found = {(clause, event_about(events[number]) if number in events else "-") for clause, number in places}
    return tuple(
        sorted(
            Violation(*_subject(header), clause=clause, at=at, explanations=verdict.explanations)
            for clause, at in found.union(verdict.left_out_at)
        )
    )


def subject_of(path: str | Path) -> tuple[str, str, str, str]:
    """`Violation.trace` of a trace file.

    Raises:
        TraceError: it has no header that can be read.
    """
    with TraceStream(path) as stream:
        return _subject(stream.header)


def read_baseline(path: str | Path) -> frozenset[Violation]:
    """The violations that a baseline lists.

    Raises:
        TraceError: the file can't be read or is no baseline.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TraceError(
            path, None, f"cannot be read: {error.strerror}", "give the path of a baseline"
        ) from None
    try:
        version = msgspec.json.decode(data, type=_VersionOnly).version
        if version != BASELINE_VERSION:
            what = f"the baseline's version is {version}, known is {BASELINE_VERSION}"
            raise TraceError(path, None, what, "use a matching release, or " + _MEND)
        return frozenset(msgspec.json.decode(data, type=_File).violations)
    except msgspec.ValidationError as error:
        raise TraceError(path, None, f"is no baseline: {_lower(str(error))}", _MEND) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise TraceError(path, None, f"is no JSON: {_lower(str(error))}", _MEND) from None


def baseline_text(violations: Iterable[Violation]) -> str:
    """A baseline's file; the same violations give the same text."""
    listed = msgspec.to_builtins(sorted(set(violations)))
    return (
        json.dumps({"version": BASELINE_VERSION, "violations": listed}, indent=2, ensure_ascii=False) + "\n"
    )


class _VersionOnly(Struct):
    version: object


def _subject(header: Header) -> tuple[str, str, str, str]:
    return header.system, header.store, header.sink, header.scenario


def _events(path: str, numbers: set[int], allow_torn: bool) -> tuple[Header, dict[int, AnyEvent]]:
    """The header, and the events with these numbers, without holding the file."""
    found: dict[int, AnyEvent] = {}
    with TraceStream(path, allow_torn=allow_torn) as stream:
        for number, (_, event) in enumerate(stream, 1):
            if number in numbers:
                found[number] = event
                if len(found) == len(numbers):
                    break
        return stream.header, found


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].replace("`", "'")
