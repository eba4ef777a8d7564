"""The distinct states of an exploration, exactly, in a few words each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodel.engine._kernels import NO_PARENT, PARTITION_BITS, PARTITIONS, Interner, Layout
from pymodel.engine._layout import pack_fields
from pymodel.engine.compiling import EngineKernels
from pymodel.engine.model import Model, Record
from pymodel.errors import LimitError
from pymodel.growing import Account, GrowingArray

__all__ = ["Partition", "StateStore"]

FIRST_STATES = 512
FIRST_CONTENTS = 16
FIRST_DIRECTORY = 4096
FIRST_FIELD = 4
MOST_STATES = (NO_PARENT >> PARTITION_BITS) - 1
LOAD = 0.7


class Partition:
    """The states whose hash ends in one partition's number: keys and parents by arrival, and the table on them."""

    def __init__(self, account: Account, words: int) -> None:
        self._account = account
        self.count = 0
        self.keys: GrowingArray[np.uint64] = GrowingArray(account, np.uint64)
        self.parents: GrowingArray[np.uint32] = GrowingArray(account, np.uint32)
        self.bits = FIRST_STATES.bit_length()
        self.table = account.zeros(1 << self.bits)
        self._words = words
        self.room = 0
        self.capacity = 0
        self.reserve(FIRST_STATES)

    def reserve(self, states: int) -> None:
        """Make room for the keys and parents of so many states."""
        if states > MOST_STATES:
            raise LimitError(f"more than {MOST_STATES * PARTITIONS:,} states: tighten the model's bounds")
        self.keys.grow(states * self._words)
        self.parents.grow(states)
        self.capacity = states
        self._set_room()

    def _set_room(self) -> None:
        self.room = min(self.capacity, int(LOAD * len(self.table)))

    def grow(self, kernels: EngineKernels) -> None:
        """Make room for more states than there are."""
        if self.count >= self.capacity:
            self.reserve(
                min(MOST_STATES, self.count * 2 if self.count < 1 << 16 else self.count + self.count // 4)
            )
            if self.count >= self.capacity:
                self.reserve(MOST_STATES + 1)
        if self.count >= int(LOAD * len(self.table)):
            bits = self.bits + 1
            larger = self._account.zeros(1 << bits)
            kernels.move_table(self.table, larger, bits)
            self._account.take(-self.table.nbytes)
            self.table, self.bits = larger, bits
        self._set_room()

    def rewrite(
        self, kernels: EngineKernels, old: Layout, new: Layout, words: int, ids: NDArray[np.uint64]
    ) -> None:
        """Repack the keys for another layout."""
        before = self._words
        source = self.keys
        if words == before:
            kernels.repack(source.array, old, before, source.array, new, words, self.count, 0, ids)
            return
        target: GrowingArray[np.uint64] = GrowingArray(self._account, np.uint64)
        target.grow(self.capacity * words)
        kernels.repack(source.array, old, before, target.array, new, words, self.count, 0, ids)
        source.release()
        self.keys, self._words = target, words


class StateStore:
    """Interned components, the layout of keys, and the partitions.

    A state's index is its place in its partition times the number of partitions, plus the partition's number.
    """

    def __init__(self, model: Model, kernels: EngineKernels, account: Account) -> None:
        self._kernels = kernels
        self._account = account
        self._width = model.width
        start = np.array(model.components, np.int64)
        stop = np.array([*model.components[1:], model.width], np.int64)
        length: NDArray[np.int64] = stop - start
        words: NDArray[np.int64] = (length + 7) // 8
        in_last = length - 8 * (words - 1)
        tail = np.array([(1 << 8 * int(n)) - 1 for n in in_last], np.uint64)
        capacity = np.full(len(start), FIRST_CONTENTS, np.int64)
        stride: NDArray[np.int64] = words + 1
        self._lengths = length
        self.interner = Interner(
            start=start,
            stop=stop,
            owner=np.repeat(np.arange(len(start)), length),
            words=words,
            tail=tail,
            stride=stride,
            base=self._bases(capacity, stride),
            known=np.zeros(len(start), np.int64),
            capacity=capacity,
            heap=account.zeros(int(capacity @ stride)),
            directory=account.zeros(FIRST_DIRECTORY),
        )
        self.layout, self.words = pack_fields([FIRST_FIELD] * len(start), [False] * len(start))
        self._counts_at_layout = self.interner.known.copy()
        self.ids = np.zeros(len(start), np.uint64)
        self.partitions = [Partition(account, self.words) for _ in range(PARTITIONS)]

    @staticmethod
    def _bases(capacity: NDArray[np.int64], stride: NDArray[np.int64]) -> NDArray[np.int64]:
        sizes = capacity * stride
        bases: NDArray[np.int64] = (np.cumsum(sizes) - sizes).astype(np.int64)
        return bases

    @property
    def directory_room(self) -> int:
        """How many contents the directory may hold before it must grow."""
        return len(self.interner.directory) // 4

    def __len__(self) -> int:
        return sum(partition.count for partition in self.partitions)

    def counts(self) -> list[int]:
        """How many states each partition holds."""
        return [partition.count for partition in self.partitions]

    def grow_region(self, component: int) -> None:
        """Double the number of contents a component may have."""
        old = self.interner
        capacity = old.capacity.copy()
        capacity[component] *= 2
        base = self._bases(capacity, old.stride)
        heap = self._account.zeros(int(capacity @ old.stride))
        for p, stride in enumerate(old.stride):
            size = int((old.known[p] + 1) * stride)
            heap[base[p] : base[p] + size] = old.heap[old.base[p] : old.base[p] + size]
        self._account.take(-old.heap.nbytes)
        self.interner = old._replace(base=base, capacity=capacity, heap=heap)

    def grow_directory(self) -> None:
        """Double the directory of contents."""
        old = self.interner.directory
        larger = self._account.zeros(2 * len(old))
        self._kernels.move_directory(self.interner, larger)
        self._account.take(-old.nbytes)
        self.interner = self.interner._replace(directory=larger)

    def widen_layout(self, component: int) -> tuple[Layout, int]:
        """Give a component's ids more bits, repacking all states; returns the layout and words before."""
        count = self.interner.known
        needed = [int(n).bit_length() for n in count + 1]
        needed[component] += 1
        growing = [bool(n) for n in count > self._counts_at_layout]
        before, words_before = self.layout, self.words
        layout, words = pack_fields(needed, growing)
        for partition in self.partitions:
            partition.rewrite(self._kernels, before, layout, words, self.ids)
        self.layout, self.words = layout, words
        self._counts_at_layout = count.copy()
        return before, words_before

    def parent(self, index: int) -> int | None:
        """The index of the state from which this one was first reached; None for an initial one."""
        value = int(self.partitions[index % PARTITIONS].parents.array[index // PARTITIONS])
        return None if value == NO_PARENT else value

    def record(self, index: int) -> Record:
        """The state with this index."""
        place = index // PARTITIONS
        found: Record = self._records(index % PARTITIONS, place, place + 1)[0]
        return found

    def _records(self, partition: int, first: int, last: int) -> NDArray[np.uint8]:
        """The states first..last-1 of a partition, one a row."""
        keys: NDArray[Any] = self.partitions[partition].keys.array
        rows = keys[first * self.words : last * self.words].reshape(-1, self.words)
        found = np.zeros((last - first, self._width), np.uint8)
        interner = self.interner
        for p in range(len(interner.start)):
            numbers = ((rows[:, self.layout.word[p]] >> self.layout.shift[p]) & self.layout.mask[p]).astype(
                np.int64
            )
            span, stride, base = int(interner.words[p]), int(interner.stride[p]), int(interner.base[p])
            contents = interner.heap[base : base + int(interner.known[p] + 1) * stride].reshape(-1, stride)
            raw = np.ascontiguousarray(contents[numbers, 1 : 1 + span]).view(np.uint8)
            start, length = int(interner.start[p]), int(self._lengths[p])
            found[:, start : start + length] = raw[:, :length]
        return found

    def records(self, bounds: Sequence[tuple[int, int]] | None = None, block: int = 4096) -> Iterator[Record]:
        """The states of each partition between its bounds (all, if None), in no order of meaning."""
        if bounds is None:
            bounds = [(0, partition.count) for partition in self.partitions]
        for p, (low, high) in enumerate(bounds):
            for first in range(low, high, block):
                yield from self._records(p, first, min(high, first + block))
