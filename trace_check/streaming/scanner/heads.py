"""What every line says: its kind and bracket, its thread, actor and branch."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.layout import (
    ACTOR,
    ACTORS,
    BAD,
    BEGIN,
    BRANCH,
    BRANCH_KNOWN,
    BRANCH_MADE,
    CHILD,
    END,
    EVENT,
    FIELD_COUNT,
    HARNESS,
    HASH,
    KIND_,
    LOCAL,
    MAIN,
    OF_ACTORS,
    OF_KINDS,
    OF_THREADS,
    OP,
    PHASE,
    SLOW,
    START,
    STOP,
    STRING,
    THREAD,
    THREADS,
)
from trace_check.streaming.scanner.names import find, insert
from trace_check.streaming.scanner.tokens import checked, local


def is_main(buf: Any, at: Any, f: int) -> bool:
    """Is a name that of the branch with which a thread begins?"""
    start, stop = at[START * FIELD_COUNT + f], at[STOP * FIELD_COUNT + f]
    return (
        stop - start == 4
        and buf[start] == 109
        and buf[start + 1] == 97
        and buf[start + 2] == 105
        and buf[start + 3] == 110
    )


def kind_of(T: Any, buf: Any, at: Any, seen: int) -> int:
    """The kind of a line that has the fields it may and must have; or -1."""
    if not seen >> EVENT & 1 or at[KIND_ * FIELD_COUNT + EVENT] != STRING:
        return -1
    j = find(
        T,
        buf,
        at[START * FIELD_COUNT + EVENT],
        at[STOP * FIELD_COUNT + EVENT],
        at[HASH * FIELD_COUNT + EVENT],
        OF_KINDS,
    )
    if j < 0:
        return -1
    kind = T.e_id[j]
    if seen & ~T.masks[2 * kind] or T.masks[2 * kind + 1] & ~seen:
        return -1
    return kind


def phase_of(T: Any, buf: Any, at: Any, seen: int, kind: int) -> int:
    """The bracket: BEGIN, END or 0; or -SLOW, -BAD."""
    has_phase, has_op = seen >> PHASE & 1, seen >> OP & 1
    if has_phase != has_op:
        return -SLOW
    if not has_phase:
        return 0 if T.traits[kind] != 1 else -BAD
    start, stop = at[START * FIELD_COUNT + PHASE], at[STOP * FIELD_COUNT + PHASE]
    if at[KIND_ * FIELD_COUNT + PHASE] != STRING or not checked(at, OP, 0, 0):
        return -SLOW
    phase = 0
    if stop - start == 5 and buf[start] == 98 and buf[start + 1] == 101 and buf[start + 2] == 103:
        if buf[start + 3] != 105 or buf[start + 4] != 110:
            return -SLOW
        phase = BEGIN
    elif stop - start == 3 and buf[start] == 101 and buf[start + 1] == 110 and buf[start + 2] == 100:
        phase = END
    else:
        return -SLOW
    return phase if T.traits[kind] != 2 else -BAD


def thread_of(T: Any, buf: Any, at: Any) -> int:
    """The number of a line's thread, old or new; -1: there is no room."""
    start, stop = at[START * FIELD_COUNT + THREAD], at[STOP * FIELD_COUNT + THREAD]
    h = at[HASH * FIELD_COUNT + THREAD]
    j = find(T, buf, start, stop, h, OF_THREADS)
    if j >= 0:
        return T.e_id[j]
    thread = T.meta[THREADS]
    if thread >= T.t_node.shape[0] or insert(T, buf, start, stop, h, OF_THREADS, thread) < 0:
        return -1
    T.meta[THREADS] = thread + 1
    T.t_node[thread] = T.t_depth[thread] = T.t_names[thread] = T.t_operations[thread] = 0
    return thread


def actor_of(T: Any, buf: Any, at: Any) -> int:
    """The number of a line's actor, old or new; -1: there is no room."""
    start, stop = at[START * FIELD_COUNT + ACTOR], at[STOP * FIELD_COUNT + ACTOR]
    h = at[HASH * FIELD_COUNT + ACTOR]
    j = find(T, buf, start, stop, h, OF_ACTORS)
    if j >= 0:
        return T.e_id[j]
    actor = T.meta[ACTORS]
    if actor >= T.a_seq.shape[0] or insert(T, buf, start, stop, h, OF_ACTORS, actor) < 0:
        return -1
    T.meta[ACTORS] = actor + 1
    T.a_seq[actor] = T.a_t[actor] = 0
    T.a_thread[actor] = -1
    return actor


def actor_token(T: Any, buf: Any, at: Any, actor: int, thread: int) -> int:
    """The token of an actor in its thread; or -2."""
    if actor == 0:
        return HARNESS
    if T.a_thread[actor] < 0:
        T.a_thread[actor] = thread
        T.a_number[actor] = T.t_names[thread]
        T.t_names[thread] += 1
    if T.a_thread[actor] == thread:
        return LOCAL + T.a_number[actor]
    # An actor of several threads has a number in each.
    start, stop = at[START * FIELD_COUNT + ACTOR], at[STOP * FIELD_COUNT + ACTOR]
    return local(T, buf, start, stop, at[HASH * FIELD_COUNT + ACTOR], thread)


def branch_token(T: Any, buf: Any, at: Any, thread: int) -> int:
    """The token of a line's branch; -1: no line has begun it."""
    if is_main(buf, at, BRANCH):
        return MAIN
    start, stop = at[START * FIELD_COUNT + BRANCH], at[STOP * FIELD_COUNT + BRANCH]
    j = find(T, buf, start, stop, at[HASH * FIELD_COUNT + BRANCH], thread)
    if j < 0 or not T.e_flag[j] & BRANCH_KNOWN:
        return -1
    return LOCAL + T.e_id[j]


def child_branch(T: Any, buf: Any, at: Any, phase: int, thread: int) -> int:
    """The entry of the branch that a fork makes; -1: it is there already."""
    if is_main(buf, at, CHILD):
        return -1
    start, stop = at[START * FIELD_COUNT + CHILD], at[STOP * FIELD_COUNT + CHILD]
    child = find(T, buf, start, stop, at[HASH * FIELD_COUNT + CHILD], thread)
    if phase != BEGIN and T.e_flag[child] & BRANCH_MADE:
        return -1
    return child
