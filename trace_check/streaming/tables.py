"""The scanner's tables: how they begin, and how they grow."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trace_check.events import Header
from trace_check.observations import HARNESS
from trace_check.streaming.compiling import Kernels
from trace_check.streaming.lines import Irregular, plain_bytes
from trace_check.streaming.scanner import layout as s
from trace_check.streaming.vocabulary import CLOSES, FIELDS, KINDS, REFUSALS, field_masks, kind_traits

__all__ = ["Memory"]

_SLOTS_AT_FIRST = 1 << 12
_SMALL = 3 * _SLOTS_AT_FIRST // 4  # rows: a table is never fuller than that
_MOST_TEXT = 1 << 30
"""Bytes of names in all: places among them are kept in 32 bits."""

_FULL = 0.5
"""How full a table may be when all that are as full are enlarged."""

_FULLEST = 0.7
"""The same for operations, whose table is large and holds nothing but hashes."""


def _zeros(size: int, kind: Any) -> NDArray[Any]:
    """An array of its own pages, so that what a table leaves behind when it grows goes back to the system."""
    kind = np.dtype(kind)
    return np.frombuffer(mmap.mmap(-1, size * kind.itemsize), kind)


class Memory:
    """The tables of one trace.

    Args:
        kernels: the compiled functions.
        header: its program gives the steps and units.
        longest: lines that a thread may have.

    Attributes:
        tables: what the scanner gets.
    """

    def __init__(self, kernels: Kernels, header: Header, longest: int) -> None:
        self._kernels = kernels
        steps = [(step, number) for number, unit in enumerate(header.units(), 1) for step in unit.steps]
        masks = field_masks()
        arrays: dict[str, Any] = {
            "meta": np.zeros(32, np.int64),
            "r_fields": np.zeros(_SMALL * s.R_WIDTH, np.int64),
            "r_name": np.zeros(_SMALL * s.SLAB, np.uint8),
            "r_checkpoint": np.zeros(_SMALL * s.SLAB, np.uint8),
            "r_parent": np.zeros(_SMALL * s.SLAB, np.uint8),
            "o_slots": np.zeros(_SLOTS_AT_FIRST, np.int64),
            "arena": np.zeros(1 << 16, np.uint8),
            "tokens": np.zeros(1 << 14, np.int32),
            "s_kind": np.array([-1] + [_KINDS_OF_STEPS.index(step.kind) for step, _ in steps], np.int32),
            "s_unit": np.array([0] + [unit for _, unit in steps], np.int32),
            "masks": np.array(masks, np.int64).reshape(-1),
            "traits": np.array([kind_traits(kind) for kind in KINDS], np.int64),
            "closes": np.array(CLOSES, np.int64),
            "t_form": np.zeros(0, np.int32),
            "t_seen": np.zeros(0, np.int32),
            "wanted_at": np.zeros(0, np.int64),
            "wanted": np.zeros(0, np.int64),
            "hits": np.zeros((0, 4), np.int64),
        }
        for names, kinds in _GROUPS.values():
            for name, kind in zip(names, kinds, strict=True):
                arrays[name] = np.zeros(_SMALL, kind)
        for slots in ("e_slots", "l_slots", "n_slots"):
            arrays[slots] = np.full(_SLOTS_AT_FIRST, -1, np.int32)
        self.tables = s.Tables(**arrays)
        meta = self.tables.meta
        meta[s.FREE] = -1
        meta[s.NODES] = 1  # the root
        meta[s.LONGEST] = longest
        self._name(HARNESS, s.OF_ACTORS, 0)
        self.tables.a_thread[0] = -1
        meta[s.ACTORS] = 1
        for scope, words in ((s.OF_FIELDS, FIELDS), (s.OF_KINDS, KINDS), (s.OF_REFUSALS, REFUSALS)):
            for number, word in enumerate(words):
                self._name(word, scope, number)
        for number, (step, _) in enumerate(steps, 1):
            self._name(step.step, s.OF_STEPS, number)
        for number, unit in enumerate(header.units(), 1):
            self._name(unit.name, s.OF_UNITS, number)

    def _name(self, name: str, scope: int, number: int) -> None:
        text = np.frombuffer(plain_bytes(name), np.uint8)
        while self._kernels.enter(self.tables, text, scope, number) < 0:
            self.grow()

    def grow(self) -> None:
        """Enlarge every table that is half full.

        Raises:
            Irregular: the names are too long to be kept, or one thing is larger than half a table.
        """
        before, meta = self.tables, self.tables.meta
        for counter, (names, _) in _GROUPS.items():
            if meta[counter] > _FULL * len(getattr(self.tables, names[0])):
                self._double(*names)
                if counter in _SLOTS:
                    self._rehash(counter)
        if meta[s.ARENA] > _FULL * len(self.tables.arena):
            if len(self.tables.arena) >= _MOST_TEXT:
                raise Irregular
            self._double("arena")
        if meta[s.TOKENS] > _FULL * len(self.tables.tokens):
            self._double("tokens")
        if meta[s.RECORDS] > _FULL * len(self.tables.r_fields) / s.R_WIDTH:
            self._double("r_fields", "r_name", "r_checkpoint", "r_parent")
        if meta[s.OPERATIONS] > _FULLEST * len(self.tables.o_slots):
            smaller = self.tables.o_slots
            self.tables = self.tables._replace(o_slots=_zeros(2 * len(smaller), np.int64))
            self._kernels.rehash_operations(self.tables, smaller)
        if self.tables is before:
            raise Irregular

    def _double(self, *names: str) -> None:
        for name in names:
            old = getattr(self.tables, name)
            new = _zeros(2 * len(old), old.dtype)
            new[: len(old)] = old
            self.tables = self.tables._replace(**{name: new})

    def _rehash(self, counter: int) -> None:
        slots, kernel = _SLOTS[counter]
        size = 2 * len(getattr(self.tables, slots))
        empty = _zeros(size, np.int32)
        empty.fill(-1)
        enlarged: Any = {slots: empty}
        self.tables = self.tables._replace(**enlarged)
        getattr(self._kernels, kernel)(self.tables)

    def name_of(self, entry: int) -> bytes:
        """The bytes of a name."""
        start = int(self.tables.e_offset[entry])
        return self.tables.arena[start : start + int(self.tables.e_length[entry])].tobytes()


_KINDS_OF_STEPS = ("pure", "effect", "gate")

_GROUPS: dict[int, tuple[tuple[str, ...], tuple[Any, ...]]] = {
    s.NAMES: (
        ("e_hash", "e_offset", "e_length", "e_scope", "e_id", "e_flag"),
        (np.int32, np.int32, np.int32, np.int32, np.int32, np.uint8),
    ),
    s.THREADS: (("t_node", "t_depth", "t_names", "t_operations"), (np.int32,) * 4),
    s.ACTORS: (("a_seq", "a_t", "a_thread", "a_number"), (np.int64, np.int64, np.int32, np.int32)),
    s.LETTERS: (("l_hash", "l_offset", "l_length"), (np.int64, np.int64, np.int32)),
    s.NODES: (("n_parent", "n_letter"), (np.int32, np.int32)),
}
"""Tables that grow together: the counter of their rows, their names, their types."""

_SLOTS = {
    s.NAMES: ("e_slots", "rehash_names"),
    s.LETTERS: ("l_slots", "rehash_letters"),
    s.NODES: ("n_slots", "rehash_nodes"),
}
