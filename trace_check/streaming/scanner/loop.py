"""The loop over the lines of a block, which Python calls."""

from __future__ import annotations

from typing import Any

from trace_check.streaming.scanner.cutting import blank, cut
from trace_check.streaming.scanner.layout import DONE, LINES, POSITION, SLOW
from trace_check.streaming.scanner.taking import take


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
