"""Checks traces of workflow systems against the reference semantics of a resume.

A trace (``docs/trace-format.md``) is what a recorder saw of processes that ran, died and resumed. The checker looks
for behaviours of the mirror model that explain all of it, using its own actions and, where those don't suffice, the
smallest sets of named faults; ``docs/verdicts.md`` says how to read what it answers.

    >>> from trace_check import check_file
    >>> verdict = check_file("results/traces/langgraph-1.2.9/kill-after-effect.jsonl.gz")  # doctest: +SKIP
    >>> verdict.verdict, verdict.explanations  # doctest: +SKIP
    ('violates', (('unkeyed_effect',),))

`check_file` never raises on a bad file: its verdict is "unchecked" then, and says why. `read_trace` and `check_trace`
are its two halves; `record` (in `trace_check.recording`) makes traces. The modules, each with one job:

==============  =====================================================================================
`events`        the kinds of lines, typed
`brackets`      what the two lines of an operation have to keep
`programs`      what a header has to keep
`printing`      names in messages and tables
`reader`        a file to a `Trace`, or one `TraceError` that names the line and the mend
`learning`      the program of a thread whose header says "dynamic", from its events
`observations`  a trace to threads of observations, each with the interval in which it happened
`crews`         a process that is several runners, because it runs unordered steps at once
`matching`      an observation, or what goes unseen, to steps of the mirror
`quotient`      states that no event tells apart, as one
`symmetry`      processes that are told apart by nothing but when they did the same things
`prospects`     what is still shown of a process, and what that rules out
`search`        the cheapest explanations of a thread
`explaining`    how a thread is searched: as it is, or by way of its twins
`diagnosis`     what the first unexplained event comes closest to
`exercise`      which clauses the events put to a test
`stuck`         the first event that no faultless state explains, and the states before it
`checker`       the `Verdict`
`streaming`     the same for logs of millions of events (a package)
`candidates`    these states in words
`baseline`      which violations are known
`shrinking`     the shortest trace with the same verdict
`writer`        a trace written from within a program, its program given in `program_text`
==============  =====================================================================================

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trace_check.checker import BrokenClause, Unexplained, Verdict, check_file, check_trace
    from trace_check.errors import RecordingError, TraceError
    from trace_check.reader import Trace, read_trace

__all__ = [
    "BrokenClause",
    "RecordingError",
    "Trace",
    "TraceError",
    "Unexplained",
    "Verdict",
    "check_file",
    "check_trace",
    "read_trace",
]

_HOMES = {
    "BrokenClause": "checker",
    "RecordingError": "errors",
    "Trace": "reader",
    "TraceError": "errors",
    "Unexplained": "checker",
    "Verdict": "checker",
    "check_file": "checker",
    "check_trace": "checker",
    "read_trace": "reader",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
