"""The scanner: from the bytes of lines to a path through the tree of behaviours, one node a thread.

Plain functions over numpy arrays, compiled by `compiling.py`.  A line is taken in three stages: it is cut into fields;
its names are looked up and it is folded to a *letter*; what it changes is written down.  The first two can be
repeated, so that the scanner may stop in the middle of a line to have a table enlarged.

It knows the regular form of the format only: what is irregular, and whatever looks like an error, is left to the
reader, which has the last word.  Hashes say where to look; what is found is compared in full.  The one exception errs
on the safe side: of an operation that has ended only the hash is kept, and an equal hash counts as the same name,
which the reader then judges.

Words used here:

name        what the trace calls an actor, a branch, an answer, ...; within a thread it is replaced by its number of
            first appearance (`LOCAL` and up), which is all that a verdict can depend on.
letter      a line with names replaced, as integers; each different one has a number.
node        what a thread has shown so far: the node before and a letter.
"""

# ruff: noqa: SIM102, SIM109, SIM110  (compiled: loops stay loops, and one comparison is one)
# mypy: disable-error-code="no-untyped-def,no-any-return"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tables", "enter", "rehash_letters", "rehash_names", "rehash_nodes", "rehash_operations", "scan"]

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

# --- what scan returns ---

DONE, SLOW, BAD, GROW, FULL, LONG = 0, 1, 2, 3, 4, 5

# --- counters: places in Tables.meta ---

NAMES, ARENA, THREADS, ACTORS, OPERATIONS, RECORDS, FREE, LETTERS, TOKENS, NODES = range(10)
EVENTS, LINES, POSITION, DYNAMIC, STEPS, HITS, LOCATE, LONGEST = range(10, 18)

# --- scopes of names that are of no thread ---

OF_THREADS, OF_ACTORS, OF_STEPS, OF_UNITS, OF_KINDS, OF_REFUSALS, OF_FIELDS = -1, -2, -3, -4, -5, -6, -7

# --- tokens ---

UNSET, NULL, FALSE, TRUE, LOCAL = 0, 1, 2, 3, 4
MAIN = HARNESS = 1

# --- fields, kinds and refusals, as vocabulary.py numbers them ---

EVENT, SEQ, THREAD, BRANCH, ACTOR, TIME, PHASE, OP, INFERRED = range(9)
CHECKPOINT, INDEX, STEP, OUTCOME, VALID, KEY, APPLIED, GATE, DELIVERY, VALUE, ACCEPTED = range(9, 20)
WHAT, ERROR, UNIT, STEPS_, OUTCOMES, PARENT, NEXT, SIGNAL, STATUS, CHILD, DECLARED = range(20, 31)
CHECKPOINTS, ANSWERS, OPEN, SECONDS, ID, DIGEST, COMPLETE, PROCESS = range(31, 39)

LOADED, COMPUTED, FIRED, RECORDED, MEMO, PARKED, ANSWER, PASSED, REFUSED, COMMITTED = range(10)
CRASHED, PAUSED, CONTINUED, FORKED, READ, COMPLETED, FAILED, RESUME_FAILED, GAVE_UP, INSIDE_READ = range(
    10, 20
)

BEGIN, END = 1, 2  # 0: a line of its own
PURE, EFFECT, GATE_KIND, ANY_KIND = 0, 1, 2, -1

# --- types of what a field holds; of a scalar: places in `at` ---

STRING, NUMBER, NOTHING, NO, YES, LIST, OBJECT = 1, 2, 3, 4, 5, 6, 7
KIND_, START, STOP, HASH = 0, 1, 2, 3
FIELD_COUNT = 64  # places for fields in each of the four parts of `at`

# --- a record of an operation that is open ---

R_ACTOR, R_THREAD, R_BRANCH, R_KIND, R_LETTER, R_NUMBER, R_NEXT, R_HASH = range(8)
R_LENGTH, R_OFFSET = 8, 9
R_CHECKPOINT, R_PARENT, R_WIDTH = 10, 13, 16  # of a name that may be null: its type, length and place
SLAB = 64  # bytes of a name that are kept in the record; longer ones go to the arena

MOST_DIGITS = 4300  # sign included: the reader, which refuses a longer number, is asked about it

BRANCH_KNOWN, BRANCH_MADE = 1, 2

PRIME = 0x100000001B3
BASIS = 0x4BF29CE484222325
MIX = 0x2545F4914F6CDD1D


