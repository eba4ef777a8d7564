"""A trace of any size to the verdict that the offline checker gives.

Threads are independent, and a thread's verdict depends on its form only (see `forms`).  So each form is judged once,
by the offline checker itself, and what is left is to say where its events are in the file, which takes a second pass
if there is anything to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymodel.errors import EngineError
from trace_check.checker import (
    DEFAULT_BUDGET,
    BrokenClause,
    Unexplained,
    Verdict,
    check_file,
    check_trace,
    unreadable,
)
from trace_check.errors import TraceError
from trace_check.events import Header, event_about
from trace_check.explained import ALL_CLAUSES
from trace_check.printing import printable
from trace_check.reader import TraceStream
from trace_check.streaming.forms import Letter, trace_of
from trace_check.streaming.lines import Irregular
from trace_check.streaming.scanning import Located, Scan, TooLong, locate, scan

__all__ = ["LISTED", "MOST_EVENTS", "check_stream"]

LISTED = 100
"""Of each clause, and of unmodelled events, the first so many are listed."""

MOST_EVENTS = 20_000
"""Events that one thread may have: the search of a longer one would not come to an end in reasonable time."""

_UNMODELLED = 1 << 16
_FIRST = 1 << 17
_EARLIER = 1 << 18
_AT_ONCE = 16  # forms that a process is given at a time

OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Form:
    """What threads have in common.

    Attributes:
        letters: what they show.
        first: the first of them.
        count: how many they are.
        verdict: on each of them, with events counted in the thread.
    """

    letters: list[Letter]
    first: int
    count: int
    verdict: Verdict


def check_stream(
    path: str | Path,
    *,
    allow_torn: bool = False,
    budget: int = DEFAULT_BUDGET,
    jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Verdict:
    """Check a trace of any size: the verdict of `check_file`, without keeping the events.

    Of each clause the first `LISTED` events are listed, and how many more there are is said in `left_out`.  `expanded`
    counts what was really looked at.

    Args:
        path: JSON Lines, plain or gzip.
        allow_torn: leave out a last line that was cut short, with a warning.
        budget: places of the search to expand at most, for each thread.
        jobs: processes that judge forms.
        on_progress: told how far it is.
    """
    path = Path(path)
    say = on_progress or _say_nothing
    try:
        found = scan(
            path,
            allow_torn=allow_torn,
            longest=MOST_EVENTS,
            on_block=lambda events: say(f"{events:,} events"),
        )
    except Irregular:
        return _by_the_reader(path, allow_torn, budget)
    except TooLong as error:
        text = str(
            TraceError(
                path,
                error.line,
                f"thread {error.thread!r} has more than {MOST_EVENTS:,} events, too many to search",
                "give every workflow instance a thread of its own, or record a shorter run",
            )
        )
        return Verdict(str(path), "unchecked", error=text)
    except TraceError as error:
        return unreadable(path, error, lambda: check_stream(path, allow_torn=True, budget=budget, jobs=jobs))
    forms: list[_Form] = []
    ends, firsts, which, counts = np.unique(
        found.ends, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(firsts)
    all_letters = (found.letters(int(ends[k])) for k in order)
    for number, (k, (letters, verdict)) in enumerate(
        zip(order, _judged(found, all_letters, budget, jobs), strict=False), 1
    ):
        if verdict is None or verdict.verdict == "unchecked":
            return _unchecked(found, letters, int(firsts[k]), budget)
        forms.append(_Form(letters, int(firsts[k]), int(counts[k]), verdict))
        say(f"{found.events:,} events, {number:,} of {len(ends):,} different threads judged")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return _combined(found, forms, place[which], allow_torn, budget)


def _say_nothing(_: str) -> None:
    pass


def _by_the_reader(path: Path, allow_torn: bool, budget: int) -> Verdict:
    """The offline checker's verdict; what is wrong with the file is found without keeping its events."""
    try:
        with TraceStream(path, allow_torn=allow_torn) as stream:
            for _ in stream:
                pass
    except TraceError as error:
        return unreadable(path, error, lambda: _by_the_reader(path, True, budget))
    return check_file(path, allow_torn=allow_torn, budget=budget)


