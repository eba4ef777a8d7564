"""A verdict on a trace, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trace_check.printing import printable

if TYPE_CHECKING:
    from trace_check.checker import Verdict

__all__ = ["explanation_lines", "verdict_lines"]

_SHOWN = 20
"""Of each clause, and of unmodelled events, so many are shown; all that are listed are in the JSON."""


def verdict_lines(verdict: Verdict) -> list[str]:
    """A verdict for people."""
    lines = [f"{verdict.file}: {verdict.verdict}"]
    if verdict.verdict == "conforms" and not verdict.exercised:
        lines[0] += ", and is no evidence: no event puts a clause to a test"
    lines += _clause_lines(verdict)
    if verdict.verdict == "violates" and not verdict.clauses:
        lines.append("  it does what the reference does not; of what the trace shows, no clause breaks")
    lines += explanation_lines(verdict.explanations, _but_for(verdict))
    first = verdict.first_unexplained
    if first is not None:
        lines.append(
            f"  the first event that the reference cannot explain: {first.event}, {first.kind}, line {first.line}"
        )
        lines.append(f"    the closest action is {first.closest}; what it lacks: {first.condition}")
        if (earlier := first.earlier) is not None:
            lines.append(
                f"    against it is event {earlier.event}, {earlier.kind} by {earlier.actor}, line {earlier.line}"
            )
    if verdict.unmodelled:
        whose = "its" if _how_many_unmodelled(verdict) == 1 else "their"
        lines.append(f"  no fault accounts for event {_unmodelled(verdict)}: taken at {whose} word")
    if not verdict.smallest:
        what = "that some set of faults explains all" if verdict.unmodelled else "a smaller explanation"
        lines.append(
            f"  {what} was not ruled out, which a larger --budget may do; the verdict stands in any case"
        )
    if verdict.verdict == "conforms":
        clauses = ", ".join(verdict.exercised) or "no clause"
        lines.append(f"  puts to a test: {clauses}; steps supposed: {verdict.hidden_steps}")
    lines += [f"  warning: {warning}" for warning in verdict.warnings]
    return [printable(line) for line in lines]


def explanation_lines(explanations: Iterable[Sequence[str]], but_for: str = "") -> list[str]:
    """Sets of faults for people; each but the first is an alternative to it, and says so.

    Args:
        explanations: the sets; one without a fault has no line.
        but_for: what each of them leaves open.
    """
    ways = [" and ".join(faults) for faults in explanations if faults]
    return [f"  {'or' if n else 'explained'} by {way}{but_for}" for n, way in enumerate(ways)]


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


def _but_for(verdict: Verdict) -> str:
    """What the explanations leave open."""
    number = _how_many_unmodelled(verdict)
    return f", but for {number:,} event{'s' * (number != 1)}" if number else ""


def _how_many_unmodelled(verdict: Verdict) -> int:
    return len(verdict.unmodelled) + _more(verdict, "unmodelled")


def _unmodelled(verdict: Verdict) -> str:
    more = _more(verdict, "unmodelled") + max(0, len(verdict.unmodelled) - _SHOWN)
    shown = [
        f"{event} (line {line})"
        for event, line in zip(verdict.unmodelled[:_SHOWN], verdict.unmodelled_lines, strict=False)
    ]
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
