"""Each clause reads those parts of a state that it is said to, and is judged as if all were read anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pymodel.resume.clauses import CLAUSES, broken_clauses
from pymodel.resume.layout import Config
from trace_check import broken
from trace_check.broken import READS, Judge, spans
from trace_check.matching import Matcher
from trace_check.observations import threads
from trace_check.reader import read_trace
from trace_check.search import Search
from trace_check.steps import Steps

TRACES = sorted((Path(__file__).parents[2] / "results" / "traces").rglob("*.jsonl.gz"))[::6]


class Watched(bytes):
    """A state that remembers what was read of it."""

    read: set[int]

    def __getitem__(self, place: int | slice) -> int | bytes:  # type: ignore[override]
        self.read.update(range(len(self))[place] if isinstance(place, slice) else [place])
        return super().__getitem__(place)


def states() -> Iterator[tuple[Config, bytes]]:
    """States on the way to what explains some kept traces, and on the ways that lead nowhere."""
    for path in TRACES:
        for thread in threads(read_trace(path)):
            matcher = Matcher(thread)
            search = Search(Steps(matcher), thread.observations)
            search.run(60)
            for node in list(search.parents)[:200]:
                yield matcher.c, node.state


@pytest.fixture(scope="module")
def seen() -> list[tuple[Config, bytes]]:
    return list(states())


def test_no_clause_reads_more_than_it_is_said_to(seen: list[tuple[Config, bytes]]) -> None:
    several, read = 0, dict.fromkeys(READS, 0)
    for c, state in seen:
        several += c.B > 1
        for name in CLAUSES:
            watched = Watched(state)
            watched.read = set()
            broken._HOLDS[name](c, watched)  # type: ignore[attr-defined]
            allowed = {k for span in spans(c, READS[name]) for k in range(span.start, span.stop)}
            assert watched.read <= allowed, (name, sorted(watched.read - allowed))
            read[name] += bool(watched.read)
    assert several > 100
    assert all(count > 100 for count in read.values()), read


def test_a_judge_that_remembers_says_what_one_that_does_not(seen: list[tuple[Config, bytes]]) -> None:
    judges: dict[int, Judge] = {}
    bits = set()
    for c, state in seen:
        found = judges.setdefault(id(c), Judge(c)).broken(state)
        assert found == broken_clauses(c, state)
        bits.add(found)
    assert len(bits) > 3


def test_a_part_that_is_left_out_is_noticed(
    seen: list[tuple[Config, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READS, "EO", ("head", "own", "ledger"))
    judges: dict[int, Judge] = {}
    assert any(judges.setdefault(id(c), Judge(c)).broken(s) != broken_clauses(c, s) for c, s in seen)


def test_parts_side_by_side_are_one_span() -> None:
    thread = threads(read_trace(TRACES[0]))[0]
    c = Matcher(replace(thread, branches={"main": 1, "other": 2})).c
    assert [(span.start, span.stop) for span in spans(c, ("ckpt", "prefix"))] == [
        (c.branches + b * c.block + c.ckpt, c.branches + b * c.block + c.own) for b in range(2)
    ]
    assert (
        len(spans(c, ("computed", "head"))) == 3
    )  # the end of one branch's block and the beginning of the next
