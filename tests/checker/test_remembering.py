"""What is worked out once for many states is what each of them would say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from races import random_race

from pymodel.resume import reading as at
from trace_check.explaining import explain_thread
from trace_check.matching import Matcher, Move
from trace_check.observations import Thread, threads
from trace_check.reader import read_trace

TRACES = sorted((Path(__file__).parents[2] / "results" / "traces").rglob("*.jsonl.gz"))[::10]


def asks_anew(self: Matcher, s: bytes, r: int, what: object, ask: Callable[[], Iterable[Move]]) -> list[Move]:
    return list(ask())


def explained(thread: Thread) -> tuple[object, ...]:
    _, found = explain_thread(thread, 3_000)
    return found.goals, found.ways, found.stuck, found.expanded, found.surely


def test_moves_that_are_remembered_are_those_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [thread for path in TRACES for thread in threads(read_trace(path))]
    assert len(kept) > 50
    before = [explained(thread) for thread in kept]
    monkeypatch.setattr(Matcher, "_by_one", asks_anew)
    assert [explained(thread) for thread in kept] == before


@pytest.mark.parametrize("seed", range(6))
def test_so_are_those_of_racers(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random_race(random.Random(seed), 4).check(tmp_path)
    (thread,) = threads(read_trace(tmp_path / "hand.jsonl"))
    before = explained(thread)
    monkeypatch.setattr(Matcher, "_by_one", asks_anew)
    assert explained(thread) == before


def test_what_is_remembered_is_used_for_other_runners(tmp_path: Path) -> None:
    """Two runners that stand alike have the same steps, worked out once; what a third has in hand is no matter."""
    random_race(random.Random(0), 4).check(tmp_path)
    (thread,) = threads(read_trace(tmp_path / "hand.jsonl"))
    matcher = Matcher(thread)
    first, second, third = (at.run_at(matcher.c, crew[0]) for crew in list(thread.runners.values())[:3])
    _, found = explain_thread(thread, 3_000)
    names = list(thread.runners)
    state = next(
        node.state
        for way in found.ways.values()
        for node, _, _ in way
        if node.state[first + at.PHASE] != at.IDLE and any(matcher.hidden_by(node.state, names[0]))
    )
    matcher = Matcher(thread)
    alike = bytearray(state)
    alike[second : second + at.RUN_WIDTH] = state[first : first + at.RUN_WIDTH]
    alike[third : third + at.RUN_WIDTH] = bytes(at.RUN_WIDTH)
    unlike = bytearray(alike)
    unlike[third : third + at.RUN_WIDTH] = state[first : first + at.RUN_WIDTH]
    one = list(matcher.hidden_by(bytes(alike), names[0]))
    entries = len(matcher._of_one)
    two = list(matcher.hidden_by(bytes(unlike), names[1]))
    assert len(matcher._of_one) == entries == 1
    assert one
    assert [(move.faults, move.name) for move in one] == [(move.faults, move.name) for move in two]
