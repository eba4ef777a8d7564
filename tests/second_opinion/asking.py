"""Many traces put to both engines at once: TLC is started once for all of one program."""

from __future__ import annotations

from collections.abc import Sequence

from trace_check.by_tlc.comparing import compare, levels_for
from trace_check.by_tlc.opinion import Opinion, ThreadOpinion, opinions_of_threads
from trace_check.by_tlc.running import Tlc
from trace_check.checker import Verdict, check_trace
from trace_check.observations import Thread, threads
from trace_check.reader import Trace

__all__ = ["disagreements", "of_both", "patient"]


def patient() -> Tlc:
    """No test depends on how fast the machine is."""
    return Tlc(timeout=1800)


def of_both(traces: Sequence[Trace]) -> list[tuple[Trace, Verdict, Opinion]]:
    """Each trace with the mirror's verdict and TLC's opinion."""
    verdicts = [check_trace(trace) for trace in traces]
    asked: list[tuple[int, Thread]] = [
        (number, thread) for number, trace in enumerate(traces) for thread in threads(trace)
    ]
    levels = [levels_for(verdicts[number]) for number, _ in asked]
    found: list[list[ThreadOpinion]] = [[] for _ in traces]
    for (number, _), opinion in zip(
        asked, opinions_of_threads([t for _, t in asked], levels, patient()), strict=True
    ):
        found[number].append(opinion)
    return [
        (trace, verdict, Opinion(str(trace.path), tuple(opinions)))
        for trace, verdict, opinions in zip(traces, verdicts, found, strict=True)
    ]


def disagreements(traces: Sequence[Trace]) -> list[str]:
    """Where the engines differ, or one of them has not decided: one line each, with the trace."""
    return [
        f"{trace.path}: {line}"
        for trace, verdict, opinion in of_both(traces)
        for lines in compare(trace, verdict, opinion)
        for line in lines
    ]
