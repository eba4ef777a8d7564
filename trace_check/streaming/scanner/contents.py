"""What a line of each kind says besides: its tokens; -1 is something irregular or an error, -2 no room."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.cutting import number_at
from trace_check.streaming.scanner.inside import answers_of, checkpoints_of, names_list, outcomes_of
from trace_check.streaming.scanner.layout import (
    ACCEPTED,
    ANSWER,
    ANSWERS,
    ANY_KIND,
    APPLIED,
    BEGIN,
    CHECKPOINT,
    CHECKPOINTS,
    CHILD,
    COMMITTED,
    COMPLETED,
    COMPUTED,
    CONTINUED,
    CRASHED,
    DECLARED,
    DELIVERY,
    EFFECT,
    ERROR,
    FAILED,
    FIELD_COUNT,
    FIRED,
    FORKED,
    GATE,
    GATE_KIND,
    HASH,
    INDEX,
    KEY,
    KIND_,
    LIST,
    LOADED,
    LOCAL,
    MEMO,
    NEXT,
    NOTHING,
    NULL,
    NUMBER,
    OBJECT,
    OF_REFUSALS,
    OF_STEPS,
    OF_UNITS,
    OPEN,
    OUTCOME,
    OUTCOMES,
    PARENT,
    PARKED,
    PASSED,
    PAUSED,
    PROCESS,
    PURE,
    READ,
    RECORDED,
    REFUSED,
    RESUME_FAILED,
    SECONDS,
    SIGNAL,
    START,
    STATUS,
    STEP,
    STEPS_,
    STOP,
    STRING,
    TRUE,
    UNIT,
    UNSET,
    VALID,
    VALUE,
    WHAT,
)
from trace_check.streaming.scanner.names import find
from trace_check.streaming.scanner.tokens import (
    checked,
    flag_token,
    name_token,
    step_token,
    unit_token,
    value_token,
)


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


def loading_of(buf: Any, at: Any, seen: int, phase: int, tok: Any, n: int) -> int:
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


def computing_of(T: Any, buf: Any, at: Any, tok: Any, n: int, thread: int) -> int:
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


def effect_of(T: Any, buf: Any, at: Any, seen: int, tok: Any, n: int, thread: int) -> int:
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


def recording_of(T: Any, buf: Any, at: Any, tok: Any, n: int, thread: int) -> int:
    x = step_token(T, buf, at, STEP, ANY_KIND)
    if x < 0:
        return -1
    v = value_token(T, buf, at, OUTCOME, thread)
    if v < 0:
        return v
    tok[n] = x
    tok[n + 1] = v
    return n + 2


def answer_of(T: Any, buf: Any, at: Any, seen: int, phase: int, tok: Any, n: int, thread: int) -> int:
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


def passing_of(T: Any, buf: Any, at: Any, seen: int, phase: int, tok: Any, n: int, thread: int) -> int:
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


def crash_of(T: Any, buf: Any, at: Any, seen: int, tok: Any, n: int, thread: int) -> int:
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


def fork_of(T: Any, buf: Any, at: Any, tok: Any, n: int, thread: int) -> int:
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


def reading_of(T: Any, buf: Any, at: Any, inner: Any, tok: Any, n: int, thread: int) -> int:
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
        return loading_of(buf, at, seen, phase, tok, n)
    if kind == COMPUTED:
        return computing_of(T, buf, at, tok, n, thread)
    if kind == FIRED:
        return effect_of(T, buf, at, seen, tok, n, thread)
    if kind == RECORDED:
        return recording_of(T, buf, at, tok, n, thread)
    if kind == MEMO or kind == PARKED:
        x = (
            step_token(T, buf, at, STEP, ANY_KIND)
            if kind == MEMO
            else step_token(T, buf, at, GATE, GATE_KIND)
        )
        tok[n] = x
        return n + 1 if x >= 0 else -1
    if kind == ANSWER:
        return answer_of(T, buf, at, seen, phase, tok, n, thread)
    if kind == PASSED:
        return passing_of(T, buf, at, seen, phase, tok, n, thread)
    if kind == REFUSED:
        return refusal_of(T, buf, at, seen, tok, n, thread)
    if kind == COMMITTED:
        return commit_of(T, buf, at, tok, n, thread)
    if kind == CRASHED:
        return crash_of(T, buf, at, seen, tok, n, thread)
    if kind == PAUSED or kind == CONTINUED:
        if seen >> PROCESS & 1 and not checked(at, PROCESS, 1, 0):
            return -1
        return n if checked(at, SIGNAL, 0, 0) else -1
    if kind == FORKED:
        return fork_of(T, buf, at, tok, n, thread)
    if kind == READ:
        return reading_of(T, buf, at, inner, tok, n, thread)
    if kind == COMPLETED or kind == FAILED:
        v = value_token(T, buf, at, OUTCOME, thread)
        tok[n] = v
        return n + 1 if v >= 0 else v
    if kind == RESUME_FAILED:
        return n if checked(at, ERROR, 0, 0) else -1
    return n if number_at(buf, at, SECONDS) > 0 else -1  # GAVE_UP
