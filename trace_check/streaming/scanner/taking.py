"""Taking a line that was cut: its rules checked, its thread moved on in the tree of behaviours."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.behaviours import child_of, letter_of
from trace_check.streaming.scanner.contents import content_of
from trace_check.streaming.scanner.cutting import number_at
from trace_check.streaming.scanner.layout import (
    ACTOR,
    ACTORS,
    BAD,
    BEGIN,
    BRANCH,
    BRANCH_KNOWN,
    BRANCH_MADE,
    CHECKPOINT,
    CHILD,
    COMMITTED,
    DONE,
    END,
    EVENT,
    EVENTS,
    FIELD_COUNT,
    FORKED,
    FREE,
    FULL,
    GROW,
    HARNESS,
    HASH,
    HITS,
    INFERRED,
    KIND_,
    LINES,
    LOCAL,
    LOCATE,
    LONG,
    LONGEST,
    MAIN,
    OF_ACTORS,
    OF_KINDS,
    OF_THREADS,
    OP,
    OPERATIONS,
    PARENT,
    PHASE,
    R_CHECKPOINT,
    R_HASH,
    R_LENGTH,
    R_NEXT,
    R_NUMBER,
    R_OFFSET,
    R_PARENT,
    R_WIDTH,
    RECORDS,
    SEQ,
    SLOW,
    START,
    STOP,
    STRING,
    THREAD,
    THREADS,
    TIME,
    UNSET,
)
from trace_check.streaming.scanner.names import find, insert, mixed
from trace_check.streaming.scanner.operations import begin, kept, may_end, same_name, slot_of
from trace_check.streaming.scanner.tokens import checked, flag_token, local


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
