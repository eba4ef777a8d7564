"""The search itself: exact counts, limits, refusals, and no dependence on how it is done."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import pairwise
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pymodel.engine import (
    CapacityError,
    Exploration,
    MemoryLimitError,
    Model,
    ModelError,
    Progress,
    _search,
    _store,
    counterexample,
    explore,
    random_walk,
    trace_to,
)


def by_hand(model: Model) -> tuple[int, int, list[int], int]:
    """Distinct, generated, levels and terminal states by a search in plain Python."""
    depth = {row.tobytes(): 1 for row in model.initial}
    generated, terminal = len(model.initial), 0
    queue = deque(np.array(row) for row in {row.tobytes(): row for row in model.initial}.values())
    while queue:
        state = queue.popleft()
        following = model.successors(state)
        generated += len(following)
        terminal += not following
        for _, record in following:
            if record.tobytes() not in depth:
                depth[record.tobytes()] = depth[state.tobytes()] + 1
                queue.append(record)
    levels = [list(depth.values()).count(d) for d in range(1, max(depth.values()) + 1)]
    return len(depth), generated, levels, terminal


def summary(found: Exploration) -> dict[str, Any]:
    """Everything in a result but times, memory, threads and the states."""
    hidden = {"seconds", "total_seconds", "peak_bytes", "workers", "store", "model"}
    return {name: value for name, value in vars(found).items() if name not in hidden}


def parents(found: Exploration) -> list[list[int]]:
    return [partition.parents.array[: partition.count].tolist() for partition in found.store.partitions]


def test_counts_are_those_of_arithmetic(sliders: ModuleType) -> None:
    found = explore(sliders.build((5, 8, 9, 16, 1, 70), 5))
    assert found.distinct == 5**6
    assert found.generated == 1 + 6 * 4 * 5**5
    assert found.depth == 6 * 4 + 1
    assert found.levels[:3] == (1, 6, 21)
    assert found.terminal == 1
    assert found.actions["Up"] == (found.generated - 1, found.distinct - 1)
    assert found.actions["Stay"] == (0, 0)
    assert found.sometimes == {"AllUp": 25, "Unreadable": None}
    assert set(found.violations) == {"NotLastBeforeFirst"}
    assert found.violations["NotLastBeforeFirst"].depth == 5


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_number_of_workers_changes_nothing(sliders: ModuleType, workers: int) -> None:
    model = sliders.build((3, 12, 4, 17, 8, 2, 9), 4, wild=True)
    reference = explore(model, workers=1)
    found = explore(model, workers=workers)
    assert summary(found) == summary(reference)
    assert parents(found) == parents(reference)
    assert counterexample(found, "NotLastBeforeFirst") == counterexample(reference, "NotLastBeforeFirst")


def test_self_loops_are_generated_and_not_terminal(sliders: ModuleType) -> None:
    found = explore(sliders.build((2, 2), 3, stays=True))
    assert (found.distinct, found.generated, found.terminal) == (9, 1 + 12 + 9, 0)
    assert found.actions["Stay"] == (9, 0)


def test_initial_states_may_be_many_and_equal(sliders: ModuleType) -> None:
    model = sliders.build((2, 2), 3, initial=((0, 1), (1, 0), (0, 1), (2, 2)))
    found = explore(model)
    distinct, generated, levels, terminal = by_hand(model)
    assert (found.distinct, found.generated, found.terminal) == (distinct, generated, terminal)
    assert list(found.levels) == levels
    assert found.initial == 3


def test_more_initial_states_than_a_buffer_holds(sliders: ModuleType) -> None:
    positions = 9
    every = tuple((a, b, c) for a in range(positions) for b in range(positions) for c in range(positions))
    found = explore(sliders.build((1, 9, 2), positions, initial=every * 3))
    assert found.initial == found.distinct == positions**3
    assert found.depth == 1


def test_no_initial_state_is_an_error(sliders: ModuleType) -> None:
    model = sliders.build((2,), 2)
    with pytest.raises(ModelError, match="no initial state"):
        replace(model, initial=np.zeros((0, model.width), np.uint8))


lengths = st.lists(st.integers(1, 20), min_size=1, max_size=4).map(tuple)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=lengths,
    positions=st.integers(1, 5),
    stays=st.booleans(),
    stop_at=st.integers(0, 6),
    wild=st.booleans(),
    workers=st.integers(1, 2),
)
def test_agrees_with_a_search_by_hand(sliders: ModuleType, workers: int, **how: Any) -> None:
    model = sliders.build(how.pop("lengths"), how.pop("positions"), **how)
    found = explore(model, workers=workers)
    assert (found.distinct, found.generated, list(found.levels), found.terminal) == by_hand(model)


@pytest.mark.parametrize("workers", [1, 2])
def test_everything_grows_from_almost_nothing(
    sliders: ModuleType, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    model = sliders.build((3, 12, 30, 4, 17), 7, wild=True)
    reference = summary(explore(model))
    monkeypatch.setattr(_store, "FIRST_STATES", 1)
    monkeypatch.setattr(_store, "FIRST_CONTENTS", 2)
    monkeypatch.setattr(_store, "FIRST_DIRECTORY", 8)
    monkeypatch.setattr(_store, "FIRST_FIELD", 1)
    monkeypatch.setattr(_search, "CHUNK", 50)
    monkeypatch.setattr(_search, "EMISSIONS", 60)
    monkeypatch.setattr(_search, "SLOWS", 1)
    monkeypatch.setattr(_search, "RECENT", 2)
    monkeypatch.setattr(_search, "ALONE", 0)
    found = explore(model, workers=workers)
    assert found.distinct == 7**5
    same = ("distinct", "generated", "depth", "levels", "terminal", "initial", "witnesses", "complete")
    assert {name: summary(found)[name] for name in same if name != "witnesses"} == {
        name: reference[name] for name in same if name != "witnesses"
    }
    assert len({record.tobytes() for record in found.records()}) == 7**5


def test_keys_of_many_words(sliders: ModuleType) -> None:
    found = explore(sliders.build((1,) * 40, 200, stop_at=3))
    assert found.levels == (1, 40, 820, 11480)
    assert found.store.words == 3
    assert len({record.tobytes() for record in found.records()}) == found.distinct


@pytest.mark.parametrize("workers", [1, 2])
def test_keys_grow_by_a_word_in_the_middle(
    sliders: ModuleType, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(_store, "FIRST_FIELD", 1)
    monkeypatch.setattr(_search, "CHUNK", 16)
    monkeypatch.setattr(_search, "ALONE", 0)
    model = sliders.build((1,) * 40, 200, stop_at=3)
    grown: list[tuple[int, int]] = []
    widen = _store.StateStore.widen_layout

    def watch(store: _store.StateStore, component: int) -> Any:
        before = store.words
        result = widen(store, component)
        grown.append((before, store.words) if before != store.words else (0, len(store)))
        return result

    monkeypatch.setattr(_store.StateStore, "widen_layout", watch)
    found = explore(model, workers=workers)
    assert (1, 2) in grown
    assert found.levels == (1, 40, 820, 11480)
    assert len({record.tobytes() for record in found.records()}) == found.distinct
    last = trace_to(found, 8 * (found.store.partitions[0].count - 1), "the last state of a partition")
    assert len(last) == 1 + sum(last.steps[-1].state["at"]) == 4


def test_chain_of_unique_contents(sliders: ModuleType) -> None:
    """Every state brings a slice never seen before."""
    found = explore(sliders.build((8, 3), 250))
    assert (found.distinct, found.generated, found.depth) == (62500, 1 + 2 * 249 * 250, 499)
    assert found.store.interner.known.tolist() == [1, 250, 250]


def test_limits(sliders: ModuleType) -> None:
    model = sliders.build((2, 3, 4, 5), 6)
    whole = explore(model)
    assert whole.complete
    shallow = explore(model, max_depth=3)
    assert (shallow.levels, shallow.complete) == (whole.levels[:3], False)
    few = explore(model, max_states=300)
    assert 300 <= few.distinct < whole.distinct
    assert not few.complete
    assert few.levels[:-1] == whole.levels[: len(few.levels) - 1]
    first = explore(model, stop_at_first=True)
    assert first.violations == {"NotLastBeforeFirst": first.violations["NotLastBeforeFirst"]}
    assert first.violations["NotLastBeforeFirst"].depth == 6
    assert first.distinct < whole.distinct
    assert not first.complete


def test_states_beyond_a_limit_are_judged(sliders: ModuleType) -> None:
    model = sliders.build((2, 3, 4, 5), 6)
    assert "NotLastBeforeFirst" in explore(model, max_depth=6).violations
    assert "NotLastBeforeFirst" not in explore(model, max_depth=5).violations


@pytest.mark.parametrize("option", ["workers", "max_depth", "max_states"])
def test_impossible_options_are_refused(sliders: ModuleType, option: str) -> None:
    with pytest.raises(ModelError, match=f"{option} is 0"):
        explore(sliders.build((2,), 2), **cast(Any, {option: 0}))


def test_memory_limit(sliders: ModuleType) -> None:
    model = sliders.build((2,) * 8, 6)
    with pytest.raises(MemoryLimitError, match="raise memory_limit"):
        explore(model, memory_limit=16_000_000)
    assert explore(sliders.build((2,) * 3, 6), memory_limit=16_000_000).distinct == 216


@pytest.mark.parametrize("workers", [1, 2])
def test_what_does_not_fit_is_refused(sliders: ModuleType, workers: int) -> None:
    model = sliders.build((2, 2, 2), 9, limit=7)
    with pytest.raises(CapacityError, match=r"model sliders: the field 'position'.*more room") as caught:
        explore(model, workers=workers)
    assert caught.value.field == "position"
    with pytest.raises(CapacityError):
        list(random_walk(model, seed=1, steps=100))
    with pytest.raises(CapacityError):
        list(random_walk(model, seed=1, steps=100, compiled=False))


def test_more_successors_than_promised_are_noticed(sliders: ModuleType) -> None:
    model = sliders.build((2, 2, 2), 3, fanout=2)
    with pytest.raises(ModelError, match="a state has 3 successors, its fanout says 2"):
        explore(model)


def test_unknown_action_is_noticed(sliders: ModuleType) -> None:
    model = replace(sliders.build((2, 2), 3, stays=True), actions=("Up",))
    with pytest.raises(ModelError, match="action code 1, of 1 actions"):
        explore(model)


def test_progress(sliders: ModuleType) -> None:
    seen: list[Progress] = []
    found = explore(sliders.build((2, 2, 2), 4), on_progress=seen.append)
    assert [p.level for p in seen] == list(range(1, 11))
    assert (seen[-1].distinct, seen[-1].generated, seen[-1].queue) == (64, found.generated, 0)
    assert seen[0].queue == 3
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))


def test_what_progress_raises_ends_the_search(sliders: ModuleType) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(sliders.build((2, 2, 2), 4), on_progress=stop)


def test_counterexample_of_what_holds_is_refused(sliders: ModuleType) -> None:
    found = explore(sliders.build((2, 2), 3))
    with pytest.raises(ModelError, match="no state that was searched violates NeverFar"):
        counterexample(found, "NeverFar")
    with pytest.raises(ModelError, match="no invariant 'Nothing'"):
        counterexample(found, "Nothing")


def test_trace_is_a_behaviour_of_the_model(sliders: ModuleType) -> None:
    model = sliders.build((2, 2, 2), 5)
    found = explore(model)
    trace = counterexample(found, "NotLastBeforeFirst")
    assert trace.steps[0].record == model.initial[0].tobytes()
    for before, after in pairwise(trace.steps):
        offered = [
            (s.label, s.record.tobytes()) for s in model.successors(np.frombuffer(before.record, np.uint8))
        ]
        assert (after.label, after.record) in offered
    assert trace.render().splitlines() == [
        "sliders: NotLastBeforeFirst is violated at depth 5",
        "  1  Initial state",
        "       at = <<0, 0, 0>>",
        "  2  Up(0)",
        "       at[1]: 0 -> 1",
        "  3  Up(0)",
        "       at[1]: 1 -> 2",
        "  4  Up(0)",
        "       at[1]: 2 -> 3",
        "  5  Up(0)",
        "       at[1]: 3 -> 4",
    ]
    assert trace.to_json()["steps"][1]["differences"] == [{"place": "at[1]", "before": "0", "after": "1"}]


@pytest.mark.slow
def test_a_million_wide_states_in_little_memory(sliders: ModuleType) -> None:
    found = explore(sliders.build((16,) * 10, 4))
    assert found.distinct == 4**10
    assert found.generated == 1 + 10 * 3 * 4**9
    assert found.peak_bytes_per_state < 60
