"""The search behind `explorer.explore`."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from pymodel.engine._config_type import ConfigHandle
from pymodel.engine._intrinsics import BLOCK
from pymodel.engine._kernels import (
    CAPACITY_ERROR,
    DONE,
    EMITTED,
    ERROR,
    ERROR_VALUE,
    FANOUT_ERROR,
    GROW_DIRECTORY,
    GROW_LAYOUT,
    GROW_REGION,
    LABEL_ERROR,
    MARKED,
    PARTITIONS,
    REPORT,
    SLOW,
    TERMINAL,
)
from pymodel.engine._store import StateStore
from pymodel.engine._warm import Warming, call_on_nothing
from pymodel.engine.compiling import compile_model, engine_kernels
from pymodel.engine.exploration import ActionCount, Exploration, Found, Progress
from pymodel.engine.model import Model, names_of_bits
from pymodel.errors import ModelError
from pymodel.growing import Account

__all__ = ["Limits", "Search"]

CHUNK = 2048
"""States a chunk; at most 2**16, the room for a parent's offset in an emission."""
SLOTS = 16
"""Chunks a round."""
EMISSIONS = 12288
SLOWS = 256
RECENT = 1 << 13
"""Keys a worker remembers."""
ALONE = 256
"""Rounds of fewer states are not worth waking other threads."""
PROGRESS_SECONDS = 0.25
BITS = 63


class Limits(NamedTuple):
    """When to end early."""

    stop_at_first: bool
    max_depth: int | None
    max_states: int | None


class Chunk(NamedTuple):
    """States first..last-1 of a partition."""

    partition: int
    first: int
    last: int


class _Worker:
    """What one thread writes to while it expands."""

    def __init__(self, model: Model, words: int) -> None:
        self.padded = np.zeros(model.width + BLOCK, np.uint8)
        self.state = self.padded[: model.width]
        # Twice the rows: a model that writes too many is found out before it does harm.
        self.flat = np.zeros(2 * model.fanout * model.width + BLOCK, np.uint8)
        self.out = self.flat[: model.fanout * model.width].reshape(model.fanout, model.width)
        self._labels = np.zeros((2 * model.fanout, model.label_width), np.int32)
        self.labels = self._labels[: model.fanout]
        self.ids = np.zeros(len(model.components), np.int64)
        changes = model.fanout * len(model.components)
        self.change_part = np.zeros(changes, np.int64)
        self.change_at = np.zeros(changes, np.int64)
        self.change_hash = np.zeros(changes, np.uint64)
        self.change_id = np.zeros(changes, np.int64)
        self.change_end = np.zeros(model.fanout, np.int64)
        self.generated = np.zeros(len(model.actions), np.int64)
        self.forget(words)

    def forget(self, words: int) -> None:
        self.recent = np.zeros(RECENT * words, np.uint64)


class _Slot:
    """What the expansion of one chunk hands to the insertion."""

    def __init__(self, model: Model, words: int) -> None:
        slow = SLOWS + model.fanout
        rows = EMISSIONS + model.fanout + slow
        if rows >= 1 << 16:
            raise ModelError(
                f"model {model.name}: a fanout of {model.fanout} is more than the engine can take"
            )
        self.slow_flat = np.zeros(slow * model.width + 8, np.uint8)
        self.slow = self.slow_flat[: slow * model.width].reshape(slow, model.width)
        self.slow_meta = np.zeros(slow, np.uint64)
        self.report = np.zeros(REPORT, np.int64)
        self.broken_at = np.full(BITS, -1, np.int64)
        self.seen_at = np.full(BITS, -1, np.int64)
        self.rows = rows


