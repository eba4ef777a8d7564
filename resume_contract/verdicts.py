"""A verdict on a trace, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trace_check.printing import printable

if TYPE_CHECKING:
    from trace_check.checker import Verdict

__all__ = ["verdict_lines"]

_SHOWN = 20
"""Of each clause, and of unmodelled events, so many are shown; all that are listed are in the JSON."""


def verdict_lines(verdict: Verdict) -> list[str]:
    """A verdict for people."""
    lines = [f"{verdict.file}: {verdict.verdict}"]
    if verdict.verdict == "conforms" and not verdict.exercised:
        lines[0] += ", and is no evidence: no event puts a clause to a test"
    lines += _clause_lines(verdict)
    lines += [f"  explained by {' and '.join(faults)}" for faults in verdict.explanations if faults]
    first = verdict.first_unexplained
    if first is not None:
        lines.append(
            f"  the first event that the reference cannot explain: {first.event}, {first.kind}, line {first.line}"
        )
        lines.append(f"    the closest action is {first.closest}; what it lacks: {first.condition}")
    if verdict.unmodelled:
        lines.append(
            f"  explained by no set of faults, and taken at its word: event"
            f" {_some(verdict.unmodelled, _more(verdict, 'unmodelled'))}"
        )
    if not verdict.smallest:
        lines.append("  a smaller explanation was not ruled out: a larger --budget looks further")
    if verdict.verdict == "conforms":
        clauses = ", ".join(verdict.exercised) or "no clause"
        lines.append(f"  puts to a test: {clauses}; steps supposed: {verdict.hidden_steps}")
    lines += [f"  warning: {warning}" for warning in verdict.warnings]
    return [printable(line) for line in lines]


def _clause_lines(verdict: Verdict) -> list[str]:
    lines: list[str] = []
    count: Counter[str] = Counter()
    for broken in verdict.clauses:
        count[broken.clause] += 1
        if count[broken.clause] <= _SHOWN:
            certainty = "certainly" if broken.certain else "possibly"
            lines.append(f"  {broken.clause} is {certainty} broken, at event {broken.event}")
    for clause, found in count.items():
        more = _more(verdict, clause) + max(0, found - _SHOWN)
        if more:
            lines.append(f"  {clause} is broken at {more:,} more events")
    return lines


def _more(verdict: Verdict, what: str) -> int:
    """How many more there are than are listed."""
    return dict(verdict.left_out).get(what, 0)


def _some(events: Sequence[int], more: int) -> str:
    more += max(0, len(events) - _SHOWN)
    return ", ".join(map(str, events[:_SHOWN])) + (f" and {more:,} more" if more else "")
