"""What models may call in `Next`, with one meaning compiled and uncompiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["copy_row"]


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