class Tables(NamedTuple):
    """All that the scanner remembers.

    Attributes:
        meta: counters, by the names above.
        e_slots, e_hash, e_offset, e_length, e_scope, e_id, e_flag, arena: names: a hash table into the others.
        t_node, t_depth, t_names, t_operations: for each thread where it is, its lines, its names and operations so far.
        a_seq, a_t, a_thread, a_number: for each actor its last line, its first thread and its number there.
        o_slots: operations, as a hash table: 0 is empty, an even number the hash of one that has ended, an odd one is
            twice the record of one that is open, plus one.
        r_fields, r_name, r_checkpoint, r_parent: of those that are open, what their end has to agree with.
        l_slots, l_hash, l_offset, l_length, tokens: letters, as a hash table into the others.
        n_slots, n_parent, n_letter: nodes, as a hash table into the others.
        s_kind, s_unit: of each step of the program (from 1) its kind and its unit.
        masks: for each kind the fields that it may have and those that it must have.
        traits, closes: for each kind whether it is one line or two; for each refusal what it may end.
        t_form, t_seen, wanted_at, wanted: to locate events: for each thread its form or -1 and the lines met, and
            for each form where its lines begin in `wanted`.
        hits: the events located: position, line, thread, what was wanted.
    """

    meta: I64
    e_slots: I32
    e_hash: I32
    e_offset: I32
    e_length: I32
    e_scope: I32
    e_id: I32
    e_flag: U8
    arena: U8
    t_node: I32
    t_depth: I32
    t_names: I32
    t_operations: I32
    a_seq: I64
    a_t: I64
    a_thread: I32
    a_number: I32
    o_slots: I64
    r_fields: I64
    r_name: U8
    r_checkpoint: U8
    r_parent: U8
    l_slots: I32
    l_hash: I64
    l_offset: I64
    l_length: I32
    tokens: I32
    n_slots: I32
    n_parent: I32
    n_letter: I32
    s_kind: I32
    s_unit: I32
    masks: I64
    traits: I64
    closes: I64
    t_form: I32
    t_seen: I32
    wanted_at: I64
    wanted: I64
    hits: I64


# --- tables ---


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


def rehash_names(T: Any) -> None:
    mask = T.e_slots.shape[0] - 1
    for j in range(T.meta[NAMES]):
        i = T.e_hash[j] & mask
        while T.e_slots[i] >= 0:
            i = (i + 1) & mask
        T.e_slots[i] = j


def rehash_letters(T: Any) -> None:
    mask = T.l_slots.shape[0] - 1
    for j in range(T.meta[LETTERS]):
        i = T.l_hash[j] & mask
        while T.l_slots[i] >= 0:
            i = (i + 1) & mask
        T.l_slots[i] = j


def node_hash(parent: int, letter: int) -> int:
    return mixed(parent * PRIME + letter * BASIS)


def rehash_nodes(T: Any) -> None:
    mask = T.n_slots.shape[0] - 1
    for j in range(1, T.meta[NODES]):
        i = node_hash(T.n_parent[j], T.n_letter[j]) & mask
        while T.n_slots[i] >= 0:
            i = (i + 1) & mask
        T.n_slots[i] = j


def operation_hash(T: Any, slot: int) -> int:
    """The hash of the operation in a slot."""
    return T.r_fields[(slot >> 1) * R_WIDTH + R_HASH] if slot & 1 else slot


def rehash_operations(T: Any, smaller: Any) -> None:
    """Move the operations of a smaller table here."""
    mask = T.o_slots.shape[0] - 1
    for j in range(smaller.shape[0]):
        if smaller[j] != 0:
            i = (operation_hash(T, smaller[j]) >> 1) & mask
            while T.o_slots[i] != 0:
                i = (i + 1) & mask
            T.o_slots[i] = smaller[j]


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


# --- JSON: every loop ends at a newline, with which the buffer ends ---


def blank(buf: Any, p: int) -> int:
    """Past spaces."""
    while buf[p] == 32 or buf[p] == 9 or buf[p] == 13:
        p += 1
    return p


def string(buf: Any, p: int, at: Any, f: int) -> int:
    """A string without escapes, p being past its quote: past its end, or -1."""
    start = p
    h = BASIS
    while True:
        c = buf[p]
        if c == 34:
            break
        if c == 92 or c < 32:
            return -1
        h = (h ^ c) * PRIME
        p += 1
    at[KIND_ * FIELD_COUNT + f] = STRING
    at[START * FIELD_COUNT + f] = start
    at[STOP * FIELD_COUNT + f] = p
    at[HASH * FIELD_COUNT + f] = h
    return p + 1


def scalar(buf: Any, p: int, at: Any, f: int) -> int:
    """A string, a whole number, true, false or null: past its end, or -1: something else, or not in plain form."""
    c = buf[p]
    if c == 34:
        return string(buf, p + 1, at, f)
    start = p
    kind = NUMBER
    if c == 116:
        if buf[p + 1] != 114 or buf[p + 2] != 117 or buf[p + 3] != 101:
            return -1
        kind = YES
        p += 4
    elif c == 102:
        if buf[p + 1] != 97 or buf[p + 2] != 108 or buf[p + 3] != 115 or buf[p + 4] != 101:
            return -1
        kind = NO
        p += 5
    elif c == 110:
        if buf[p + 1] != 117 or buf[p + 2] != 108 or buf[p + 3] != 108:
            return -1
        kind = NOTHING
        p += 4
    else:
        h = BASIS
        if c == 45:
            h = (h ^ c) * PRIME
            p += 1
            if buf[p] == 48:
                return -1
        if buf[p] == 48 and 48 <= buf[p + 1] <= 57:
            return -1
        if buf[p] < 48 or buf[p] > 57:
            return -1
        while 48 <= buf[p] <= 57:
            h = (h ^ buf[p]) * PRIME
            p += 1
        if buf[p] == 46 or buf[p] == 69 or buf[p] == 101 or p - start > MOST_DIGITS:
            return -1
        at[HASH * FIELD_COUNT + f] = h
    at[KIND_ * FIELD_COUNT + f] = kind
    at[START * FIELD_COUNT + f] = start
    at[STOP * FIELD_COUNT + f] = p
    return p


