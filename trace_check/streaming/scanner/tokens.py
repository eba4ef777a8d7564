"""From fields to tokens: -1 is something irregular or an error, -2 no room."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.layout import (
    ANY_KIND,
    FALSE,
    FIELD_COUNT,
    HASH,
    KIND_,
    LOCAL,
    NO,
    NOTHING,
    NULL,
    NUMBER,
    OF_STEPS,
    OF_UNITS,
    PRIME,
    START,
    STOP,
    STRING,
    TRUE,
    YES,
)
from trace_check.streaming.scanner.names import find, insert


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
