"""On the kept traces, TLC and the mirror say the same.

Left out are the races of four processes and more, which TLC doesn't decide in any time that one would wait: see
`test_guides_on_races`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import disagreements

from trace_check.by_tlc.writing import module_text
from trace_check.observations import threads
from trace_check.reader import Trace, read_trace

TRACES = sorted((Path(__file__).parents[2] / "results" / "traces").rglob("*.jsonl*"))
DECIDED_BY_TLC = ("race-two-resumers", "race-2x", "racers-2x")


def chosen() -> list[Trace]:
    """All kept traces, one of those that come to the same."""
    different: dict[tuple[str, ...], Trace] = {}
    for path in TRACES:
        trace = read_trace(path)
        scenario = trace.header.scenario
        if scenario.startswith(DECIDED_BY_TLC) or not scenario.startswith("race"):
            different.setdefault(tuple(module_text([thread], [0]) for thread in threads(trace)), trace)
    return list(different.values())


@pytest.mark.slow
def test_both_engines_agree_on_every_kept_trace() -> None:
    traces = chosen()
    assert len({trace.header.system for trace in traces}) >= 9
    assert len(traces) >= 350
    assert disagreements(traces) == []