def nested(buf: Any, p: int) -> int:
    """Past a list or an object, whose inside is looked at later; -1: it does not end in the line, or has escapes."""
    depth = 0
    while True:
        c = buf[p]
        if c == 34:
            p += 1
            while buf[p] != 34:
                if buf[p] == 92 or buf[p] < 32:
                    return -1
                p += 1
        elif c == 91 or c == 123:
            depth += 1
        elif c == 93 or c == 125:
            depth -= 1
            if depth == 0:
                return p + 1
        elif c == 10:
            return -1
        p += 1


def field_at(T: Any, buf: Any, p: int, at: Any) -> int:
    """The field whose quote is at p, and its colon: its number in at[-1]; past both, or -1."""
    if buf[p] != 34:
        return -1
    p = string(buf, p + 1, at, FIELD_COUNT - 1)
    if p < 0:
        return -1
    j = find(T, buf, own(at, START), own(at, STOP), own(at, HASH), OF_FIELDS)
    if j < 0:
        return -1
    at[4 * FIELD_COUNT] = T.e_id[j]
    p = blank(buf, p)
    if buf[p] != 58:
        return -1
    return blank(buf, p + 1)


def own(at: Any, part: int) -> int:
    """Of the scalar that was read last into the last place."""
    return at[part * FIELD_COUNT + FIELD_COUNT - 1]


def cut(T: Any, buf: Any, p: int, at: Any) -> int:
    """Cut an object into its fields: past its end, or -1.  at[4 * FIELD_COUNT + 1] has which there are, as bits."""
    if buf[p] != 123:
        return -1
    p = blank(buf, p + 1)
    seen = 0
    while True:
        p = field_at(T, buf, p, at)
        if p < 0:
            return -1
        f = at[4 * FIELD_COUNT]
        if seen >> f & 1:
            return -1
        seen |= 1 << f
        c = buf[p]
        if c == 91 or c == 123:
            at[KIND_ * FIELD_COUNT + f] = LIST if c == 91 else OBJECT
            at[START * FIELD_COUNT + f] = p
            p = nested(buf, p)
        else:
            p = scalar(buf, p, at, f)
        if p < 0:
            return -1
        p = blank(buf, p)
        c = buf[p]
        if c == 44:
            p = blank(buf, p + 1)
        elif c == 125:
            at[4 * FIELD_COUNT + 1] = seen
            return p + 1
        else:
            return -1


def number_at(buf: Any, at: Any, f: int) -> int:
    """A whole number from 0 of at most 18 digits; -1: it is none."""
    if at[KIND_ * FIELD_COUNT + f] != NUMBER:
        return -1
    start, stop = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f]
    if stop - start > 18 or buf[start] == 45:
        return -1
    found = 0
    for i in range(start, stop):
        found = found * 10 + buf[i] - 48
    return found


# --- from fields to tokens: -1 is something irregular or an error, -2 no room ---


def local(T: Any, buf: Any, start: int, stop: int, h: int, thread: int) -> int:
    """The token of a name or a value within a thread."""
    j = find(T, buf, start, stop, h, thread)
    if j < 0:
        number = T.t_names[thread]
        j = insert(T, buf, start, stop, h, thread, number)
        if j < 0:
            return -2
        T.t_names[thread] = number + 1
    return LOCAL + T.e_id[j]


def name_token(T: Any, buf: Any, at: Any, f: int, thread: int, nullable: int) -> int:
    """The token of a name that is not empty; of null, where it may be that."""
    kind = at[KIND_ * FIELD_COUNT + f]
    if kind == NOTHING and nullable:
        return NULL
    start, stop = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f]
    if kind != STRING or start == stop:
        return -1
    return local(T, buf, start, stop, at[HASH * FIELD_COUNT + f], thread)


def value_token(T: Any, buf: Any, at: Any, f: int, thread: int) -> int:
    """The token of an outcome or an answer: that of its text, quotes included, which tells apart what JSON does."""
    kind = at[KIND_ * FIELD_COUNT + f]
    if kind == NOTHING:
        return NULL
    if kind == NO:
        return FALSE
    if kind == YES:
        return TRUE
    start, stop, h = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f], at[HASH * FIELD_COUNT + f]
    if kind == NUMBER:
        return local(T, buf, start, stop, h, thread)
    if kind == STRING:
        return local(T, buf, start - 1, stop + 1, h * PRIME + 34, thread)
    return -1


def flag_token(at: Any, f: int) -> int:
    kind = at[KIND_ * FIELD_COUNT + f]
    return TRUE if kind == YES else FALSE if kind == NO else -1


def step_token(T: Any, buf: Any, at: Any, f: int, kind: int) -> int:
    """The number of a step of the program, of a kind."""
    start, stop = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f]
    if at[KIND_ * FIELD_COUNT + f] != STRING:
        return -1
    j = find(T, buf, start, stop, at[HASH * FIELD_COUNT + f], OF_STEPS)
    if j < 0:
        return -1
    x = T.e_id[j]
    if kind != ANY_KIND and T.s_kind[x] != kind:
        return -1
    return x


def unit_token(T: Any, buf: Any, at: Any, f: int) -> int:
    if at[KIND_ * FIELD_COUNT + f] != STRING:
        return -1
    j = find(
        T, buf, at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f], at[HASH * FIELD_COUNT + f], OF_UNITS
    )
    return T.e_id[j] if j >= 0 else -1


