"""Taking a line that was cut: its rules checked, its thread moved on in the tree of behaviours."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.behaviours import child_of, letter_of
from trace_check.streaming.scanner.contents import content_of
from trace_check.streaming.scanner.cutting import number_at
from trace_check.streaming.scanner.heads import (
    actor_of,
    actor_token,
    branch_token,
    child_branch,
    kind_of,
    phase_of,
    thread_of,
)
from trace_check.streaming.scanner.layout import (
    ACTOR,
    BAD,
    BEGIN,
    BRANCH,
    BRANCH_KNOWN,
    BRANCH_MADE,
    DONE,
    END,
    EVENTS,
    FIELD_COUNT,
    FORKED,
    FULL,
    GROW,
    HASH,
    HITS,
    INFERRED,
    LINES,
    LOCAL,
    LOCATE,
    LONG,
    LONGEST,
    OF_THREADS,
    R_NUMBER,
    R_WIDTH,
    SEQ,
    SLOW,
    START,
    STOP,
    THREAD,
    TIME,
    UNSET,
)
from trace_check.streaming.scanner.names import find
from trace_check.streaming.scanner.operations import begin, end, has_room, hash_of, may_end, slot_of
from trace_check.streaming.scanner.tokens import checked, flag_token


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
    kind = kind_of(T, buf, at, seen)
    if kind < 0:
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
    phase = phase_of(T, buf, at, seen, kind)
    if phase < 0:
        return -phase

    # who and where
    thread = thread_of(T, buf, at)
    if thread < 0:
        return GROW
    if T.t_depth[thread] >= T.meta[LONGEST]:
        return LONG
    actor = actor_of(T, buf, at)
    if actor < 0:
        return GROW
    if seq != T.a_seq[actor] + 1 or t < T.a_t[actor]:
        return BAD
    by = actor_token(T, buf, at, actor, thread)
    if by < 0:
        return GROW
    branch = branch_token(T, buf, at, thread)
    if branch < 0:
        return BAD

    # what
    n = content_of(T, buf, at, inner, seen, kind, phase, tok, 4, thread)
    if n < 0:
        return GROW if n == -2 else SLOW
    child = -1
    if kind == FORKED:
        child = child_branch(T, buf, at, phase, thread)
        if child < 0:
            return BAD

    # its operation
    slot = record = -1
    h = 0
    operation = UNSET
    if phase:
        h = hash_of(at)
        slot = slot_of(T, h)
        if phase == BEGIN:
            if T.o_slots[slot] != 0:
                return BAD
            operation = LOCAL + T.t_operations[thread]
            if not has_room(T):
                return GROW
        else:
            if not T.o_slots[slot] & 1:
                return BAD
            record = T.o_slots[slot] >> 1
            who[0], who[1], who[2] = actor, thread, branch
            if not may_end(T, buf, at, record, kind, tok, n, who):
                return BAD
            operation = T.r_fields[record * R_WIDTH + R_NUMBER]
    tok[0] = kind | phase << 8
    tok[1] = by
    tok[2] = branch
    tok[3] = operation
    letter = letter_of(T, tok, n)
    if letter < 0:
        return GROW
    node = child_of(T, T.t_node[thread], letter)
    if node < 0:
        return GROW

    # From here on the line is taken.
    if phase == BEGIN:
        if not begin(T, buf, at, slot, h, kind, letter, operation, actor, thread, branch):
            return GROW
        T.t_operations[thread] += 1
    elif phase == END:
        end(T, slot, record)
    if child >= 0:
        T.e_flag[child] |= BRANCH_KNOWN if phase == BEGIN else BRANCH_KNOWN | BRANCH_MADE
    T.a_seq[actor] = seq
    T.a_t[actor] = t
    T.t_node[thread] = node
    T.t_depth[thread] += 1
    T.meta[EVENTS] += 1
    return DONE
