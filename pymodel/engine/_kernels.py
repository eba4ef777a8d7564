"""The inner loops of the explorer, compiled by `compiling.py`.

Plain functions over numpy arrays. `Next`, `Check` and `Sometimes` stand for the model's functions;
the compiler gives every model its own twin of `expand` with the model's in their place.

Words used here:

component   a slice of the record. Each different content is interned once, under an id from 1 up.
key         a state as the ids of its components, each in a bit field of `words` uint64 (see `Layout`).
hash        the xor of the 64-bit hashes of a state's components, so that it follows a change of one
            component and does not depend on the layout. The low bits choose the partition, the high
            32 are the `tag` that the partition's table stores; a slot's home is the tag's top bits.
            Hashes only say where to look: what is found is compared in full.
emission    a successor to insert: its key and a word with tag, parent (as an offset in its chunk), action
            and partition.

The constants are typed because numba turns int64 mixed with uint64 into float64.
"""

# ruff: noqa: F821  (Next, Check and Sometimes are bound when compiled)
# mypy: disable-error-code="name-defined,assignment,return-value,no-any-return"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pymodel.engine._intrinsics import BLOCK, differences, fold, load64, lowest_bit, prefetch, store64

__all__ = [
    "CAPACITY_ERROR",
    "DONE",
    "ERROR",
    "FANOUT_ERROR",
    "GROW_DIRECTORY",
    "GROW_LAYOUT",
    "GROW_REGION",
    "LABEL_ERROR",
    "MARKED",
    "NO_PARENT",
    "PARTITIONS",
    "PARTITION_BITS",
    "REPORT",
    "Interner",
    "Layout",
    "expand",
    "insert",
    "intern",
    "move_directory",
    "move_table",
    "repack",
    "step",
]

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

PARTITION_BITS = 3
PARTITIONS = 1 << PARTITION_BITS
NO_PARENT = 0xFFFFFFFF

# What `expand` and `intern` report, by position in `report`.
DONE, EMITTED, SLOW, TERMINAL, MARKED, ERROR, ERROR_VALUE, REPORT = range(8)
CAPACITY_ERROR, FANOUT_ERROR, LABEL_ERROR = 1, 2, 3
GROW_REGION, GROW_DIRECTORY, GROW_LAYOUT = 4, 5, 6

LOOK_AHEAD = 24
PEEK_AHEAD = 12

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW_32 = np.uint64(0xFFFFFFFF)
HIGH_32 = np.uint64(0xFFFFFFFF00000000)
PARTITION_MASK = np.uint64(PARTITIONS - 1)
MIX_1 = np.uint64(0x9E3779B97F4A7C15)
MIX_2 = np.uint64(0xBF58476D1CE4E5B9)
MIX_3 = np.uint64(0x94D049BB133111EB)
S_32 = np.uint64(32)
S_44 = np.uint64(44)
S_12 = np.uint64(12)
S_16 = np.uint64(16)
S_4 = np.uint64(4)


class Interner(NamedTuple):
    """The interned components.

    start, stop: where component p lies in the record, in bytes; owner: which component each byte of the
    record belongs to; words: the component's length in 8-byte words;
    tail: which bits of its last word belong to it. Its contents live in `heap` from `base[p]`, one every
    `stride[p]` words: the hash, then the bytes padded with zeros. `known[p]` ids are given out (0 is never
    used), `capacity[p]` fit the region. `directory` is an open-addressing table of
    ⟨20 bits of the hash, 12 of the component, 32 of the id⟩; 0 is an empty slot.
    """

    start: I64
    stop: I64
    owner: I64
    words: I64
    tail: U64
    stride: I64
    base: I64
    known: I64
    capacity: I64
    heap: U64
    directory: U64


class Layout(NamedTuple):
    """Where each component's id lies in a key: which word, how far shifted, how wide (as a mask)."""

    word: I64
    shift: U64
    mask: U64


