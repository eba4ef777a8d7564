"""TLC's opinions beside the verdicts of ``trace check``, or alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resume_contract.errors import CHECKED, COULD_NOT_CHECK
from resume_contract.progress import Report
from resume_contract.verdicts import explanation_lines

if TYPE_CHECKING:
    from trace_check.by_tlc import Confirmation, Opinion, SecondOpinion, Tlc
    from trace_check.checker import Verdict

__all__ = ["Opinions", "SecondOpinions"]


@dataclass
class SecondOpinions:
    """What TLC says beside each verdict; of a trace that could not be read, nothing.

    Args:
        tlc: what to run it with; None: nobody asks it.
        allow_torn: how the traces are read.
        budget: the search budget of the verdicts.
        guided: TLC only follows the mirror's explanations, and looks for none itself.
    """

    tlc: Tlc | None
    allow_torn: bool = False
    budget: int | None = None
    guided: bool = False
    _found: dict[str, SecondOpinion | Confirmation] = field(default_factory=dict)

    def ask(self, verdict: Verdict, report: Report) -> None:
        """Ask TLC about the trace of a verdict."""
        if self.tlc is None:
            return
        from trace_check.by_tlc import confirm, second_opinion
        from trace_check.checker import DEFAULT_BUDGET
        from trace_check.errors import TraceError
        from trace_check.reader import read_trace

        try:
            trace = read_trace(verdict.file, allow_torn=self.allow_torn)
            self._found[verdict.file] = (
                confirm(trace, verdict, budget=self.budget or DEFAULT_BUDGET, tlc=self.tlc, on_run=report)
                if self.guided
                else second_opinion(trace, verdict, tlc=self.tlc, on_run=report)
            )
        except TraceError:
            if verdict.exit_status != COULD_NOT_CHECK:
                raise  # else the verdict says so

    def status(self) -> int:
        """The worst of: 0 all agree, 1 some differ, 2 some are undecided."""
        return max((found.exit_status for found in self._found.values()), default=CHECKED)

    def lines_of(self, verdict: Verdict) -> list[str]:
        """The opinion beside a verdict, for people."""
        found = self._found.get(verdict.file)
        if found is None:
            return []
        lines = [f"  difference: {line}" for line in found.differences]
        lines += [f"  undecided by TLC: {line}" for line in found.undecided]
        if found.agrees:
            lines += _agreement(found)
        return lines

    def error_of(self, verdict: Verdict) -> str | None:
        """Why TLC has not decided all of a trace on which there is a verdict; None: it has, or was not asked."""
        found = self._found.get(verdict.file)
        if found is None or not found.undecided or verdict.exit_status == COULD_NOT_CHECK:
            return None
        return f"{verdict.file}: undecided by TLC: {found.undecided[0]}"

    def to_json(self, verdict: Verdict) -> dict[str, Any]:
        """What a verdict's JSON gets; nothing if nobody asked."""
        if self.tlc is None:
            return {}
        found = self._found.get(verdict.file)
        return {"second_opinion": None if found is None else found.to_json()}


@dataclass
class Opinions:
    """What TLC alone says of traces.

    Args:
        tlc: what to run it with.
        allow_torn: how the traces are read.
    """

    tlc: Tlc
    allow_torn: bool = False
    found: list[Opinion] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def ask(self, path: Path, report: Report) -> None:
        """Ask TLC about a trace."""
        from trace_check.by_tlc import opinion_of
        from trace_check.errors import TraceError
        from trace_check.reader import read_trace

        try:
            trace = read_trace(path, allow_torn=self.allow_torn)
            opinion = opinion_of(trace, tlc=self.tlc, on_run=report)
        except TraceError as error:
            self.errors.append(str(error))
            return
        self.found.append(opinion)
        if opinion.why:
            self.errors.append(opinion.why)

    def status(self) -> int:
        """The worst of their exit statuses."""
        return max([opinion.exit_status for opinion in self.found] + [COULD_NOT_CHECK] * bool(self.errors))

    def to_json(self) -> list[dict[str, Any]]:
        """One for each trace that could be read."""
        return [opinion.to_json() for opinion in self.found]

    def lines(self) -> list[str]:
        """For people."""
        return [line for opinion in self.found for line in _lines(opinion)]


def _agreement(found: SecondOpinion | Confirmation) -> list[str]:
    """What TLC agrees to, for people."""
    from trace_check.by_tlc import SecondOpinion

    if isinstance(found, SecondOpinion):
        return [f"  TLC agrees ({found.opinion.distinct:,} states, {found.opinion.seconds:.1f} s)"]
    ways, steps = len(found.confirmed), found.steps
    lines = [
        f"  TLC confirms {_counted(ways, 'explanation')} in {_counted(steps, 'step')}"
        f" ({found.distinct:,} states, {found.seconds:.1f} s)"
    ]
    if events := found.at_their_word:
        one = len(events) == 1
        lines.append(
            f"  {_counted(len(events), 'event')} {'is' if one else 'are'} taken at"
            f" {'its' if one else 'their'} word, not confirmed: {', '.join(map(str, events))}"
        )
    return lines


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _lines(opinion: Opinion) -> Sequence[str]:
    lines = [f"{opinion.file}: {opinion.verdict}"]
    for thread in opinion.threads:
        for clause, certain in thread.clauses.items():
            lines.append(
                f"  {clause} is {'certainly' if certain else 'possibly'} broken, in thread {thread.name}"
            )
        if thread.verdict == "violates" and not thread.cheapest:
            lines.append(f"  thread {thread.name} is not explained by up to {thread.tried} faults")
    lines += explanation_lines(opinion.explanations)
    lines += [f"  warning: {warning}" for warning in opinion.warnings]
    return lines
