"""What is compiled in the place of the functions of `pymodel.rows`, under the same names and with the same meaning.

The list of them is `pymodel.rows.__all__`.
"""

from __future__ import annotations

from typing import Any


def copy_row(out: Any, row: Any, state: Any) -> None:
    for j in range(state.shape[0]):
        out[row, j] = state[j]


def last_of(s: Any, first: Any, stride: Any, count: Any, value: Any) -> Any:
    for i in range(count, 0, -1):
        if s[first + (i - 1) * stride] == value:
            return i
    return 0


def none_above(s: Any, first: Any, stride: Any, count: Any, most: Any) -> Any:
    for i in range(count):
        if s[first + i * stride] > most:
            return False
    return True


def first_zero(s: Any, first: Any, stride: Any, count: Any, among: Any) -> Any:
    for i in range(count):
        if among[i + 1] != 0 and s[first + i * stride] == 0:
            return i + 1
    return 0


def gather(
    t: Any, to: Any, s: Any, base: Any, offsets: Any, kept: Any, row: Any, first: Any, last: Any
) -> Any:
    for i in range(first, last + 1):
        t[to + i - first] = s[base + offsets[i]] if kept[row + i] != 0 else 0


def all_are(s: Any, first: Any, stride: Any, count: Any, value: Any) -> Any:
    for i in range(count):
        if s[first + i * stride] != value:
            return False
    return True


def counts_up(s: Any, first: Any, stride: Any, count: Any, value: Any) -> Any:
    for i in range(count):
        if s[first + i * stride] != value + i:
            return False
    return True


def same_bytes(s: Any, p: Any, q: Any, count: Any, stride: Any, ignored: Any) -> Any:
    for j in range(0, count * stride, stride):
        if (s[p + j] | ignored) != (s[q + j] | ignored):
            return False
    return True