def content_hash(memory: U8, at: int, component: int, words: int, tail: np.uint64) -> np.uint64:
    """The hash of the component whose bytes start at `at`; 7 bytes after it may be read."""
    h = np.uint64(component + 1) * MIX_1
    for j in range(words - 1):
        h = fold(load64(memory, at + 8 * j) ^ h, MIX_2 ^ np.uint64(j))
    h ^= load64(memory, at + 8 * (words - 1)) & tail
    return fold(fold(h, MIX_3) ^ MIX_1, MIX_2)


def after(count: int) -> np.uint64:
    """A mask without the lowest `count` of the 64 bits."""
    return ALL << np.uint64(count) if count < BLOCK else ZERO


def find(
    directory: U64,
    heap: U64,
    memory: U8,
    at: int,
    component: int,
    h: np.uint64,
    last: int,
    tail: np.uint64,
    base: int,
    stride: int,
) -> int:
    """The id of the component whose bytes start at `at` and hash to `h`; 0 if it is not interned.

    Takes no `Interner`: passing nine arrays costs more than looking the content up. `last` is the position of
    the component's last word; the rest is as in `Interner`.
    """
    wrap = directory.shape[0] - 1
    wanted = ((h >> S_44) << S_12) | np.uint64(component)
    slot = np.int64(h & LOW_32) & wrap
    while True:
        entry = directory[slot]
        if entry == ZERO:
            return 0
        if entry >> S_32 == wanted:
            number = np.int64(entry & LOW_32)
            place = base + number * stride + 1
            different = (load64(memory, at + 8 * last) & tail) ^ heap[place + last]
            for j in range(last):
                different |= load64(memory, at + 8 * j) ^ heap[place + j]
            if different == ZERO:
                return number
        slot = (slot + 1) & wrap


