"""The numbers of the scanner, and the layout of all that it remembers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