def _judged(
    found: Scan, all_letters: Iterator[list[Letter]], budget: int, jobs: int
) -> Iterator[tuple[list[Letter], Verdict | None]]:
    """The verdict on each form, in their order; None is an error."""
    if jobs == 1:
        for letters in all_letters:
            yield letters, _judge(found.path, found.header, budget, [letters])[0]
        return
    from separating_models.pool import Failure, call_all

    waiting = list(all_letters)
    groups = [waiting[k : k + _AT_ONCE] for k in range(0, len(waiting), _AT_ONCE)]
    if len(groups) == 1:
        yield from zip(waiting, _judge(found.path, found.header, budget, waiting), strict=True)
        return
    calls = [partial(_judge, found.path, found.header, budget, group) for group in groups]
    for group, verdicts in zip(groups, call_all(calls, jobs=jobs), strict=True):
        yield from zip(group, [None] * len(group) if isinstance(verdicts, Failure) else verdicts, strict=True)


def _judge(path: Path, header: Header, budget: int, forms: Sequence[list[Letter]]) -> list[Verdict | None]:
    found: list[Verdict | None] = []
    for letters in forms:
        try:
            found.append(check_trace(trace_of(path, header, letters), budget=budget))
        except (EngineError, TraceError):
            found.append(None)
    return found


def _unchecked(found: Scan, letters: list[Letter], thread: int, budget: int) -> Verdict:
    """Why a thread can't be checked, in its own names."""
    trace = trace_of(found.path, found.header, letters, found.names(thread), found.thread_name(thread))
    try:
        verdict = check_trace(trace, budget=budget)
    except (EngineError, TraceError) as error:
        text, path = printable(str(error)), printable(str(found.path))
        return Verdict(str(found.path), "unchecked", error=text if path in text else f"{path}: {text}")
    return replace(verdict, threads=found.threads, warnings=tuple(found.warnings))


def _combined(
    found: Scan, forms: list[_Form], form_of: NDArray[np.int32], allow_torn: bool, budget: int
) -> Verdict:
    """What the offline checker makes of the verdicts on all threads."""
    explanations: set[tuple[str, ...]] = {()}
    for form in forms:
        for _ in range(form.count):
            more = {tuple(sorted({*a, *b})) for a in explanations for b in form.verdict.explanations}
            if more == explanations:
                break
            explanations = more
    conforms = all(form.verdict.verdict == "conforms" for form in forms)
    tested = {clause for form in forms for clause in form.verdict.exercised}
    verdict = Verdict(
        str(found.path),
        "conforms" if conforms else "violates",
        explanations=tuple(sorted(explanations)),
        smallest=all(form.verdict.smallest for form in forms),
        hidden_steps=sum(form.count * form.verdict.hidden_steps for form in forms),
        exercised=tuple(clause for clause in ALL_CLAUSES if clause in tested),
        threads=found.threads,
        expanded=sum(form.verdict.expanded for form in forms),
        warnings=tuple(found.warnings),
    )
    return verdict if conforms else _placed(verdict, found, forms, form_of, allow_torn, budget)


