"""The parts: values, bit fields, growing memory, the checks on a model, walks."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.engine import (
    FrozenDict,
    LimitError,
    MemoryLimitError,
    ModelError,
    changed,
    freeze,
    random_walk,
    render_value,
    state_graph,
)
from pymodel.engine._layout import pack_fields
from pymodel.growing import Account, GrowingArray


def test_freeze_makes_hashable_and_keeps_equality() -> None:
    value = {"a": [1, {2}], "b": {"c": [True]}}
    frozen = freeze(value)
    assert frozen == {"a": (1, frozenset({2})), "b": {"c": (True,)}}
    assert hash(frozen) == hash(freeze({"b": {"c": [True]}, "a": [1, {2}]}))
    assert frozen != freeze({**value, "a": 1})


def test_changed_goes_as_deep_as_shapes_agree() -> None:
    before = freeze({"x": (1, 2), "y": {"k": 1}, "z": 1, "w": (1,)})
    after = freeze({"x": (1, 3), "y": {"k": 2}, "z": 1, "w": (1, 2)})
    assert changed(before, after) == [("x[2]", 2, 3), ("y[k]", 1, 2), ("w", (1,), (1, 2))]
    assert changed(before, before) == []


def test_render_value() -> None:
    value = {"s": {2, 1}, "f": {1: "a"}, "t": (True, False), "e": ()}
    assert render_value(value) == '[e: <<>>, f: [1: "a"], s: {1, 2}, t: <<TRUE, FALSE>>]'


@given(st.lists(st.integers(1, 32), min_size=1, max_size=40), st.data())
def test_fields_have_room_and_do_not_overlap(needed: list[int], data: st.DataObject) -> None:
    growing = data.draw(st.lists(st.booleans(), min_size=len(needed), max_size=len(needed)))
    layout, words = pack_fields(needed, growing)
    taken = [0] * words
    for p, bits in enumerate(needed):
        mask = int(layout.mask[p])
        assert mask >= (1 << bits) - 1
        field = mask << int(layout.shift[p])
        assert field < 1 << 64
        assert taken[layout.word[p]] & field == 0
        taken[layout.word[p]] |= field
    assert words <= -(-sum(needed) // 33)


def test_a_field_wider_than_an_id_is_refused() -> None:
    with pytest.raises(LimitError, match="split it"):
        pack_fields([3, 33], [False, False])


@pytest.mark.parametrize("can_remap", [True, False])
def test_array_grows_and_keeps_its_content(monkeypatch: pytest.MonkeyPatch, can_remap: bool) -> None:
    if not can_remap:
        monkeypatch.setattr(GrowingArray, "_remap", lambda self, size: False)
    account = Account(None)
    array: GrowingArray[np.uint32] = GrowingArray(account, np.uint32)
    written = 0
    for count in (1, 1000, 5000, 4_000_000):
        array.grow(count)
        assert len(array.array) >= count
        assert array.array[:written].tolist() == list(range(written))
        written = min(count, 5000)
        array.array[:written] = np.arange(written)
        assert account.now == array.array.nbytes
    array.release()
    assert account.now == 0
    assert account.peak >= 16_000_000


def test_account_refuses_before_anything_is_taken() -> None:
    account = Account(10_000)
    with pytest.raises(MemoryLimitError, match="10,000 bytes"):
        account.zeros(2000)
    assert account.now == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 0}, "must be positive"),
        ({"actions": ()}, "between 1 and"),
        ({"invariants": ("a", "a")}, "used twice"),
        ({"invariants": tuple(map(str, range(63)))}, "at most 62"),
        ({"components": (1, 3)}, "start at 0"),
        ({"components": (0, 3, 3)}, "start at 0"),
        ({"components": (0, 99)}, "start at 0"),
        ({"config": (1, 2)}, "NamedTuple"),
        ({"initial": np.zeros((1, 3), np.uint8)}, "uint8"),
        ({"module": sys}, "no function Next in sys"),
    ],
)
def test_models_that_do_not_fit_together_are_refused(
    sliders: ModuleType, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        replace(sliders.build((2, 2), 3), **changes)


def test_walk_starts_again_where_nothing_goes_on(sliders: ModuleType) -> None:
    model = sliders.build((2, 2), 3)
    steps = list(random_walk(model, seed=5, steps=10, compiled=False))
    assert len(steps) == 10
    starts = [i for i, step in enumerate(steps) if step.before.tobytes() == model.initial[0].tobytes()]
    assert starts == [0, 4, 8]
    assert list(random_walk(sliders.build((2,), 1), seed=5, steps=10, compiled=False)) == []


def test_graph_refuses_to_grow_too_large(sliders: ModuleType) -> None:
    with pytest.raises(LimitError, match="more than 5 states"):
        state_graph(sliders.build((2, 2), 3), compiled=False, max_states=5)


def test_graph_refuses_a_decoding_that_loses_something(sliders: ModuleType) -> None:
    model = replace(sliders.build((2, 2), 3), decode=lambda record: {"nothing": 0})
    with pytest.raises(ModelError, match="decode"):
        state_graph(model, compiled=False)


def test_import_is_light(sliders: ModuleType) -> None:
    code = (
        "import sys; import pymodel.engine as e; "
        f"sys.path.insert(0, {str(sliders.__file__)!r}.rpartition('/')[0]); import sliders; "
        "g = e.state_graph(sliders.build((2, 2), 3), compiled=False); "
        "assert g.number_of_nodes() == 9; "
        "list(e.random_walk(sliders.build((2, 2), 3), seed=1, steps=9, compiled=False)); "
        "print(sorted({'numba', 'llvmlite'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_frozen_dict_prints_as_itself() -> None:
    assert repr(FrozenDict({"a": 1})) == "FrozenDict({'a': 1})"
