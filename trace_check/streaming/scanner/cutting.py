"""Cutting a line of JSON into fields, and reading those in plain form.

Every loop ends at a newline, with which the buffer ends.
"""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.layout import (
    BASIS,
    FIELD_COUNT,
    HASH,
    KIND_,
    LIST,
    MOST_DIGITS,
    NO,
    NOTHING,
    NUMBER,
    OBJECT,
    OF_FIELDS,
    PRIME,
    START,
    STOP,
    STRING,
    YES,
)
from trace_check.streaming.scanner.names import find


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


def own(at: Any, part: int) -> int:
    """Of the scalar that was read last into the last place."""
    return at[part * FIELD_COUNT + FIELD_COUNT - 1]


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
