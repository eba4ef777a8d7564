"""The tree of behaviours: letters and nodes, each different one numbered."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.layout import BASIS, LETTERS, NODES, PRIME, TOKENS
from trace_check.streaming.scanner.names import mixed


def letter_of(T: Any, tok: Any, count: int) -> int:
    """The number of a letter, old or new; -1: there is no room."""
    h = BASIS
    for i in range(count):
        h = (h ^ tok[i]) * PRIME
        h ^= (h >> 31) & 0x1FFFFFFFF
    h = mixed(h)
    mask = T.l_slots.shape[0] - 1
    i = h & mask
    while True:
        j = T.l_slots[i]
        if j < 0:
            break
        if T.l_hash[j] == h and T.l_length[j] == count:
            offset = T.l_offset[j]
            equal = True
            for k in range(count):
                if T.tokens[offset + k] != tok[k]:
                    equal = False
                    break
            if equal:
                return j
        i = (i + 1) & mask
    j = T.meta[LETTERS]
    offset = T.meta[TOKENS]
    if j >= T.l_hash.shape[0] or offset + count > T.tokens.shape[0]:
        return -1
    for k in range(count):
        T.tokens[offset + k] = tok[k]
    T.l_hash[j] = h
    T.l_offset[j] = offset
    T.l_length[j] = count
    T.l_slots[i] = j
    T.meta[LETTERS] = j + 1
    T.meta[TOKENS] = offset + count
    return j


def rehash_letters(T: Any) -> None:
    mask = T.l_slots.shape[0] - 1
    for j in range(T.meta[LETTERS]):
        i = T.l_hash[j] & mask
        while T.l_slots[i] >= 0:
            i = (i + 1) & mask
        T.l_slots[i] = j


def node_hash(parent: int, letter: int) -> int:
    return mixed(parent * PRIME + letter * BASIS)


def child_of(T: Any, parent: int, letter: int) -> int:
    """The node after another, old or new; -1: there is no room."""
    mask = T.n_slots.shape[0] - 1
    i = node_hash(parent, letter) & mask
    while True:
        j = T.n_slots[i]
        if j < 0:
            break
        if T.n_parent[j] == parent and T.n_letter[j] == letter:
            return j
        i = (i + 1) & mask
    j = T.meta[NODES]
    if j >= T.n_parent.shape[0]:
        return -1
    T.n_parent[j] = parent
    T.n_letter[j] = letter
    T.n_slots[i] = j
    T.meta[NODES] = j + 1
    return j


def rehash_nodes(T: Any) -> None:
    mask = T.n_slots.shape[0] - 1
    for j in range(1, T.meta[NODES]):
        i = node_hash(T.n_parent[j], T.n_letter[j]) & mask
        while T.n_slots[i] >= 0:
            i = (i + 1) & mask
        T.n_slots[i] = j
