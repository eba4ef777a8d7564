"""Operations: those that are open, with what their end has to agree with, and the hashes of those that have ended."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.layout import (
    ANSWER,
    ARENA,
    CHECKPOINT,
    COMMITTED,
    FIELD_COUNT,
    FORKED,
    FREE,
    HASH,
    KIND_,
    LOADED,
    LOCAL,
    NOTHING,
    NULL,
    OP,
    OPERATIONS,
    PARENT,
    PASSED,
    R_ACTOR,
    R_BRANCH,
    R_CHECKPOINT,
    R_HASH,
    R_KIND,
    R_LENGTH,
    R_LETTER,
    R_NEXT,
    R_NUMBER,
    R_OFFSET,
    R_PARENT,
    R_THREAD,
    R_WIDTH,
    RECORDED,
    RECORDS,
    REFUSED,
    SLAB,
    START,
    STOP,
    STRING,
)
from trace_check.streaming.scanner.names import mixed, same


def operation_hash(T: Any, slot: int) -> int:
    """The hash of the operation in a slot."""
    return T.r_fields[(slot >> 1) * R_WIDTH + R_HASH] if slot & 1 else slot


def rehash_operations(T: Any, half: int, first: Any) -> None:
    """Spread the operations in the lower half of the table over all of it.

    `first` are those that stood before the first free place and were taken out: no one after them belongs before it.
    So each of the others moves down, to the upper half or not at all, and never behind one that has still to move.
    """
    for j in range(half):
        held = T.o_slots[j]
        if held != 0:
            T.o_slots[j] = 0
            place_operation(T, held)
    for j in range(first.shape[0]):
        place_operation(T, first[j])


def place_operation(T: Any, held: int) -> None:
    """Put what a slot held where it is found."""
    mask = T.o_slots.shape[0] - 1
    i = (operation_hash(T, held) >> 1) & mask
    while T.o_slots[i] != 0:
        i = (i + 1) & mask
    T.o_slots[i] = held


def hash_of(at: Any) -> int:
    """The hash of a line's operation: even, not 0."""
    h = mixed(at[HASH * FIELD_COUNT + OP]) & ~1
    return h if h != 0 else 2


def slot_of(T: Any, h: int) -> int:
    """Where the operation of a hash (even, not 0) is, or would be."""
    mask = T.o_slots.shape[0] - 1
    i = (h >> 1) & mask
    while T.o_slots[i] != 0 and operation_hash(T, T.o_slots[i]) != h:
        i = (i + 1) & mask
    return i


def kept(T: Any, slab: Any, record: int, length: int, offset: int, buf: Any, start: int, stop: int) -> bool:
    """Is the name that was kept the one in the buffer?"""
    if length != stop - start:
        return False
    if offset >= 0:
        return same(T, offset, buf, start, length)
    for i in range(length):
        if slab[record * SLAB + i] != buf[start + i]:
            return False
    return True


def keep(T: Any, slab: Any, record: int, buf: Any, start: int, stop: int) -> int:
    """Keep a name: -1 (it is in the slab), its place in the arena, or -2 (no room)."""
    length = stop - start
    if length <= SLAB:
        for i in range(length):
            slab[record * SLAB + i] = buf[start + i]
        return -1
    offset = T.meta[ARENA]
    if offset + length > T.arena.shape[0]:
        return -2
    for i in range(length):
        T.arena[offset + i] = buf[start + i]
    T.meta[ARENA] = offset + length
    return offset


def same_name(T: Any, slab: Any, record: int, fields: Any, place: int, buf: Any, at: Any, f: int) -> bool:
    """Is a name that may be null the one that was kept?"""
    if fields[place] != at[KIND_ * FIELD_COUNT + f]:
        return False
    if fields[place] == NOTHING:
        return True
    start, stop = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f]
    return kept(T, slab, record, fields[place + 1], fields[place + 2], buf, start, stop)


def keep_name(T: Any, slab: Any, record: int, fields: Any, place: int, buf: Any, at: Any, f: int) -> bool:
    """Keep a name that may be null; False: there is no room."""
    fields[place] = at[KIND_ * FIELD_COUNT + f]
    if fields[place] == STRING:
        start, stop = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f]
        fields[place + 1] = stop - start
        fields[place + 2] = keep(T, slab, record, buf, start, stop)
        return fields[place + 2] != -2
    return True