def expand(
    c: Any,
    fanout: int,
    actions: int,
    words: int,
    interner: Interner,
    layout: Layout,
    keys: U64,
    first: int,
    last: int,
    search: bool,
    unbroken: int,
    unseen: int,
    state: U8,
    padded: U8,
    out: U8,
    flat: U8,
    labels: NDArray[np.int32],
    ids: I64,
    change_part: I64,
    change_at: I64,
    change_hash: U64,
    change_id: I64,
    change_end: I64,
    recent: U64,
    emitted: U64,
    order: NDArray[np.uint16],
    fill: I64,
    slow: U8,
    slow_meta: U64,
    generated: I64,
    broken_at: I64,
    seen_at: I64,
    report: I64,
) -> None:
    """Expand the states first..last-1 of one partition, as far as the buffers have room.

    `unbroken` and `unseen` are the bits of `Check` and `Sometimes` still of interest; the first state that
    has one goes to `broken_at` and `seen_at`. With `search` off the states are only judged.
    Successors go to `emitted`, listed by partition in `order`; those with a component not interned yet go to
    `slow` whole. `recent` is a lossy memory of keys this worker has emitted: they need not be emitted again.
    """
    start = interner.start
    stop = interner.stop
    owner = interner.owner
    spans = interner.words
    tails = interner.tail
    strides = interner.stride
    bases = interner.base
    heap = interner.heap
    directory = interner.directory
    word = layout.word
    shift = layout.shift
    mask = layout.mask
    components = start.shape[0]
    width = out.shape[1]
    directory_wrap = directory.shape[0] - 1
    recent_wrap = recent.shape[0] // words - 1
    emitted_room = emitted.shape[0] - slow.shape[0] - fanout
    slow_room = slow.shape[0] - fanout
    emissions = 0
    considered = 0  # counts what `recent` drops too, so that where a chunk stops depends on the chunk alone
    slows = 0
    terminal = 0
    marked = np.int64(0)
    for p in range(fill.shape[0]):
        fill[p] = 0
    for i in range(REPORT):
        report[i] = 0
    current = first
    while current < last and considered <= emitted_room and slows <= slow_room:
        row = current * words
        parent_hash = ZERO
        for p in range(components):
            number = np.int64((keys[row + word[p]] >> shift[p]) & mask[p])
            ids[p] = number
            place = bases[p] + number * strides[p]
            parent_hash ^= heap[place]
            at = start[p]
            for j in range(spans[p]):
                # The padding after a component is overwritten by the component that follows.
                store64(padded, at + 8 * j, heap[place + 1 + j])
        if unbroken != 0:
            bits = np.int64(Check(c, state, out[0])) & unbroken
            if bits != 0:
                unbroken &= ~bits
                for b in range(63):
                    if (bits >> b) & 1:
                        broken_at[b] = current
        if unseen != 0:
            bits = np.int64(Sometimes(c, state)) & unseen
            if bits != 0:
                unseen &= ~bits
                for b in range(63):
                    if (bits >> b) & 1:
                        seen_at[b] = current
        successors = 0
        if search:
            successors = np.int64(Next(c, state, out, labels))
            if successors == 0:
                terminal += 1
            if successors < 0 or successors > fanout:
                report[ERROR] = FANOUT_ERROR
                report[ERROR_VALUE] = successors
                break
        considered += successors
        # In passes, so that the processor can work on several successors at a time: a branch it guesses wrong
        # costs little where it depends on little. First what changed, then its id (the memory was asked
        # for before), then the keys.
        changes = 0
        for r in range(successors):
            action = np.int64(labels[r, 0])
            if action < 0 or action >= actions:
                report[ERROR] = LABEL_ERROR
                report[ERROR_VALUE] = action
                break
            generated[action] += 1
            marked |= np.int64(labels[r, labels.shape[1] - 1])
            begin = r * width
            if flat[begin] != 0:
                report[ERROR] = CAPACITY_ERROR
                report[ERROR_VALUE] = flat[begin]
                break
            looked_at = 0  # the end of the last component that was noted
            for block in range(0, width, BLOCK):
                bits = differences(flat, begin + block, padded, block)
                if width - block < BLOCK:
                    bits &= (ONE << np.uint64(width - block)) - ONE
                if looked_at > block:
                    bits &= after(looked_at - block)
                while bits != ZERO:
                    p = owner[block + lowest_bit(bits)]
                    change_part[changes] = p
                    part = content_hash(flat, begin + start[p], p, spans[p], tails[p])
                    prefetch(directory, np.int64(part & LOW_32) & directory_wrap)
                    change_hash[changes] = part
                    change_at[changes] = begin + start[p]
                    changes += 1
                    looked_at = stop[p]
                    bits &= after(looked_at - block)
            change_end[r] = changes
        if report[ERROR] != 0:
            break
        for i in range(changes):
            part = change_hash[i]
            entry = directory[np.int64(part & LOW_32) & directory_wrap]
            if entry >> S_44 == part >> S_44:
                p = change_part[i]
                prefetch(heap, bases[p] + np.int64(entry & LOW_32) * strides[p])
        for i in range(changes):
            p = change_part[i]
            change_id[i] = find(
                directory,
                heap,
                flat,
                change_at[i],
                p,
                change_hash[i],
                spans[p] - 1,
                tails[p],
                bases[p],
                strides[p],
            )
        change = 0
        for r in range(successors):
            end = change_end[r]
            if change == end:
                continue
            for q in range(words):
                emitted[emissions, q] = keys[row + q]
            h = parent_hash
            known = True
            while change < end:
                p = change_part[change]
                number = change_id[change]
                known &= number != 0
                h ^= change_hash[change] ^ heap[bases[p] + ids[p] * strides[p]]
                emitted[emissions, word[p]] ^= np.uint64(number ^ ids[p]) << shift[p]
                change += 1
            meta = (np.uint64(current - first) << S_16) | (np.uint64(labels[r, 0]) << S_4)
            if not known:
                begin = r * width
                for j in range(width):
                    slow[slows, j] = flat[begin + j]
                slow_meta[slows] = meta
                slows += 1
                continue
            place = (np.int64(h >> S_4) & recent_wrap) * words
            different = ZERO
            for q in range(words):
                different |= recent[place + q] ^ emitted[emissions, q]
                recent[place + q] = emitted[emissions, q]
            partition = np.int64(h & PARTITION_MASK)
            emitted[emissions, words] = (h & HIGH_32) | meta | np.uint64(partition)
            order[partition, fill[partition]] = emissions
            # Without a branch, which would be guessed wrong half the time: a repetition is overwritten by the next.
            fresh = np.int64(different != ZERO)
            fill[partition] += fresh
            emissions += fresh
        current += 1
    report[DONE] = current
    report[EMITTED] = emissions
    report[SLOW] = slows
    report[TERMINAL] = terminal
    report[MARKED] = marked


