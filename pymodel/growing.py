"""Memory that grows without being copied, and the account of it."""

from __future__ import annotations

import contextlib
import mmap
import threading
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pymodel.errors import MemoryLimitError

__all__ = ["Account", "GrowingArray"]

Scalar = TypeVar("Scalar", bound=np.generic)

_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_HUGE = getattr(mmap, "MADV_HUGEPAGE", None)
_HUGE_FROM = 1 << 24


class Account:
    """Counts bytes taken and given back; refuses to pass a limit."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self.now = 0
        self.peak = 0

    def take(self, size: int) -> None:
        """Add `size` bytes (negative: give back).

        Raises:
            MemoryLimitError: when the limit would be passed.
        """
        with self._lock:
            total = self.now + size
            if self._limit is not None and size > 0 and total > self._limit:
                raise MemoryLimitError(
                    f"the exploration needs more than the {self._limit:,} bytes it may use "
                    f"(it wants {total:,}): raise memory_limit or tighten the model's bounds"
                )
            self.now = total
            self.peak = max(self.peak, total)

    def zeros(self, count: int, dtype: Any = np.uint64) -> NDArray[Any]:
        """An accounted array of zeros, or MemoryLimitError."""
        self.take(count * np.dtype(dtype).itemsize)
        try:
            return np.zeros(count, dtype)
        except MemoryError as error:
            raise _exhausted(count * np.dtype(dtype).itemsize) from error


class GrowingArray(Generic[Scalar]):
    """A one-dimensional array that grows in place where the system can remap pages.

    Take `array` anew after every `grow`.
    """

    def __init__(self, account: Account, dtype: type[Scalar]) -> None:
        self._account = account
        self._dtype: np.dtype[Scalar] = np.dtype(dtype)
        self._map: mmap.mmap | None = None
        self.array: NDArray[Scalar] = np.zeros(0, self._dtype)

    def grow(self, count: int) -> None:
        """Make room for `count` elements, keeping those there are.

        Raises:
            MemoryLimitError: when there is no memory for them.
        """
        size = -(-count * self._dtype.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
        held = self.array.nbytes
        if size <= held:
            return
        self._account.take(size - held)
        try:
            if not self._remap(size):
                self._copy(size)
        except (MemoryError, OSError) as error:
            self._account.take(held - size)
            raise _exhausted(size) from error
        if self._map is not None and _HUGE is not None and size >= _HUGE_FROM:
            with contextlib.suppress(OSError):  # a kernel without them
                self._map.madvise(_HUGE)

    def _copy(self, size: int) -> None:
        if _PRIVATE:
            fresh = mmap.mmap(-1, size, flags=_PRIVATE)
            array = np.frombuffer(fresh, self._dtype)
        else:
            fresh = None
            array = np.zeros(size // self._dtype.itemsize, self._dtype)
        array[: len(self.array)] = self.array
        self._map, self.array = fresh, array

    def _remap(self, size: int) -> bool:
        """Grow the mapping where it is; False if it cannot be done."""
        if self._map is None:
            return False
        length = len(self.array)
        self.array = np.zeros(0, self._dtype)  # a mapping with a view on it cannot be resized
        try:
            self._map.resize(size)
        except (BufferError, OSError, SystemError, ValueError):
            self.array = np.frombuffer(self._map, self._dtype, count=length)
            return False
        self.array = np.frombuffer(self._map, self._dtype)
        return True

    def release(self) -> None:
        """Give the memory back."""
        self._account.take(-self.array.nbytes)
        self.array = np.zeros(0, self._dtype)
        self._map = None


def _exhausted(size: int) -> MemoryLimitError:
    return MemoryLimitError(
        f"no memory for {size:,} bytes more: tighten the model's bounds or use a larger machine"
    )
