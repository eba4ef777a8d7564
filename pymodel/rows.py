"""What models may call, with one meaning compiled and uncompiled.

The loops that are compiled in their place are in `pymodel.engine._row_loops`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "all_are",
    "copy_row",
    "counts_up",
    "first_zero",
    "gather",
    "last_of",
    "none_above",
    "same_bytes",
]


def copy_row(out: NDArray[np.uint8], row: int, state: NDArray[Any]) -> None:
    """Fill `out[row]` with a copy of `state`.

    Compiled, this is a plain loop, which is an order of magnitude faster than numba's own
    `out[row] = state` (that one allocates in case the two overlap).

    Args:
        out: uint8[fanout, width], the successors being written.
        row: which successor to fill.
        state: uint8[width], the state to start from.
    """
    out[row][:] = state  # a view of an array, or a bytearray of a list of rows


def last_of(s: Any, first: int, stride: int, count: int, value: int) -> int:
    """Which is the last of some bytes of a state that has this value: from 1; 0 if none has it.

    Args:
        s: uint8[width] or bytes, the state.
        first: where the first of the bytes is.
        stride: how far one is from the next.
        count: how many they are.
        value: 0 to 255.
    """
    return bytes(s[first : first + count * stride : stride]).rfind(value) + 1


def none_above(s: Any, first: int, stride: int, count: int, most: int) -> bool:
    """Is none of some bytes of a state, which are told as in `last_of`, greater than `most`, 0 to 255?"""
    return not bytes(s[first : first + count * stride : stride]).translate(None, _UP_TO[most])


def first_zero(s: Any, first: int, stride: int, count: int, among: Any) -> int:
    """Which is the first of some bytes of a state that is 0, of those that count: from 1; 0 if none is.

    Args:
        s, first, stride, count: as in `last_of`.
        among: uint8[> count] or bytes, from 1: 1 for those that count, else 0.
    """
    zeros = bytes(s[first : first + count * stride : stride]).translate(_IS_ZERO)
    found = int.from_bytes(zeros, "little") & int.from_bytes(bytes(among[1 : count + 1]), "little")
    return ((found & -found).bit_length() + 7) // 8


def gather(
    t: Any, to: int, s: Any, base: int, offsets: Any, kept: Any, row: int, first: int, last: int
) -> None:
    """Copy bytes of a state that lie here and there side by side into another, or 0 for those that are not to be kept.

    Args:
        t, to: into what, and where the one with number `first` goes.
        s, base: from what, and from where on the offsets count.
        offsets: of each byte, by its number.
        kept, row: kept[row + number]: is it to be kept?
        first, last: numbers, from 1; none if the last is before the first.
    """
    wanted = zip(offsets[first : last + 1], kept[row + first : row + last + 1], strict=True)
    t[to : to + last + 1 - first] = bytearray([s[base + offset] if keep else 0 for offset, keep in wanted])


def all_are(s: Any, first: int, stride: int, count: int, value: int) -> bool:
    """Have all of some bytes of a state, which are told as in `last_of`, this value?"""
    return bytes(s[first : first + count * stride : stride]).count(value) == count


def counts_up(s: Any, first: int, stride: int, count: int, value: int) -> bool:
    """Are some bytes of a state, which are told as in `last_of`, this value, the next, and so on?"""
    said = bytes(s[first : first + count * stride : stride])
    return not count or (value + count <= 256 and said == bytes(range(value, value + count)))


def same_bytes(s: Any, p: int, q: int, count: int, stride: int, ignored: int) -> bool:
    """Are these many bytes of a state, `stride` apart, the same from p on as from q on, but for a bit (0: none)?"""
    one, two = bytes(s[p : p + count * stride : stride]), bytes(s[q : q + count * stride : stride])
    return one == two or (ignored != 0 and one.translate(_WITH[ignored]) == two.translate(_WITH[ignored]))


_WITH = {1 << k: bytes(byte | 1 << k for byte in range(256)) for k in range(8)}
_UP_TO = [bytes(range(most + 1)) for most in range(256)]
_IS_ZERO = bytes([1]) + bytes(255)