def checked(at: Any, f: int, nullable: int, may_be_empty: int) -> bool:
    """Is a field that plays no part a string as it should be?"""
    kind = at[KIND_ * FIELD_COUNT + f]
    if kind == NOTHING:
        return nullable != 0
    return kind == STRING and (may_be_empty != 0 or at[STOP * FIELD_COUNT + f] > at[START * FIELD_COUNT + f])


def names_list(T: Any, buf: Any, p: int, at: Any, tok: Any, n: int, scope: int) -> int:
    """A list of steps (`scope`: OF_STEPS), gates (GATE_KIND) or units (OF_UNITS): n with its tokens added, or -1."""
    count_at = n
    n += 1
    if buf[p] != 91:
        return -1
    p = blank(buf, p + 1)
    last = FIELD_COUNT - 1
    if buf[p] != 93:
        while True:
            p = scalar(buf, p, at, last)
            if p < 0 or n + 8 > tok.shape[0]:
                return -1
            if scope == OF_UNITS:
                x = unit_token(T, buf, at, last)
            else:
                x = step_token(T, buf, at, last, GATE_KIND if scope == GATE_KIND else ANY_KIND)
            if x < 0:
                return -1
            tok[n] = x
            n += 1
            p = blank(buf, p)
            if buf[p] == 44:
                p = blank(buf, p + 1)
            elif buf[p] == 93:
                break
            else:
                return -1
    tok[count_at] = n - count_at - 1
    return n


def outcomes_of(T: Any, buf: Any, p: int, at: Any, tok: Any, n: int, thread: int) -> int:
    """An object from steps to values: n with its tokens added, or -1, -2."""
    count_at = n
    n += 1
    if buf[p] != 123:
        return -1
    p = blank(buf, p + 1)
    last = FIELD_COUNT - 1
    if buf[p] != 125:
        while True:
            if buf[p] != 34 or n + 8 > tok.shape[0]:
                return -1
            p = string(buf, p + 1, at, last)
            if p < 0:
                return -1
            x = step_token(T, buf, at, last, ANY_KIND)
            if x < 0:
                return -1
            for k in range(count_at + 1, n, 2):
                if tok[k] == x:
                    return -1
            p = blank(buf, p)
            if buf[p] != 58:
                return -1
            p = scalar(buf, blank(buf, p + 1), at, last)
            if p < 0:
                return -1
            v = value_token(T, buf, at, last, thread)
            if v < 0:
                return v
            tok[n] = x
            tok[n + 1] = v
            n += 2
            p = blank(buf, p)
            if buf[p] == 44:
                p = blank(buf, p + 1)
            elif buf[p] == 125:
                break
            else:
                return -1
    tok[count_at] = (n - count_at - 1) // 2
    return n


def answers_of(T: Any, buf: Any, p: int, at: Any, tok: Any, n: int, thread: int) -> int:
    """An object from gates to lists of values: n with its tokens added, or -1, -2."""
    count_at = n
    n += 1
    gates = 0
    last = FIELD_COUNT - 1
    if buf[p] != 123:
        return -1
    p = blank(buf, p + 1)
    if buf[p] == 125:
        tok[count_at] = 0
        return n
    while True:
        if buf[p] != 34:
            return -1
        p = string(buf, p + 1, at, last)
        if p < 0:
            return -1
        x = step_token(T, buf, at, last, GATE_KIND)
        if x < 0 or n + 8 > tok.shape[0]:
            return -1
        k = count_at + 1
        while k < n:
            if tok[k] == x:
                return -1
            k += 2 + tok[k + 1]
        gates += 1
        p = blank(buf, p)
        if buf[p] != 58:
            return -1
        p = blank(buf, p + 1)
        if buf[p] != 91:
            return -1
        p = blank(buf, p + 1)
        tok[n] = x
        values_at = n + 1
        n += 2
        if buf[p] == 93:
            p += 1
        else:
            while True:
                p = scalar(buf, p, at, last)
                if p < 0 or n + 8 > tok.shape[0]:
                    return -1
                v = value_token(T, buf, at, last, thread)
                if v < 0:
                    return v
                tok[n] = v
                n += 1
                p = blank(buf, p)
                if buf[p] == 44:
                    p = blank(buf, p + 1)
                elif buf[p] == 93:
                    p += 1
                    break
                else:
                    return -1
        tok[values_at] = n - values_at - 1
        p = blank(buf, p)
        if buf[p] == 44:
            p = blank(buf, p + 1)
        elif buf[p] == 125:
            break
        else:
            return -1
    tok[count_at] = gates
    return n