class Search:
    """One exploration in progress."""

    def __init__(
        self,
        model: Model,
        workers: int,
        limits: Limits,
        memory_limit: int | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.model = model
        self.workers = workers
        self._limits = limits
        self._on_progress = on_progress
        self._config = ConfigHandle(model.config)
        self._compiled = compile_model(model)
        self._kernels = engine_kernels()
        self._account = Account(memory_limit)
        self._store = StateStore(model, self._kernels, self._account)
        words = self._store.words
        self._workers = [_Worker(model, words) for _ in range(workers)]
        self._slots = [_Slot(model, words) for _ in range(SLOTS)]
        rows = self._slots[0].rows
        self._emitted = self._account.zeros(SLOTS * rows * (words + 1)).reshape(SLOTS, rows, words + 1)
        self._order = self._account.zeros(SLOTS * PARTITIONS * rows, np.uint16).reshape(
            SLOTS, PARTITIONS, rows
        )
        self._fill = np.zeros((SLOTS, PARTITIONS), np.int64)
        self._parent_base = np.zeros(SLOTS, np.int64)
        self._account.take(sum(slot.slow_flat.nbytes for slot in self._slots))
        self._fresh = np.zeros((PARTITIONS, len(model.actions) + 1), np.int64)
        self._unbroken = (1 << len(model.invariants)) - 1
        self._unseen = (1 << len(model.sometimes)) - 1
        self._violations: dict[str, Found] = {}
        self._witnesses: dict[str, Found] = {}
        self._levels: list[int] = []
        self._initial = 0
        self._terminal = 0
        self._marked = 0
        self._complete = True
        self._begun = 0.0
        self._last_progress = 0.0
        self._seconds = 0.0

    # --- the levels --------------------------------------------------------------------------------------------------

    def run(self, pool: ThreadPoolExecutor) -> None:
        """Search until nothing is new or a limit is met."""
        self._pool = pool
        self._compile()
        self._begun = self._last_progress = time.perf_counter()
        self._insert_initial()
        reached = [0] * PARTITIONS
        limits = self._limits
        while True:
            counts = self._store.counts()
            size = sum(counts) - sum(reached)
            if size == 0:
                break
            self._levels.append(size)
            pending = deque(_cut(reached, counts))
            depth = len(self._levels)
            if limits.max_depth is not None and depth >= limits.max_depth:
                self._judge(pending, depth)
                self._complete = False
                break
            while pending:
                self._round(pending, depth)
                self._report_progress(depth, pending, PROGRESS_SECONDS)
                if self._enough():
                    break
            if pending or self._enough():
                self._judge(pending, depth)
                newer = self._store.counts()
                if sum(newer) > sum(counts):
                    self._levels.append(sum(newer) - sum(counts))
                    self._judge(_cut(counts, newer), depth + 1)
                self._complete = False
                break
            reached = counts
            self._report_progress(depth, pending, 0.0)
        self._seconds = time.perf_counter() - self._begun

    def _enough(self) -> bool:
        limits = self._limits
        too_many = limits.max_states is not None and len(self._store) >= limits.max_states
        return too_many or (limits.stop_at_first and bool(self._violations))

    def _report_progress(self, depth: int, pending: Iterable[Chunk], interval: float) -> None:
        now = time.perf_counter()
        if self._on_progress is None or now - self._last_progress < interval:
            return
        self._last_progress = now
        distinct = len(self._store)
        queue = distinct - sum(self._levels) + sum(chunk.last - chunk.first for chunk in pending)
        self._on_progress(Progress(depth, distinct, self._generated(), queue, now - self._begun))

    def _generated(self) -> int:
        return len(self.model.initial) + int(sum(int(worker.generated.sum()) for worker in self._workers))

    def result(self, total_seconds: float) -> Exploration:
        """What was found."""
        generated = np.sum([worker.generated for worker in self._workers], axis=0)
        fresh = self._fresh.sum(axis=0)
        actions = {
            name: ActionCount(int(generated[a]), int(fresh[a])) for a, name in enumerate(self.model.actions)
        }
        return Exploration(
            model=self.model,
            distinct=len(self._store),
            generated=self._generated(),
            depth=len(self._levels),
            levels=tuple(self._levels),
            actions=actions,
            initial=self._initial,
            terminal=self._terminal,
            violations={
                name: self._violations[name] for name in self.model.invariants if name in self._violations
            },
            witnesses={
                name: self._witnesses[name] for name in self.model.sometimes if name in self._witnesses
            },
            marked=frozenset(names_of_bits(self._marked, self.model.marks)),
            seconds=self._seconds,
            total_seconds=total_seconds,
            peak_bytes=self._account.peak,
            workers=self.workers,
            complete=self._complete,
            store=self._store,
        )

    # --- a round -----------------------------------------------------------------------------------------------------

    def _compile(self) -> None:
        """Load or compile everything by doing nothing with it."""
        with Warming(self._kernels):
            self._expand(0, Chunk(0, 0, 0), self._workers[0], True, self._compiled.expand.prepare)
        call_on_nothing(self._kernels)

    def _round(self, pending: deque[Chunk], depth: int) -> None:
        chunks = [pending.popleft() for _ in range(min(SLOTS, len(pending)))]
        alone = sum(chunk.last - chunk.first for chunk in chunks) < ALONE
        self._parallel(len(chunks), alone, lambda w, j: self._expand(j, chunks[j], self._workers[w], True))
        self._collect(chunks, depth)
        unfinished = []
        for j, chunk in enumerate(chunks):
            self._parent_base[j] = chunk.first * PARTITIONS + chunk.partition
            done = int(self._slots[j].report[DONE])
            self._terminal += int(self._slots[j].report[TERMINAL])
            self._marked |= int(self._slots[j].report[MARKED])
            if done < chunk.last:
                unfinished.append(chunk._replace(first=done))
        for j in range(len(chunks)):
            if self._slots[j].report[SLOW]:
                self._intern(j)
        self._parallel(PARTITIONS, alone, lambda w, p: self._insert(p, len(chunks)))
        pending.extendleft(reversed(unfinished))

    def _judge(self, pending: Iterable[Chunk], depth: int) -> None:
        """Evaluate the properties in states that will not be expanded."""
        queue = deque(pending)
        while queue:
            chunks = [queue.popleft() for _ in range(min(SLOTS, len(queue)))]
            self._judge_chunks(chunks)
            self._collect(chunks, depth)

    def _judge_chunks(self, chunks: list[Chunk]) -> None:
        self._parallel(len(chunks), False, lambda w, j: self._expand(j, chunks[j], self._workers[w], False))

    def _parallel(self, tasks: int, alone: bool, work: Callable[[int, int], None]) -> None:
        """Do tasks 0..tasks-1; each thread takes the next one, so each sees them in rising order."""
        numbers = itertools.count()

        def loop(worker: int) -> None:
            while (task := next(numbers)) < tasks:
                work(worker, task)

        others = 0 if alone else min(self.workers, tasks) - 1
        futures = [self._pool.submit(loop, worker) for worker in range(1, others + 1)]
        try:
            loop(0)
        finally:
            for future in futures:
                future.exception()
        for future in futures:
            future.result()

    def _expand(
        self, j: int, chunk: Chunk, worker: _Worker, search: bool, expand: Callable[..., Any] | None = None
    ) -> None:
        slot = self._slots[j]
        store = self._store
        (expand or self._compiled.expand.dispatcher)(
            self._config,
            self.model.fanout,
            len(self.model.actions),
            store.words,
            store.interner,
            store.layout,
            store.partitions[chunk.partition].keys.array,
            chunk.first,
            chunk.last,
            search,
            self._unbroken,
            self._unseen,
            worker.state,
            worker.padded,
            worker.out,
            worker.flat,
            worker.labels,
            worker.ids,
            worker.change_part,
            worker.change_at,
            worker.change_hash,
            worker.change_id,
            worker.change_end,
            worker.recent,
            self._emitted[j],
            self._order[j],
            self._fill[j],
            slot.slow,
            slot.slow_meta,
            worker.generated,
            slot.broken_at,
            slot.seen_at,
            slot.report,
        )

    def _collect(self, chunks: list[Chunk], depth: int) -> None:
        """Gather what the expansion of the chunks found, in their order."""
        model = self.model
        for j, chunk in enumerate(chunks):
            slot = self._slots[j]
            error, value = int(slot.report[ERROR]), int(slot.report[ERROR_VALUE])
            if error == CAPACITY_ERROR:
                model.check_capacity(value)
            elif error == FANOUT_ERROR:
                model.check_fanout(value)
            elif error == LABEL_ERROR:
                model.check_action(value)
            for marks, names, found in (
                (slot.broken_at, model.invariants, self._violations),
                (slot.seen_at, model.sometimes, self._witnesses),
            ):
                if marks.max() < 0:
                    continue
                for bit in np.flatnonzero(marks >= 0):
                    index = int(marks[bit]) * PARTITIONS + chunk.partition
                    found.setdefault(names[bit], Found(depth, index))
                marks.fill(-1)
        self._unbroken = _bits_left(model.invariants, self._violations)
        self._unseen = _bits_left(model.sometimes, self._witnesses)

    def _intern(self, j: int) -> None:
        slot = self._slots[j]
        store = self._store
        done = 0
        while True:
            done = self._kernels.intern(
                store.interner,
                store.layout,
                store.words,
                store.directory_room,
                slot.slow,
                slot.slow_flat,
                self.model.width,
                slot.slow_meta,
                done,
                self._emitted[j],
                self._order[j],
                self._fill[j],
                slot.report,
            )
            if done == slot.report[SLOW]:
                return
            component = int(slot.report[ERROR_VALUE])
            grow = int(slot.report[ERROR])
            if grow == GROW_REGION:
                store.grow_region(component)
            elif grow == GROW_DIRECTORY:
                store.grow_directory()
            elif grow == GROW_LAYOUT:
                self._widen(component)

    def _widen(self, component: int) -> None:
        """Repack the states and what is on its way to them."""
        store = self._store
        before, words_before = store.widen_layout(component)
        old = self._emitted
        new = old
        if store.words != words_before:
            slots, rows, _ = old.shape
            new = self._account.zeros(slots * rows * (store.words + 1)).reshape(slots, rows, store.words + 1)
        for j, slot in enumerate(self._slots):
            self._kernels.repack(
                old[j].reshape(-1),
                before,
                words_before,
                new[j].reshape(-1),
                store.layout,
                store.words,
                int(slot.report[EMITTED]),
                1,
                store.ids,
            )
        if new is not old:
            self._account.take(-old.nbytes)
            self._emitted = new
        for worker in self._workers:
            worker.forget(store.words)

    def _insert(self, number: int, chunks: int) -> None:
        partition = self._store.partitions[number]
        cursor = np.array([0, 0, partition.count], np.int64)
        while True:
            done = self._kernels.insert(
                self._store.words,
                number,
                chunks,
                self._emitted,
                self._order,
                self._fill,
                self._parent_base,
                PARTITIONS,
                partition.keys.array,
                partition.parents.array,
                partition.table,
                partition.bits,
                partition.room,
                cursor,
                self._fresh[number],
            )
            partition.count = int(cursor[2])
            if done:
                return
            partition.grow(self._kernels)

    def _insert_initial(self) -> None:
        slot = self._slots[0]
        rows = len(slot.slow)
        label = np.uint64(len(self.model.actions) << 4)
        self._parent_base[0] = -1
        for first in range(0, len(self.model.initial), rows):
            some = self.model.initial[first : first + rows]
            slot.slow[: len(some)] = some
            slot.slow_meta[: len(some)] = label
            slot.report[:] = 0
            slot.report[SLOW] = len(some)
            self._fill[0] = 0
            self._intern(0)
            for number in range(PARTITIONS):
                self._insert(number, 1)
        self._initial = len(self._store)


def _cut(low: list[int], high: list[int]) -> list[Chunk]:
    """Chunks for the states between two counts of each partition, the partitions interleaved.

    Successors of one state are in different partitions but at about the same place in them: what is expanded
    together then shares parents, and duplicates are found in the cache.
    """
    most = max(h - lo for lo, h in zip(low, high, strict=True))
    return [
        Chunk(p, first, min(h, first + CHUNK))
        for offset in range(0, most, CHUNK)
        for p, (lo, h) in enumerate(zip(low, high, strict=True))
        if (first := lo + offset) < h
    ]


def _bits_left(names: tuple[str, ...], found: dict[str, Any]) -> int:
    return sum(1 << bit for bit, name in enumerate(names) if name not in found)
