"""The scanner's tables: how they begin, and how they grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymodel.errors import MemoryLimitError
from pymodel.growing import Account, GrowingArray
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

_NOTHING = np.zeros(0, np.uint8)


class Memory:
    """The tables of one trace.

    A table grows where it is, in pages of its own: it is never there twice, and the part of it in which nothing was
    written yet takes no memory.

    Args:
        kernels: the compiled functions.
        header: its program gives the steps and units.
        longest: lines that a thread may have.

    Attributes:
        tables: what the scanner gets.  Nothing may keep one of its arrays over a call of `grow`.
    """

    def __init__(self, kernels: Kernels, header: Header, longest: int) -> None:
        self._kernels = kernels
        steps = [(step, number) for number, unit in enumerate(header.units(), 1) for step in unit.steps]
        masks = field_masks()
        arrays: dict[str, Any] = {
            "meta": np.zeros(32, np.int64),
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
        sizes = {"o_slots": _SLOTS_AT_FIRST} | {slots: _SLOTS_AT_FIRST for slots, _ in _SLOTS.values()}
        kinds: dict[str, Any] = {"o_slots": np.int64} | {slots: np.int32 for slots, _ in _SLOTS.values()}
        for counter, group in _GROUPS.items():
            for name, (kind, width) in group.items():
                sizes[name] = _ROWS_AT_FIRST.get(counter, _SMALL) * width
                kinds[name] = kind
        empty: dict[str, Any] = dict.fromkeys(sizes, _NOTHING)
        self._pages = {name: GrowingArray(Account(None), kind) for name, kind in kinds.items()}
        self.tables = s.Tables(**arrays, **empty)
        for name, size in sizes.items():
            self._resize(name, size)
        for slots, _ in _SLOTS.values():
            getattr(self.tables, slots).fill(-1)
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
            MemoryError: the system has no more.
        """
        meta = self.tables.meta
        full = [counter for counter in _GROUPS if meta[counter] > _FULL * self._rows(counter)]
        operations_are_full = bool(meta[s.OPERATIONS] > _FULLEST * len(self.tables.o_slots))
        if not (full or operations_are_full) or (s.ARENA in full and self._rows(s.ARENA) >= _MOST_TEXT):
            raise Irregular
        for counter in full:
            self._double(*_GROUPS[counter])
            if counter in _SLOTS:
                self._rehash(*_SLOTS[counter])
        if operations_are_full:
            self._rehash_operations()

    def _rows(self, counter: int) -> int:
        """How many rows there is room for."""
        name, (_, width) = next(iter(_GROUPS[counter].items()))
        return len(getattr(self.tables, name)) // width

    def _double(self, *names: str) -> None:
        for name in names:
            self._resize(name, 2 * len(getattr(self.tables, name)))

    def _resize(self, name: str, size: int) -> None:
        pages = self._pages[name]
        self._put(name, _NOTHING)  # a view would hold the pages where they are
        try:
            pages.grow(size)
        except MemoryLimitError:
            raise MemoryError from None
        self._put(name, pages.array[:size])

    def _put(self, name: str, array: Any) -> None:
        changed: Any = {name: array}
        self.tables = self.tables._replace(**changed)

    def _rehash(self, slots: str, kernel: str) -> None:
        self._double(slots)
        getattr(self.tables, slots).fill(-1)
        getattr(self._kernels, kernel)(self.tables)

    def _rehash_operations(self) -> None:
        half = len(self.tables.o_slots)
        self._double("o_slots")
        slots = self.tables.o_slots
        count = 0
        while slots[count]:
            count += 1
        first = slots[:count].copy()
        slots[:count] = 0
        self._kernels.rehash_operations(self.tables, half, first)

    def name_of(self, entry: int) -> bytes:
        """The bytes of a name."""
        start = int(self.tables.e_offset[entry])
        return self.tables.arena[start : start + int(self.tables.e_length[entry])].tobytes()


_KINDS_OF_STEPS = ("pure", "effect", "gate")

_GROUPS: dict[int, dict[str, tuple[Any, int]]] = {
    s.NAMES: {
        "e_hash": (np.int32, 1),
        "e_offset": (np.int32, 1),
        "e_length": (np.int32, 1),
        "e_scope": (np.int32, 1),
        "e_id": (np.int32, 1),
        "e_flag": (np.uint8, 1),
    },
    s.ARENA: {"arena": (np.uint8, 1)},
    s.THREADS: dict.fromkeys(("t_node", "t_depth", "t_names", "t_operations"), (np.int32, 1)),
    s.ACTORS: {
        "a_seq": (np.int64, 1),
        "a_t": (np.int64, 1),
        "a_thread": (np.int32, 1),
        "a_number": (np.int32, 1),
    },
    s.RECORDS: {
        "r_fields": (np.int64, s.R_WIDTH),
        "r_name": (np.uint8, s.SLAB),
        "r_checkpoint": (np.uint8, s.SLAB),
        "r_parent": (np.uint8, s.SLAB),
    },
    s.LETTERS: {"l_hash": (np.int64, 1), "l_offset": (np.int64, 1), "l_length": (np.int32, 1)},
    s.TOKENS: {"tokens": (np.int32, 1)},
    s.NODES: dict.fromkeys(("n_parent", "n_letter"), (np.int32, 1)),
}
"""Tables that grow together, by the counter of their rows: of each the type, and how many of it are a row."""

_ROWS_AT_FIRST = {s.ARENA: 1 << 16, s.TOKENS: 1 << 14}

_SLOTS = {
    s.NAMES: ("e_slots", "rehash_names"),
    s.LETTERS: ("l_slots", "rehash_letters"),
    s.NODES: ("n_slots", "rehash_nodes"),
}
