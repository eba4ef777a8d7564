"""On kept traces of every program, TLC and the mirror say the same.

All of them are put to both by ``resume-contract trace check results/traces --engine both``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import disagreements

from trace_check.by_tlc.writing import module_text
from trace_check.observations import threads
from trace_check.reader import Trace, read_trace

TRACES = sorted((Path(__file__).parents[2] / "results" / "traces").rglob("*.jsonl*"))


def chosen() -> list[Trace]:
    """The first trace of each system and program, one of those that come to the same; races are left out."""
    found: dict[tuple[str, str], Trace] = {}
    different: dict[tuple[str, ...], Trace] = {}
    for path in TRACES:
        trace = read_trace(path)
        if not trace.header.scenario.startswith("race"):
            found.setdefault((trace.header.system, repr(trace.header.program)), trace)
    for trace in found.values():
        different.setdefault(tuple(module_text([thread], [0]) for thread in threads(trace)), trace)
    return list(different.values())


@pytest.mark.slow
def test_both_engines_agree_on_traces_of_every_program() -> None:
    traces = chosen()
    assert len({trace.header.system for trace in traces}) >= 8
    assert len(traces) >= 35
    assert disagreements(traces) == []