def checkpoints_of(T: Any, buf: Any, p: int, at: Any, inner: Any, tok: Any, n: int, thread: int) -> int:
    """The checkpoints of a reading: n with their tokens added, or -1, -2."""
    count_at = n
    n += 1
    count = 0
    if buf[p] != 91:
        return -1
    p = blank(buf, p + 1)
    if buf[p] != 93:
        while True:
            p = cut(T, buf, p, inner)
            if p < 0 or n + 16 > tok.shape[0]:
                return -1
            seen = inner[4 * FIELD_COUNT + 1]
            if seen & ~T.masks[2 * INSIDE_READ] or T.masks[2 * INSIDE_READ + 1] & ~seen:
                return -1
            if not (
                checked(inner, ID, 0, 0) and checked(inner, PARENT, 1, 0) and checked(inner, DIGEST, 0, 0)
            ):
                return -1
            u = NULL
            if inner[KIND_ * FIELD_COUNT + UNIT] != NOTHING:
                u = unit_token(T, buf, inner, UNIT)
                if u < 0:
                    return -1
                u += LOCAL
            valid, complete = flag_token(inner, VALID), flag_token(inner, COMPLETE)
            if valid < 0 or complete < 0 or inner[KIND_ * FIELD_COUNT + OUTCOMES] != OBJECT:
                return -1
            if inner[KIND_ * FIELD_COUNT + NEXT] != LIST:
                return -1
            tok[n] = u
            tok[n + 1] = valid
            tok[n + 2] = complete
            n = outcomes_of(T, buf, inner[START * FIELD_COUNT + OUTCOMES], inner, tok, n + 3, thread)
            if n < 0:
                return n
            n = names_list(T, buf, inner[START * FIELD_COUNT + NEXT], inner, tok, n, OF_UNITS)
            if n < 0:
                return n
            count += 1
            p = blank(buf, p)
            if buf[p] == 44:
                p = blank(buf, p + 1)
            elif buf[p] == 93:
                break
            else:
                return -1
    tok[count_at] = count
    return n


def commit_of(T: Any, buf: Any, at: Any, tok: Any, n: int, thread: int) -> int:
    """What a commit says: n with its tokens added, or -1, -2."""
    u = unit_token(T, buf, at, UNIT)
    valid = flag_token(at, VALID)
    if u < 0 or valid < 0 or not checked(at, CHECKPOINT, 0, 0) or not checked(at, PARENT, 1, 0):
        return -1
    if at[KIND_ * FIELD_COUNT + STEPS_] != LIST or at[KIND_ * FIELD_COUNT + NEXT] != LIST:
        return -1
    if at[KIND_ * FIELD_COUNT + OUTCOMES] != OBJECT:
        return -1
    tok[n] = u
    tok[n + 1] = valid
    steps_at = n + 2
    n = names_list(T, buf, at[START * FIELD_COUNT + STEPS_], at, tok, steps_at, OF_STEPS)
    if n < 0:
        return n
    for k in range(steps_at + 1, n):
        if T.s_unit[tok[k]] != u:
            return -1
    outcomes_at = n
    n = outcomes_of(T, buf, at[START * FIELD_COUNT + OUTCOMES], at, tok, n, thread)
    if n < 0:
        return n
    for k in range(outcomes_at + 1, n, 2):
        listed = False
        for m in range(steps_at + 1, outcomes_at):
            if tok[m] == tok[k]:
                listed = True
        if not listed:
            return -1
    return names_list(T, buf, at[START * FIELD_COUNT + NEXT], at, tok, n, OF_UNITS)


def refusal_of(T: Any, buf: Any, at: Any, seen: int, tok: Any, n: int, thread: int) -> int:
    """What a refusal says: n with its tokens added, or -1, -2."""
    if at[KIND_ * FIELD_COUNT + WHAT] != STRING:
        return -1
    j = find(
        T,
        buf,
        at[START * FIELD_COUNT + WHAT],
        at[STOP * FIELD_COUNT + WHAT],
        at[HASH * FIELD_COUNT + WHAT],
        OF_REFUSALS,
    )
    if j < 0 or (seen >> ERROR & 1 and not checked(at, ERROR, 1, 1)):
        return -1
    tok[n] = T.e_id[j]
    tok[n + 1] = tok[n + 2] = tok[n + 3] = tok[n + 4] = NULL
    if seen >> GATE & 1 and at[KIND_ * FIELD_COUNT + GATE] != NOTHING:
        x = step_token(T, buf, at, GATE, GATE_KIND)
        if x < 0:
            return -1
        tok[n + 1] = LOCAL + x
    if seen >> STEP & 1 and at[KIND_ * FIELD_COUNT + STEP] != NOTHING:
        x = step_token(T, buf, at, STEP, ANY_KIND)
        if x < 0:
            return -1
        tok[n + 2] = LOCAL + x
    if seen >> UNIT & 1 and at[KIND_ * FIELD_COUNT + UNIT] != NOTHING:
        x = unit_token(T, buf, at, UNIT)
        if x < 0:
            return -1
        tok[n + 3] = LOCAL + x
    if seen >> DELIVERY & 1:
        x = name_token(T, buf, at, DELIVERY, thread, 1)
        if x < 0:
            return x
        tok[n + 4] = x
    return n + 5