def step(c: Any, state: U8, out: U8, labels: NDArray[np.int32]) -> int:
    """The model's `Next`, for callers outside."""
    return int(Next(c, state, out, labels))


def intern(
    interner: Interner,
    layout: Layout,
    words: int,
    directory_room: int,
    slow: U8,
    flat: U8,
    width: int,
    slow_meta: U64,
    next_slow: int,
    emitted: U64,
    order: NDArray[np.uint16],
    fill: I64,
    report: I64,
) -> int:
    """Intern the components of the slow records from `next_slow` on and emit them.

    Returns the first record not done. If that is not `report[SLOW]`, then `report[ERROR]` says what must grow
    (the region or the field of component `report[ERROR_VALUE]`, or the directory) before going on.
    """
    components = interner.start.shape[0]
    heap = interner.heap
    directory = interner.directory
    wrap = directory.shape[0] - 1
    emissions = report[EMITTED]
    report[ERROR] = 0
    used = np.int64(0)
    for p in range(components):
        used += interner.known[p]
    while next_slow < report[SLOW]:
        begin = next_slow * width
        for q in range(words):
            emitted[emissions, q] = ZERO
        h = ZERO
        for p in range(components):
            at = begin + interner.start[p]
            span = interner.words[p]
            part = content_hash(flat, at, p, span, interner.tail[p])
            base = interner.base[p]
            number = find(
                directory, heap, flat, at, p, part, span - 1, interner.tail[p], base, interner.stride[p]
            )
            if number == 0:
                number = interner.known[p] + 1
                if number >= interner.capacity[p]:
                    report[ERROR] = GROW_REGION
                elif used >= directory_room:
                    report[ERROR] = GROW_DIRECTORY
                elif np.uint64(number) > layout.mask[p]:
                    report[ERROR] = GROW_LAYOUT
                if report[ERROR] != 0:
                    report[ERROR_VALUE] = p
                    report[EMITTED] = emissions
                    return next_slow
                interner.known[p] = number
                used += 1
                place = interner.base[p] + number * interner.stride[p]
                heap[place] = part
                for j in range(span - 1):
                    heap[place + 1 + j] = load64(flat, at + 8 * j)
                heap[place + span] = load64(flat, at + 8 * (span - 1)) & interner.tail[p]
                slot = np.int64(part & LOW_32) & wrap
                while directory[slot] != ZERO:
                    slot = (slot + 1) & wrap
                directory[slot] = (((part >> S_44) << S_12 | np.uint64(p)) << S_32) | np.uint64(number)
            h ^= part
            emitted[emissions, layout.word[p]] |= np.uint64(number) << layout.shift[p]
        partition = np.int64(h & PARTITION_MASK)
        emitted[emissions, words] = (h & HIGH_32) | slow_meta[next_slow] | np.uint64(partition)
        order[partition, fill[partition]] = emissions
        fill[partition] += 1
        emissions += 1
        next_slow += 1
    report[EMITTED] = emissions
    return next_slow


