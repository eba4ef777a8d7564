"""The lists and objects inside a line: their tokens added to its own; -1 is irregular or an error, -2 no room."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.cutting import blank, cut, scalar, string
from trace_check.streaming.scanner.layout import (
    ANY_KIND,
    COMPLETE,
    DIGEST,
    FIELD_COUNT,
    GATE_KIND,
    ID,
    INSIDE_READ,
    KIND_,
    LIST,
    LOCAL,
    NEXT,
    NOTHING,
    NULL,
    OBJECT,
    OF_UNITS,
    OUTCOMES,
    PARENT,
    START,
    UNIT,
    VALID,
)
from trace_check.streaming.scanner.tokens import checked, flag_token, step_token, unit_token, value_token


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
