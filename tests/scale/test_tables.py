"""The scanner's tables: growing where they are, nothing is lost on the way."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pymodel.growing import GrowingArray
from trace_check.reader import read_trace
from trace_check.streaming.compiling import kernels
from trace_check.streaming.generate import MODELS, write_log
from trace_check.streaming.scanner import layout as s
from trace_check.streaming.scanner.operations import place_operation, rehash_operations, slot_of
from trace_check.streaming.scanning import scan
from trace_check.streaming.tables import Memory

CONFORMING = MODELS / "park-and-resume.jsonl"


def _in_reach(T: Any, held: int) -> bool:
    """Is an operation where it is looked for?"""
    h = int(T.r_fields[(held >> 1) * s.R_WIDTH + s.R_HASH]) if held & 1 else held
    return int(T.o_slots[slot_of(T, h)]) == held


@pytest.mark.parametrize("crowded", [False, True])
def test_operations_are_spread_where_they_are(crowded: bool) -> None:
    went_around = 0
    for seed in range(300):
        rng = random.Random(seed)
        half = rng.choice([8, 16, 64])
        count = int(half * rng.choice([0.5, 0.7, 0.8]))
        # Crowded: all belong to the last places, so that they go on at the first.
        low = [rng.randrange(half - 3, half) if crowded else rng.randrange(half) for _ in range(count)]
        hashes = [2 * (home + half * (number + 1)) for number, home in enumerate(low)]
        T = SimpleNamespace(o_slots=np.zeros(half, np.int64), r_fields=np.zeros(count * s.R_WIDTH, np.int64))
        helds = []
        for number, h in enumerate(hashes):
            T.r_fields[number * s.R_WIDTH + s.R_HASH] = h
            helds.append(2 * number + 1 if rng.random() < 0.3 else h)
            place_operation(T, helds[-1])
        T.o_slots = np.concatenate([T.o_slots, np.zeros(half, np.int64)])
        run = int(np.flatnonzero(T.o_slots == 0)[0])
        went_around += run > 0
        first = T.o_slots[:run].copy()
        T.o_slots[:run] = 0
        rehash_operations(T, half, first)
        assert all(_in_reach(T, held) for held in helds)
        assert np.count_nonzero(T.o_slots) == count
    assert went_around >= 100


@pytest.mark.parametrize("can_remap", [True, False])
def test_tables_grow_and_forget_nothing(monkeypatch: pytest.MonkeyPatch, can_remap: bool) -> None:
    if not can_remap:
        monkeypatch.setattr(GrowingArray, "_remap", lambda self, size: False)
    memory = Memory(kernels(), read_trace(CONFORMING).header, 100)
    before = int(memory.tables.meta[s.NAMES])
    rows = len(memory.tables.e_hash)
    for number in range(4 * rows):
        memory._name(f"name {number}", 0, number)
    assert len(memory.tables.e_hash) == 8 * rows
    tables = memory.tables
    assert tables.e_id[before : before + 4 * rows].tolist() == list(range(4 * rows))
    assert memory.name_of(before + 3) == b"name 3"
    assert np.array_equal(np.sort(tables.e_slots[tables.e_slots >= 0]), np.arange(before + 4 * rows))


def test_a_table_that_someone_holds_grows_all_the_same(tmp_path: Path) -> None:
    memory = Memory(kernels(), read_trace(CONFORMING).header, 100)
    held = memory.tables.arena
    while len(memory.tables.arena) == len(held):
        memory._name("x" * 1000, 0, 0)
    assert held[:7].tobytes() == memory.tables.arena[:7].tobytes() == b"harness"


def test_a_log_comes_to_the_same_however_tables_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    write_log(path, [read_trace(CONFORMING)], 2_000)
    found = scan(path, allow_torn=False, longest=100)
    monkeypatch.setattr(GrowingArray, "_remap", lambda self, size: False)
    copied = scan(path, allow_torn=False, longest=100)
    meta = found.memory.tables.meta
    assert np.array_equal(meta, copied.memory.tables.meta)
    assert np.array_equal(found.ends, copied.ends)
    for name, used in (("e_hash", s.NAMES), ("arena", s.ARENA), ("a_seq", s.ACTORS), ("o_slots", None)):
        one, other = getattr(found.memory.tables, name), getattr(copied.memory.tables, name)
        assert len(one) > len(getattr(Memory(kernels(), found.header, 100).tables, name))
        count = None if used is None else int(meta[used])
        assert np.array_equal(one[:count], other[:count])
