"""TLC follows the mirror's explanation of each kept race of four processes and more, which it can't search by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import patient

from trace_check.by_tlc.confirming import hold_against
from trace_check.by_tlc.following import follow
from trace_check.by_tlc.guiding import Guide, guides_of
from trace_check.checker import check_trace
from trace_check.reader import read_trace

TRACES = sorted((Path(__file__).parents[2] / "results" / "traces").rglob("rac*.jsonl*"))
OF_TWO = ("race-two-resumers", "race-2x", "racers-2x")


@pytest.mark.slow
@pytest.mark.no_cover  # which takes the mirror's searches several times as long
def test_every_kept_race_of_many_is_as_the_mirror_says() -> None:
    traces = [read_trace(path) for path in TRACES if not path.name.startswith(OF_TWO)]
    assert len(traces) >= 112
    assert {k for k in (4, 8, 16) for t in traces if f"-{k}x" in t.header.scenario} == {4, 8, 16}
    guides: list[list[Guide]] = [[] for _ in traces]
    verdicts = [
        check_trace(trace, on_explained=lambda *found, mine=mine: mine.extend(guides_of(*found)))
        for trace, mine in zip(traces, guides, strict=True)
    ]
    ways = iter(follow([guide for mine in guides for guide in mine], patient()).ways)
    unsettled = [
        f"{trace.path}: {line}"
        for trace, verdict, mine in zip(traces, verdicts, guides, strict=True)
        for lines in hold_against(trace, verdict, [next(ways) for _ in mine])
        for line in lines
    ]
    assert unsettled == []