def begin(
    T: Any,
    buf: Any,
    at: Any,
    slot: int,
    h: int,
    kind: int,
    letter: int,
    operation: int,
    actor: int,
    thread: int,
    branch: int,
) -> bool:
    """Write down an operation that begins; False: there is no room for its names."""
    record = T.meta[FREE]
    new = record < 0
    if new:
        record = T.meta[RECORDS]
    fields = T.r_fields[record * R_WIDTH : record * R_WIDTH + R_WIDTH]
    following = fields[R_NEXT]
    start, stop = at[START * FIELD_COUNT + OP], at[STOP * FIELD_COUNT + OP]
    offset = keep(T, T.r_name, record, buf, start, stop)
    if offset == -2:
        return False
    fields[R_LENGTH] = stop - start
    fields[R_OFFSET] = offset
    if kind == COMMITTED or kind == FORKED:
        if not keep_name(T, T.r_checkpoint, record, fields, R_CHECKPOINT, buf, at, CHECKPOINT):
            return False
    if kind == COMMITTED:
        if not keep_name(T, T.r_parent, record, fields, R_PARENT, buf, at, PARENT):
            return False
    fields[R_ACTOR] = actor
    fields[R_THREAD] = thread
    fields[R_BRANCH] = branch
    fields[R_KIND] = kind
    fields[R_LETTER] = letter
    fields[R_NUMBER] = operation
    if new:
        T.meta[RECORDS] = record + 1
    else:
        T.meta[FREE] = following
    fields[R_HASH] = h
    T.o_slots[slot] = 2 * record + 1
    T.meta[OPERATIONS] += 1
    return True


def has_room(T: Any) -> bool:
    """Is there room for one operation more?"""
    if T.meta[FREE] < 0 and T.meta[RECORDS] * R_WIDTH >= T.r_fields.shape[0]:
        return False
    return 5 * T.meta[OPERATIONS] < 4 * T.o_slots.shape[0]


def end(T: Any, slot: int, record: int) -> None:
    """Of an operation that ends keep the hash only."""
    T.o_slots[slot] = T.r_fields[record * R_WIDTH + R_HASH]
    T.r_fields[record * R_WIDTH + R_NEXT] = T.meta[FREE]
    T.meta[FREE] = record


def may_end(T: Any, buf: Any, at: Any, record: int, kind: int, tok: Any, n: int, who: Any) -> bool:
    """Does the end of an operation agree with its begin?"""
    fields = T.r_fields[record * R_WIDTH : record * R_WIDTH + R_WIDTH]
    start, stop = at[START * FIELD_COUNT + OP], at[STOP * FIELD_COUNT + OP]
    if not kept(T, T.r_name, record, fields[R_LENGTH], fields[R_OFFSET], buf, start, stop):
        return False
    if not tokens_agree(T, fields, kind, tok, n, who):
        return False
    if kind == COMMITTED or kind == FORKED:
        if not same_name(T, T.r_checkpoint, record, fields, R_CHECKPOINT, buf, at, CHECKPOINT):
            return False
    return kind != COMMITTED or same_name(T, T.r_parent, record, fields, R_PARENT, buf, at, PARENT)


def tokens_agree(T: Any, fields: Any, kind: int, tok: Any, n: int, who: Any) -> bool:
    """The same, of what both have as tokens."""
    opened = fields[R_KIND]
    if kind == REFUSED:
        if not T.closes[tok[4]] >> opened & 1:
            return False
    elif opened != kind:
        return False
    if fields[R_ACTOR] != who[0] or fields[R_THREAD] != who[1]:
        return False
    if fields[R_BRANCH] != who[2] and kind != LOADED:
        return False
    letter = fields[R_LETTER]
    offset = T.l_offset[letter]
    if kind == REFUSED:
        return may_refuse(T, opened, offset, tok)
    if kind == LOADED:
        return True  # its begin says nothing
    if T.l_length[letter] != n:
        return False
    if kind == ANSWER or kind == PASSED:
        n -= 1  # the last is known at the end only
    for k in range(4, n):
        if T.tokens[offset + k] != tok[k]:
            return False
    return True


def may_refuse(T: Any, opened: int, offset: int, tok: Any) -> bool:
    """Does a refusal agree with the begin of what was refused, where both name something?"""
    if opened == LOADED:
        return True
    first = T.tokens[offset + 4]
    if opened == REFUSED:
        if first != tok[4]:
            return False
        for k in range(5, 9):
            if T.tokens[offset + k] != NULL and tok[k] != NULL and T.tokens[offset + k] != tok[k]:
                return False
        return True
    gate, step, unit, delivery = tok[5], tok[6], tok[7], tok[8]
    if opened == RECORDED:
        return step == NULL or step == LOCAL + first
    if opened == COMMITTED:
        count = T.tokens[offset + 6]
        among = step == NULL or count == 0
        for k in range(count):
            if step == LOCAL + T.tokens[offset + 7 + k]:
                among = True
        return among and (unit == NULL or unit == LOCAL + first)
    if opened == ANSWER and delivery != NULL and delivery != T.tokens[offset + 5]:
        return False
    return gate == NULL or gate == LOCAL + first