def content_of(
    T: Any,
    buf: Any,
    at: Any,
    inner: Any,
    seen: int,
    kind: int,
    phase: int,
    tok: Any,
    n: int,
    thread: int,
) -> int:
    """What a line says besides who, where and when: n with its tokens added, or -1, -2."""
    if kind == LOADED:
        tok[n] = UNSET
        known = seen >> CHECKPOINT & 1 and seen >> INDEX & 1
        if phase == BEGIN:
            return n + 1 if not (seen >> CHECKPOINT & 1 or seen >> INDEX & 1) else -1
        if not known or not checked(at, CHECKPOINT, 1, 0):
            return -1
        index = number_at(buf, at, INDEX)
        if index < 0 or index > 1_000_000_000:
            return -1
        tok[n] = LOCAL + index
        return n + 1
    if kind == COMPUTED:
        x = step_token(T, buf, at, STEP, PURE)
        valid = flag_token(at, VALID)
        if x < 0 or valid < 0:
            return -1
        v = value_token(T, buf, at, OUTCOME, thread)
        if v < 0:
            return v
        tok[n] = x
        tok[n + 1] = v
        tok[n + 2] = valid
        return n + 3
    if kind == FIRED:
        x = step_token(T, buf, at, STEP, EFFECT)
        applied = flag_token(at, APPLIED)
        valid = flag_token(at, VALID) if seen >> VALID & 1 else TRUE
        if x < 0 or applied < 0 or valid < 0 or not checked(at, KEY, 0, 1):
            return -1
        v = NULL
        if seen >> OUTCOME & 1:
            v = value_token(T, buf, at, OUTCOME, thread)
            if v < 0:
                return v
        tok[n] = x
        tok[n + 1] = v
        tok[n + 2] = valid
        tok[n + 3] = applied
        return n + 4
    if kind == RECORDED:
        x = step_token(T, buf, at, STEP, ANY_KIND)
        if x < 0:
            return -1
        v = value_token(T, buf, at, OUTCOME, thread)
        if v < 0:
            return v
        tok[n] = x
        tok[n + 1] = v
        return n + 2
    if kind == MEMO or kind == PARKED:
        x = (
            step_token(T, buf, at, STEP, ANY_KIND)
            if kind == MEMO
            else step_token(T, buf, at, GATE, GATE_KIND)
        )
        tok[n] = x
        return n + 1 if x >= 0 else -1
    if kind == ANSWER:
        x = step_token(T, buf, at, GATE, GATE_KIND)
        if x < 0 or (seen >> ACCEPTED & 1) != (phase != BEGIN):
            return -1
        accepted = flag_token(at, ACCEPTED) if phase != BEGIN else UNSET
        if accepted < 0:
            return -1
        d = name_token(T, buf, at, DELIVERY, thread, 0)
        if d < 0:
            return d
        v = value_token(T, buf, at, VALUE, thread)
        if v < 0:
            return v
        tok[n] = x
        tok[n + 1] = d
        tok[n + 2] = v
        tok[n + 3] = accepted
        return n + 4
    if kind == PASSED:
        x = step_token(T, buf, at, GATE, GATE_KIND)
        if x < 0 or (seen >> VALUE & 1) != (phase != BEGIN):
            return -1
        v = UNSET
        if phase != BEGIN:
            v = value_token(T, buf, at, VALUE, thread)
            if v < 0:
                return v
        tok[n] = x
        tok[n + 1] = v
        return n + 2
    if kind == REFUSED:
        return refusal_of(T, buf, at, seen, tok, n, thread)
    if kind == COMMITTED:
        return commit_of(T, buf, at, tok, n, thread)
    if kind == CRASHED:
        tok[n] = tok[n + 1] = NULL
        if seen >> SIGNAL & 1:
            x = name_token(T, buf, at, SIGNAL, thread, 1)
            if x < 0:
                return x
            tok[n] = x
        if seen >> STATUS & 1 and at[KIND_ * FIELD_COUNT + STATUS] != NOTHING:
            if at[KIND_ * FIELD_COUNT + STATUS] != NUMBER:
                return -1
            x = value_token(T, buf, at, STATUS, thread)
            if x < 0:
                return x
            tok[n + 1] = x
        return n + 2
    if kind == PAUSED or kind == CONTINUED:
        if seen >> PROCESS & 1 and not checked(at, PROCESS, 1, 0):
            return -1
        return n if checked(at, SIGNAL, 0, 0) else -1
    if kind == FORKED:
        declared = flag_token(at, DECLARED)
        index = number_at(buf, at, INDEX)
        if declared < 0 or index < 0 or index > 1_000_000_000 or not checked(at, CHECKPOINT, 1, 0):
            return -1
        x = name_token(T, buf, at, CHILD, thread, 0)
        if x < 0:
            return x
        tok[n] = index
        tok[n + 1] = x
        tok[n + 2] = declared
        return n + 3
    if kind == READ:
        if at[KIND_ * FIELD_COUNT + CHECKPOINTS] != LIST or at[KIND_ * FIELD_COUNT + OPEN] != LIST:
            return -1
        if at[KIND_ * FIELD_COUNT + ANSWERS] != OBJECT:
            return -1
        n = checkpoints_of(T, buf, at[START * FIELD_COUNT + CHECKPOINTS], at, inner, tok, n, thread)
        if n < 0:
            return n
        n = answers_of(T, buf, at[START * FIELD_COUNT + ANSWERS], at, tok, n, thread)
        if n < 0:
            return n
        return names_list(T, buf, at[START * FIELD_COUNT + OPEN], at, tok, n, GATE_KIND)
    if kind == COMPLETED or kind == FAILED:
        v = value_token(T, buf, at, OUTCOME, thread)
        tok[n] = v
        return n + 1 if v >= 0 else v
    if kind == RESUME_FAILED:
        return n if checked(at, ERROR, 0, 0) else -1
    return n if number_at(buf, at, SECONDS) > 0 else -1  # GAVE_UP


# --- operations ---


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


