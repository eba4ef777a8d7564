"""On every trace that is kept here, TLC and the mirror say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import disagreements

from trace_check.reader import read_trace

TRACES = sorted((Path(__file__).parents[2] / "results" / "traces").rglob("*.jsonl*"))


@pytest.mark.slow
def test_both_engines_agree_on_every_trace() -> None:
    traces = [read_trace(path) for path in TRACES]
    assert len(traces) >= 5
    assert disagreements(traces) == []
