"""Names: a hash table of names and values, each in its scope, whose bytes are kept in an arena."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.layout import ARENA, BASIS, MIX, NAMES, PRIME


def mixed(h: int) -> int:
    h = (h ^ ((h >> 29) & 0x7FFFFFFFF)) * MIX
    return h ^ ((h >> 32) & 0xFFFFFFFF)


def same(T: Any, offset: int, buf: Any, start: int, length: int) -> bool:
    for i in range(length):
        if T.arena[offset + i] != buf[start + i]:
            return False
    return True


def find(T: Any, buf: Any, start: int, stop: int, h: int, scope: int) -> int:
    """The entry of a name, or -1."""
    h = (mixed(h + scope * PRIME) >> 33) & 0x7FFFFFFF
    mask = T.e_slots.shape[0] - 1
    i = h & mask
    while True:
        j = T.e_slots[i]
        if j < 0:
            return -1
        if T.e_hash[j] == h and T.e_scope[j] == scope and T.e_length[j] == stop - start:
            if same(T, T.e_offset[j], buf, start, stop - start):
                return j
        i = (i + 1) & mask


def insert(T: Any, buf: Any, start: int, stop: int, h: int, scope: int, number: int) -> int:
    """A new entry for a name; -1: there is no room."""
    h = (mixed(h + scope * PRIME) >> 33) & 0x7FFFFFFF
    j = T.meta[NAMES]
    length = stop - start
    offset = T.meta[ARENA]
    if j >= T.e_hash.shape[0] or offset + length > T.arena.shape[0]:
        return -1
    for i in range(length):
        T.arena[offset + i] = buf[start + i]
    T.e_hash[j] = h
    T.e_offset[j] = offset
    T.e_length[j] = length
    T.e_scope[j] = scope
    T.e_id[j] = number
    T.e_flag[j] = 0
    mask = T.e_slots.shape[0] - 1
    i = h & mask
    while T.e_slots[i] >= 0:
        i = (i + 1) & mask
    T.e_slots[i] = j
    T.meta[NAMES] = j + 1
    T.meta[ARENA] = offset + length
    return j


def enter(T: Any, text: Any, scope: int, number: int) -> int:
    """A new entry for a name that is given; -1: there is no room."""
    h = BASIS
    for i in range(text.shape[0]):
        h = (h ^ text[i]) * PRIME
    return insert(T, text, 0, text.shape[0], h, scope, number)


def rehash_names(T: Any) -> None:
    mask = T.e_slots.shape[0] - 1
    for j in range(T.meta[NAMES]):
        i = T.e_hash[j] & mask
        while T.e_slots[i] >= 0:
            i = (i + 1) & mask
        T.e_slots[i] = j