def may_end(T: Any, fields: Any, kind: int, tok: Any, n: int, who: Any) -> bool:
    """Does the end of an operation agree with its begin?"""
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


# --- lines ---


def locate(T: Any, buf: Any, at: Any) -> int:
    """Count a line of its thread, and write down where it is if that is wanted."""
    j = find(
        T,
        buf,
        at[START * FIELD_COUNT + THREAD],
        at[STOP * FIELD_COUNT + THREAD],
        at[HASH * FIELD_COUNT + THREAD],
        OF_THREADS,
    )
    if j < 0:
        return BAD
    thread = T.e_id[j]
    form = T.t_form[thread]
    wanted = 0
    if form >= 0:
        wanted = T.wanted[T.wanted_at[form] + T.t_seen[thread]]
    if wanted:
        k = T.meta[HITS]
        if k >= T.hits.shape[0]:
            return FULL
        T.hits[k, 0] = T.meta[EVENTS] + 1
        T.hits[k, 1] = T.meta[LINES] + 1
        T.hits[k, 2] = thread
        T.hits[k, 3] = wanted
        T.meta[HITS] = k + 1
    T.t_seen[thread] += 1
    T.meta[EVENTS] += 1
    return DONE


def take(T: Any, buf: Any, at: Any, inner: Any, tok: Any, who: Any) -> int:
    """Take a line that was cut: DONE, or why not."""
    seen = at[4 * FIELD_COUNT + 1]
    if not seen >> EVENT & 1 or at[KIND_ * FIELD_COUNT + EVENT] != STRING:
        return SLOW
    j = find(
        T,
        buf,
        at[START * FIELD_COUNT + EVENT],
        at[STOP * FIELD_COUNT + EVENT],
        at[HASH * FIELD_COUNT + EVENT],
        OF_KINDS,
    )
    if j < 0:
        return SLOW
    kind = T.e_id[j]
    if seen & ~T.masks[2 * kind] or T.masks[2 * kind + 1] & ~seen:
        return SLOW
    if T.meta[LOCATE]:
        return locate(T, buf, at)
    if not (checked(at, THREAD, 0, 0) and checked(at, BRANCH, 0, 0) and checked(at, ACTOR, 0, 0)):
        return SLOW
    if seen >> INFERRED & 1 and flag_token(at, INFERRED) < 0:
        return SLOW
    seq, t = number_at(buf, at, SEQ), number_at(buf, at, TIME)
    if seq < 1 or t < 0:
        return SLOW

    # the bracket
    phase = 0
    has_phase, has_op = seen >> PHASE & 1, seen >> OP & 1
    if has_phase != has_op:
        return SLOW
    if has_phase:
        start, stop = at[START * FIELD_COUNT + PHASE], at[STOP * FIELD_COUNT + PHASE]
        if at[KIND_ * FIELD_COUNT + PHASE] != STRING or not checked(at, OP, 0, 0):
            return SLOW
        if stop - start == 5 and buf[start] == 98 and buf[start + 1] == 101 and buf[start + 2] == 103:
            if buf[start + 3] != 105 or buf[start + 4] != 110:
                return SLOW
            phase = BEGIN
        elif stop - start == 3 and buf[start] == 101 and buf[start + 1] == 110 and buf[start + 2] == 100:
            phase = END
        else:
            return SLOW
        if T.traits[kind] == 2:
            return BAD
    elif T.traits[kind] == 1:
        return BAD

    # who and where
    start, stop = at[START * FIELD_COUNT + THREAD], at[STOP * FIELD_COUNT + THREAD]
    h = at[HASH * FIELD_COUNT + THREAD]
    j = find(T, buf, start, stop, h, OF_THREADS)
    if j < 0:
        thread = T.meta[THREADS]
        if thread >= T.t_node.shape[0] or insert(T, buf, start, stop, h, OF_THREADS, thread) < 0:
            return GROW
        T.meta[THREADS] = thread + 1
        T.t_node[thread] = T.t_depth[thread] = T.t_names[thread] = T.t_operations[thread] = 0
    else:
        thread = T.e_id[j]
    if T.t_depth[thread] >= T.meta[LONGEST]:
        return LONG
    start, stop = at[START * FIELD_COUNT + ACTOR], at[STOP * FIELD_COUNT + ACTOR]
    h = at[HASH * FIELD_COUNT + ACTOR]
    j = find(T, buf, start, stop, h, OF_ACTORS)
    if j < 0:
        actor = T.meta[ACTORS]
        if actor >= T.a_seq.shape[0] or insert(T, buf, start, stop, h, OF_ACTORS, actor) < 0:
            return GROW
        T.meta[ACTORS] = actor + 1
        T.a_seq[actor] = T.a_t[actor] = 0
        T.a_thread[actor] = -1
    else:
        actor = T.e_id[j]
    if seq != T.a_seq[actor] + 1 or t < T.a_t[actor]:
        return BAD
    if actor == 0:
        actor_token = HARNESS
    elif T.a_thread[actor] == thread:
        actor_token = LOCAL + T.a_number[actor]
    elif T.a_thread[actor] < 0:
        T.a_thread[actor] = thread
        T.a_number[actor] = T.t_names[thread]
        T.t_names[thread] += 1
        actor_token = LOCAL + T.a_number[actor]
    else:
        # An actor of several threads has a number in each.
        actor_token = local(T, buf, start, stop, h, thread)
        if actor_token < 0:
            return GROW
    start, stop = at[START * FIELD_COUNT + BRANCH], at[STOP * FIELD_COUNT + BRANCH]
    branch_token = MAIN
    if not (
        stop - start == 4
        and buf[start] == 109
        and buf[start + 1] == 97
        and buf[start + 2] == 105
        and buf[start + 3] == 110
    ):
        j = find(T, buf, start, stop, at[HASH * FIELD_COUNT + BRANCH], thread)
        if j < 0 or not T.e_flag[j] & BRANCH_KNOWN:
            return BAD
        branch_token = LOCAL + T.e_id[j]

    # what
    n = content_of(T, buf, at, inner, seen, kind, phase, tok, 4, thread)
    if n < 0:
        return GROW if n == -2 else SLOW
    child = -1
    if kind == FORKED:
        start, stop = at[START * FIELD_COUNT + CHILD], at[STOP * FIELD_COUNT + CHILD]
        if stop - start == 4 and buf[start] == 109 and buf[start + 1] == 97 and buf[start + 2] == 105:
            if buf[start + 3] == 110:
                return BAD
        child = find(T, buf, start, stop, at[HASH * FIELD_COUNT + CHILD], thread)
        if phase != BEGIN and T.e_flag[child] & BRANCH_MADE:
            return BAD

    # its operation
    slot = record = -1
    operation = UNSET
    if phase:
        start, stop = at[START * FIELD_COUNT + OP], at[STOP * FIELD_COUNT + OP]
        h = mixed(at[HASH * FIELD_COUNT + OP]) & ~1
        if h == 0:
            h = 2
        slot = slot_of(T, h)
        if phase == BEGIN:
            if T.o_slots[slot] != 0:
                return BAD
            operation = LOCAL + T.t_operations[thread]
            record = T.meta[FREE]
            if record < 0 and T.meta[RECORDS] * R_WIDTH >= T.r_fields.shape[0]:
                return GROW
            if 5 * T.meta[OPERATIONS] >= 4 * T.o_slots.shape[0]:
                return GROW
        else:
            if not T.o_slots[slot] & 1:
                return BAD
            record = T.o_slots[slot] >> 1
            fields = T.r_fields[record * R_WIDTH : record * R_WIDTH + R_WIDTH]
            if not kept(T, T.r_name, record, fields[R_LENGTH], fields[R_OFFSET], buf, start, stop):
                return BAD
            who[0], who[1], who[2] = actor, thread, branch_token
            if not may_end(T, fields, kind, tok, n, who):
                return BAD
            if kind == COMMITTED or kind == FORKED:
                if not same_name(T, T.r_checkpoint, record, fields, R_CHECKPOINT, buf, at, CHECKPOINT):
                    return BAD
            if kind == COMMITTED and not same_name(T, T.r_parent, record, fields, R_PARENT, buf, at, PARENT):
                return BAD
            operation = fields[R_NUMBER]
    tok[0] = kind | phase << 8
    tok[1] = actor_token
    tok[2] = branch_token
    tok[3] = operation
    letter = letter_of(T, tok, n)
    if letter < 0:
        return GROW
    node = child_of(T, T.t_node[thread], letter)
    if node < 0:
        return GROW

    # From here on the line is taken.
    if phase == BEGIN:
        if not begin(T, buf, at, slot, h, kind, letter, operation, actor, thread, branch_token):
            return GROW
        T.t_operations[thread] += 1
    elif phase == END:
        T.o_slots[slot] = T.r_fields[record * R_WIDTH + R_HASH]
        T.r_fields[record * R_WIDTH + R_NEXT] = T.meta[FREE]
        T.meta[FREE] = record
    if child >= 0:
        T.e_flag[child] |= BRANCH_KNOWN if phase == BEGIN else BRANCH_KNOWN | BRANCH_MADE
    T.a_seq[actor] = seq
    T.a_t[actor] = t
    T.t_node[thread] = node
    T.t_depth[thread] += 1
    T.meta[EVENTS] += 1
    return DONE


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


def scan(buf: Any, start: int, stop: int, T: Any, at: Any, inner: Any, tok: Any, who: Any) -> int:
    """Take the lines of buf[start:stop], which ends with a newline.

    Returns DONE, or why the line at meta[POSITION] was not taken: SLOW (it is irregular), BAD (it looks like an error),
    GROW (a table is full), FULL (`hits` is), LONG (its thread has too many lines).  meta[LINES] counts those that were.
    """
    p = start
    while p < stop:
        T.meta[POSITION] = p
        q = blank(buf, p)
        if buf[q] != 10:
            q = cut(T, buf, q, at)
            if q < 0:
                return SLOW
            q = blank(buf, q)
            if buf[q] != 10:
                return SLOW
            status = take(T, buf, at, inner, tok, who)
            if status != DONE:
                return status
        T.meta[LINES] += 1
        p = q + 1
    T.meta[POSITION] = p
    return DONE


def enter(T: Any, text: Any, scope: int, number: int) -> int:
    """A new entry for a name that is given; -1: there is no room."""
    h = BASIS
    for i in range(text.shape[0]):
        h = (h ^ text[i]) * PRIME
    return insert(T, text, 0, text.shape[0], h, scope, number)
