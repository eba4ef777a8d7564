"""A baseline beside a command's verdicts: what is known, what is new, what is not seen any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resume_contract.errors import COULD_NOT_CHECK, ResumeContractError
from resume_contract.writing import write_text
from trace_check.baseline import (
    Comparison,
    Violation,
    baseline_text,
    compare,
    read_baseline,
    subject_of,
    violations_of,
)
from trace_check.checker import Verdict

__all__ = ["Known"]


class Known:
    """The violations that some verdicts may have.

    Args:
        path: the baseline; None: nothing is known.
        allow_torn: how the traces are read.

    Raises:
        TraceError: the file is no baseline.
    """

    def __init__(self, path: Path | None, *, allow_torn: bool = False) -> None:
        self._path = path
        self._allow_torn = allow_torn
        self._known = frozenset[Violation]() if path is None else read_baseline(path)
        self._found: list[tuple[Verdict, tuple[Violation, ...]]] = []
        self._comparison: Comparison = compare(self._known, (), ())

    def hold_against(self, verdicts: Sequence[Verdict]) -> None:
        """Look for what the verdicts say among what is known; to be called before all else."""
        self._found = [(one, violations_of(one, allow_torn=self._allow_torn)) for one in verdicts]
        traces = {subject_of(one.file) for one in verdicts if one.exit_status != COULD_NOT_CHECK}
        self._comparison = compare(self._known, [v for _, found in self._found for v in found], traces)

    def status(self) -> int:
        """The worst of the verdicts' exit statuses; known violations are none."""
        return max(self._comparison.status(one, found) for one, found in self._found)

    def lines_of(self, verdict: Verdict) -> list[str]:
        """Of a verdict, for people: which of its violations are new, or that none is."""
        found = self._of(verdict)
        if self._path is None or not found:
            return []
        new = [violation for violation in found if violation in self._comparison.new]
        if not new:
            return [f"  all of this is known: {self._path}"]
        return [f"  new, not in {self._path}: {one.clause} at {one.at}" for one in new]

    def closing_lines(self) -> list[str]:
        """After all verdicts, for people: what is known and wasn't seen."""
        left = self._comparison
        lines = [f"known and not seen any more: {violation}" for violation in sorted(left.gone)]
        if left.not_checked:
            number = len({violation.trace for violation in left.not_checked})
            lines.append(f"known of traces that were not checked now: {len(left.not_checked)}, of {number}")
        return lines

    def to_json(self, verdict: Verdict) -> dict[str, Any]:
        """What a verdict's JSON gets; nothing without a baseline."""
        import msgspec

        if self._path is None:
            return {}
        found = self._of(verdict)
        gone = []
        if verdict.exit_status != COULD_NOT_CHECK and self._comparison.gone:
            subject = subject_of(verdict.file)
            gone = sorted(one for one in self._comparison.gone if one.trace == subject)
        parts = {
            "known": [one for one in found if one in self._comparison.known],
            "new": [one for one in found if one in self._comparison.new],
            "gone": gone,
        }
        return {"baseline": msgspec.to_builtins(parts)}

    def write(self, path: Path) -> None:
        """List the violations found, and those known before, in a file.

        Raises:
            ResumeContractError: a trace has no verdict, so that the list might lack some.
            OSError: it can't be written.
        """
        left = sum(one.exit_status == COULD_NOT_CHECK for one, _ in self._found)
        if left:
            traces = "1 trace" if left == 1 else f"{left} traces"
            raise ResumeContractError(
                f"{path}: not written, as {traces} could not be checked: mend them first"
            )
        write_text(path, baseline_text(self._known.union(v for _, found in self._found for v in found)))

    def _of(self, verdict: Verdict) -> tuple[Violation, ...]:
        return next(found for one, found in self._found if one is verdict)