def _placed(
    verdict: Verdict,
    found: Scan,
    forms: list[_Form],
    form_of: NDArray[np.int32],
    allow_torn: bool,
    budget: int,
) -> Verdict:
    """The verdict with the events that there are to name."""
    wanted, starts, totals = _wanted(forms)
    listed: Counter[int] = Counter()
    missing = {bit: min(LISTED, total) for bit, total in totals.items()}
    clauses: list[BrokenClause] = []
    unmodelled: list[tuple[int, int]] = []
    first: Unexplained | None = None
    earlier: dict[int, tuple[int, int]] = {}
    names: dict[int, str] = {}
    in_question = np.array([f.verdict.verdict != "conforms" for f in forms])
    chosen = np.where(in_question[form_of], form_of, np.int32(-1)).astype(np.int32)
    for event in locate(found, chosen, starts, wanted, allow_torn=allow_torn):
        form = forms[int(form_of[event.thread])]
        if event.wanted & _EARLIER and first is None:
            earlier[event.thread] = event.position, event.line
        for bit in missing:
            if not event.wanted & bit or listed[bit] == missing[bit]:
                continue
            listed[bit] += 1
            if bit == _UNMODELLED:
                unmodelled.append((event.position, event.line))
            elif bit == _FIRST:
                first = _first(found, form, event, earlier.get(event.thread), budget)
            else:
                name = ALL_CLAUSES[bit.bit_length() - 1]
                if event.thread not in names:
                    names[event.thread] = found.thread_name(event.thread)
                certain = next(b.certain for b in form.verdict.clauses if b.clause == name)
                clauses.append(BrokenClause(name, event.position, certain, names[event.thread]))
        if all(listed[bit] == count for bit, count in missing.items()):
            break
    left_out = [
        (_name_of(bit), total - missing[bit])
        for bit, total in sorted(totals.items())
        if bit != _FIRST and total > missing[bit]
    ]
    return replace(
        verdict,
        clauses=tuple(sorted(clauses, key=lambda b: (b.event, ALL_CLAUSES.index(b.clause)))),
        unmodelled=tuple(position for position, _ in unmodelled),
        unmodelled_lines=tuple(line for _, line in unmodelled),
        first_unexplained=first,
        left_out=tuple(left_out),
        left_out_at=_left_out_at(found, forms, dict(left_out)),
    )


def _name_of(bit: int) -> str:
    return "unmodelled" if bit == _UNMODELLED else ALL_CLAUSES[bit.bit_length() - 1]


def _left_out_at(found: Scan, forms: list[_Form], names: Container[str]) -> tuple[tuple[str, str], ...]:
    """At which events these clauses break: a form tells, as steps and units have the same names in all its threads."""
    places: set[tuple[str, str]] = set()
    for form in forms:
        marks = [(broken.clause, broken.event) for broken in form.verdict.clauses]
        marks += [("unmodelled", event) for event in form.verdict.unmodelled]
        marks = [mark for mark in marks if mark[0] in names]
        if marks:
            events = trace_of(found.path, found.header, form.letters).events
            places |= {(name, event_about(events[event - 1])) for name, event in marks}
    return tuple(sorted(places))


def _wanted(forms: list[_Form]) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[int, int]]:
    """What is to be located of each line of each form, as bits; where a form's lines begin; how often each bit is."""
    sizes = np.array([0 if f.verdict.verdict == "conforms" else len(f.letters) for f in forms], np.int64)
    starts = np.cumsum(sizes) - sizes
    wanted = np.zeros(int(sizes.sum()) + 1, np.int64)
    totals: Counter[int] = Counter()
    for form, start in zip(forms, starts.tolist(), strict=True):
        marks = [(broken.event, 1 << ALL_CLAUSES.index(broken.clause)) for broken in form.verdict.clauses]
        marks += [(event, _UNMODELLED) for event in form.verdict.unmodelled]
        if form.verdict.first_unexplained is not None:
            marks.append((form.verdict.first_unexplained.event, _FIRST))
            if form.verdict.first_unexplained.earlier is not None:
                wanted[start + form.verdict.first_unexplained.earlier.event - 1] |= _EARLIER
        for event, bit in marks:
            wanted[start + event - 1] |= bit
            totals[bit] += form.count
    if _FIRST in totals:
        totals[_FIRST] = 1
    return wanted, starts, dict(totals)


def _first(
    found: Scan, form: _Form, event: Located, before: tuple[int, int] | None, budget: int
) -> Unexplained | None:
    """The first event that the reference can't explain, in the names of its thread.

    Args:
        found: the scan.
        form: what its thread has in common with others.
        event: where it is.
        before: where the event is that shows that a condition of it does not hold: its number and its line.
        budget: as ever.
    """
    thread = event.thread
    trace = trace_of(found.path, found.header, form.letters, found.names(thread), found.thread_name(thread))
    first = check_trace(trace, budget=budget).first_unexplained
    if first is None:
        return None
    if first.earlier is not None and before is not None:
        first = replace(first, earlier=replace(first.earlier, event=before[0], line=before[1]))
    return replace(first, event=event.position, line=event.line)
