"""What models may call, with one meaning compiled and uncompiled.

The loops that are compiled in their place are in `pymodel.engine._row_loops`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["all_are", "copy_row", "counts_up", "greatest_of", "last_of", "same_bytes"]


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


def greatest_of(s: Any, first: int, stride: int, count: int) -> int:
    """The greatest of some bytes of a state, which are told as in `last_of`; 0 if there are none."""
    return max(bytes(s[first : first + count * stride : stride]), default=0)


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