def insert(
    words: int,
    partition: int,
    chunks: int,
    emitted: U64,
    order: NDArray[np.uint16],
    fill: I64,
    parent_base: I64,
    parent_step: int,
    keys: U64,
    parents: NDArray[np.uint32],
    table: U64,
    table_bits: int,
    room: int,
    cursor: I64,
    fresh: I64,
) -> bool:
    """Insert what the first `chunks` chunks emitted for one partition, in order.

    `cursor` is ⟨chunk, position in its order, states in the partition⟩. Stops when the partition holds `room` states
    and another is to come: then returns False, and is called again with more room.
    """
    down = np.uint64(32 - table_bits) + S_32
    wrap = table.shape[0] - 1
    count = cursor[2]
    position = cursor[1]
    for chunk in range(cursor[0], chunks):
        total = fill[chunk, partition]
        base = parent_base[chunk]
        rows = emitted[chunk]
        listed = order[chunk, partition]
        for ahead in range(position, total + LOOK_AHEAD):
            # Three stages, some successors apart, so that several cache misses are under way at a time.
            if ahead < total:
                meta = rows[listed[ahead], words]
                prefetch(table, np.int64(meta >> down))
            peek = ahead - LOOK_AHEAD + PEEK_AHEAD
            if position <= peek < total:
                meta = rows[listed[peek], words]
                entry = table[np.int64(meta >> down)]
                if (entry ^ meta) >> S_32 == ZERO:
                    prefetch(keys, np.int64((entry & LOW_32) - ONE) * words)
            now = ahead - LOOK_AHEAD
            if now < position:
                continue
            e = np.int64(listed[now])
            meta = rows[e, words]
            tag = meta & HIGH_32
            slot = np.int64(meta >> down)
            found = False
            while True:
                entry = table[slot]
                if entry == ZERO:
                    break
                if entry & HIGH_32 == tag:
                    at = np.int64((entry & LOW_32) - ONE) * words
                    found = True
                    for q in range(words):
                        if keys[at + q] != rows[e, q]:
                            found = False
                            break
                    if found:
                        break
                slot = (slot + 1) & wrap
            if found:
                continue
            if count >= room:
                cursor[0] = chunk
                cursor[1] = now
                cursor[2] = count
                return False
            for q in range(words):
                keys[count * words + q] = rows[e, q]
            if base < 0:
                parents[count] = np.uint32(NO_PARENT)
            else:
                offset = np.int64((meta & LOW_32) >> S_16)
                parents[count] = np.uint32(base + offset * parent_step)
            count += 1
            table[slot] = tag | np.uint64(count)
            fresh[np.int64((meta >> S_4) & np.uint64(0xFFF))] += 1
        position = 0
    cursor[0] = chunks
    cursor[1] = 0
    cursor[2] = count
    return True


def move_table(table: U64, larger: U64, table_bits: int) -> None:
    """Put the entries of `table` into the empty `larger`, of 2**table_bits slots: no key is needed."""
    down = np.uint64(32 - table_bits) + S_32
    wrap = larger.shape[0] - 1
    for i in range(table.shape[0]):
        entry = table[i]
        if entry != ZERO:
            slot = np.int64(entry >> down)
            while larger[slot] != ZERO:
                slot = (slot + 1) & wrap
            larger[slot] = entry


def move_directory(interner: Interner, larger: U64) -> None:
    """Enter every interned component into the empty directory `larger`."""
    wrap = larger.shape[0] - 1
    for p in range(interner.start.shape[0]):
        for number in range(1, interner.known[p] + 1):
            part = interner.heap[interner.base[p] + number * interner.stride[p]]
            slot = np.int64(part & LOW_32) & wrap
            while larger[slot] != ZERO:
                slot = (slot + 1) & wrap
            larger[slot] = (((part >> S_44) << S_12 | np.uint64(p)) << S_32) | np.uint64(number)


def repack(
    old: U64,
    old_layout: Layout,
    old_words: int,
    new: U64,
    new_layout: Layout,
    new_words: int,
    rows: int,
    tail: int,
    ids: U64,
) -> None:
    """Rewrite `rows` keys, each followed by `tail` words to keep, from one layout to another.

    `old` and `new` may be the same memory if the number of words is.
    """
    components = ids.shape[0]
    for row in range(rows):
        at = row * (old_words + tail)
        to = row * (new_words + tail)
        for p in range(components):
            ids[p] = (old[at + old_layout.word[p]] >> old_layout.shift[p]) & old_layout.mask[p]
        for q in range(tail):
            new[to + new_words + q] = old[at + old_words + q]
        for q in range(new_words):
            new[to + q] = ZERO
        for p in range(components):
            new[to + new_layout.word[p]] |= ids[p] << new_layout.shift[p]
