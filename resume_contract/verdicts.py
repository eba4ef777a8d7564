"""A verdict on a trace, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trace_check.checker import Verdict

__all__ = ["verdict_lines"]


def verdict_lines(verdict: Verdict) -> list[str]:
    """A verdict for people."""
    lines = [f"{verdict.file}: {verdict.verdict}"]
    for broken in verdict.clauses:
        certainty = "certainly" if broken.certain else "possibly"
        lines.append(f"  {broken.clause} is {certainty} broken, at event {broken.event}")
    lines += [f"  explained by {' and '.join(faults)}" for faults in verdict.explanations if faults]
    first = verdict.first_unexplained
    if first is not None:
        lines.append(
            f"  the first event that the reference cannot explain: {first.event}, {first.kind}, line {first.line}"
        )
        lines.append(f"    the closest action is {first.closest}; what it lacks: {first.condition}")
    if verdict.unmodelled:
        lines.append(f"  explained by no set of faults: event {', '.join(map(str, verdict.unmodelled))}")
    if verdict.verdict == "conforms":
        clauses = ", ".join(verdict.exercised) or "no clause, so it is no evidence"
        lines.append(f"  puts to a test: {clauses}; steps supposed: {verdict.hidden_steps}")
    lines += [f"  warning: {warning}" for warning in verdict.warnings]
    return lines
