"""What models may call means the same uncompiled, in the loops that are compiled in its place, and compiled."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from pymodel import rows
from pymodel.engine import _row_loops

WIDTH = 24
STATES = st.lists(st.integers(0, 3) | st.integers(0, 255), min_size=WIDTH, max_size=WIDTH)
COMPILED = {name: njit(getattr(_row_loops, name)) for name in rows.__all__}
COMPILES = settings(deadline=None)  # its first example does


@st.composite
def columns(draw: st.DrawFn) -> tuple[int, int, int]:
    """Where the first of some bytes is, how far one is from the next, and how many they are."""
    stride, first = draw(st.integers(1, 4)), draw(st.integers(0, WIDTH - 1))
    return first, stride, draw(st.integers(0, (WIDTH - 1 - first) // stride + 1))


def agreed(name: str, state: list[int], *arguments: int) -> Any:
    """What a function says of a state, be it bytes or an array, compiled or not."""
    array = np.array(state, dtype=np.uint8)
    plain: Callable[..., Any] = getattr(rows, name)
    found = [plain(bytes(state), *arguments), plain(bytearray(state), *arguments), plain(array, *arguments)]
    found += [getattr(_row_loops, name)(state, *arguments), COMPILED[name](array, *arguments)]
    assert all(one == found[0] for one in found), (name, found)
    return found[0]


@COMPILES
@given(STATES, columns(), st.integers(0, 255) | st.integers(0, 3))
def test_of_one_column(state: list[int], column: tuple[int, int, int], value: int) -> None:
    first, stride, count = column
    said = state[first : first + count * stride : stride]
    assert len(said) == count
    assert agreed("none_above", state, *column, value) == (max(said, default=0) <= value)
    assert agreed("all_are", state, *column, value) == (set(said) <= {value})
    last = agreed("last_of", state, *column, value)
    assert said[last - 1] == value if last else value not in said
    assert value not in said[last:]


@COMPILES
@given(STATES, columns(), st.integers(0, 255), st.data())
def test_counting_up(state: list[int], column: tuple[int, int, int], value: int, data: st.DataObject) -> None:
    first, stride, count = column
    if data.draw(st.booleans()):
        for i in range(count):
            state[first + i * stride] = (value + i) % 256
    said = state[first : first + count * stride : stride]
    assert agreed("counts_up", state, *column, value) == (said == list(range(value, value + count)))


@COMPILES
@given(STATES, columns(), st.integers(0, WIDTH - 1), st.sampled_from([0, 1, 2, 4, 128]), st.data())
def test_of_two_columns(
    state: list[int], column: tuple[int, int, int], other: int, ignored: int, data: st.DataObject
) -> None:
    first, stride, count = column
    count = min(count, (WIDTH - 1 - other) // stride + 1)
    if data.draw(st.booleans()):
        for i in range(count):
            state[other + i * stride] = state[first + i * stride] ^ data.draw(
                st.sampled_from([0, 1, 2, 4, 128])
            )
    pairs = [(state[first + i * stride], state[other + i * stride]) for i in range(count)]
    same = all(one | ignored == two | ignored for one, two in pairs)
    assert agreed("same_bytes", state, first, other, count, stride, ignored) == same


@COMPILES
@given(STATES, columns(), st.lists(st.integers(0, 1), min_size=WIDTH + 1, max_size=WIDTH + 1))
def test_the_first_zero_of_those_that_count(
    state: list[int], column: tuple[int, int, int], among: list[int]
) -> None:
    first, stride, count = column
    zeros = [i + 1 for i in range(count) if among[i + 1] and not state[first + i * stride]]
    flags = np.array(among, dtype=np.uint8)
    assert agreed("first_zero", state, *column, flags) == min(zeros, default=0)
    assert rows.first_zero(bytes(state), *column, bytes(among)) == min(zeros, default=0)


@COMPILES
@given(STATES, st.data())
def test_bytes_are_gathered(state: list[int], data: st.DataObject) -> None:
    base = data.draw(st.integers(0, WIDTH - 1))
    offsets = data.draw(st.lists(st.integers(0, WIDTH - 1 - base), min_size=1, max_size=8))
    row = data.draw(st.integers(0, 3))
    kept = data.draw(st.lists(st.integers(0, 1), min_size=row + len(offsets), max_size=row + len(offsets)))
    first = data.draw(st.integers(1, len(offsets)))
    last = data.draw(st.integers(first - 1, len(offsets) - 1))
    to = data.draw(st.integers(0, WIDTH - len(offsets)))
    wanted = [9] * WIDTH
    for i in range(first, last + 1):
        wanted[to + i - first] = state[base + offsets[i]] if kept[row + i] else 0
    plain = bytearray([9] * WIDTH)
    rows.gather(plain, to, bytes(state), base, offsets, kept, row, first, last)
    assert list(plain) == wanted
    array = np.array(state, dtype=np.uint8)
    lists = np.array(offsets), np.array(kept)
    for gather in (rows.gather, _row_loops.gather, COMPILED["gather"]):
        out = np.full(WIDTH, 9, dtype=np.uint8)
        gather(out, to, array, base, *lists, row, first, last)
        assert out.tolist() == wanted


def test_a_row_is_copied() -> None:
    state = np.arange(WIDTH, dtype=np.uint8)
    for copy in (rows.copy_row, _row_loops.copy_row, COMPILED["copy_row"]):
        out = np.zeros((3, WIDTH), dtype=np.uint8)
        copy(out, 1, state)
        assert out[1].tolist() == state.tolist()
        assert not out[0].any()
        assert not out[2].any()


def test_every_function_has_its_loop() -> None:
    assert {name for name, one in vars(_row_loops).items() if isfunction(one)} == set(rows.__all__)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_counting_up_ends_with_a_byte(count: int) -> None:
    assert agreed("counts_up", [255] * WIDTH, 0, 1, count, 255) == (count < 2)
