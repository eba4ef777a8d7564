"""``specs/pluscal/IdempotentReplay.tla`` label by label, as the engine's plain functions; see the comments there.

A record: the overflow code, the globals, the clock's place, then two bytes for each worker.
"""

# Compiled by numba, which infers the types; guards are nested in the order of the PlusCal.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

from pymodel.engine import copy_row

__all__ = ["ACTIONS", "INVARIANTS", "VARIANTS", "Check", "Config", "Next", "Sometimes"]

VARIANTS = ("keyed", "check_then_set", "bare_append")
KEYED, CHECK_THEN_SET, BARE_APPEND = range(3)

# bytes of a record
INTENDED, RECORDED, LEASE, APPLIED, CRASHES, EXPIRIES, CLOCK_PC = range(1, 8)
FIRST_WORKER = 8
OWNS = 1  # after the worker's place
WORKER_BYTES = 2

ACTIONS = ("Acquire", "Look", "Intent", "Execute", "Set", "Record", "Release", "Expire", "Terminating")
ACQUIRE, LOOK, INTENT, EXECUTE, SET, RECORD, RELEASE, EXPIRE, TERMINATING = range(9)
DONE = 9  # a place is the code of the label where a process stands, or this

INVARIANTS = ("TypeOK", "AtMostOnce", "InOrder")


class Config(NamedTuple):
    """The constants, with a variant's index in `VARIANTS`, and how far `Sometimes` counts."""

    W: int
    variant: int
    max_crashes: int
    max_expiries: int
    applied_levels: int


def worker_at(w: int) -> int:
    """Where the bytes of worker w, from 1, begin."""
    return FIRST_WORKER + WORKER_BYTES * (w - 1)


def begin(s, out, labels, n, action, process):
    """Row n becomes a step of a process that has changed nothing yet."""
    copy_row(out, n, s)
    labels[n, 0] = action
    labels[n, 1] = process


def Die(c, s, out, labels, n, action, w):
    if s[CRASHES] < c.max_crashes:
        begin(s, out, labels, n, action, w)
        out[n, CRASHES] = s[CRASHES] + 1
        out[n, worker_at(w)] = ACQUIRE
        out[n, worker_at(w) + OWNS] = 0
        n += 1
    return n


def Acquire(c, s, out, labels, n, w):
    at = worker_at(w)
    if s[RECORDED] or s[LEASE] == 0:
        begin(s, out, labels, n, ACQUIRE, w)
        if s[RECORDED]:
            out[n, at] = DONE
        else:
            out[n, LEASE] = w
            out[n, at + OWNS] = 1
            out[n, at] = LOOK
        n += 1
    return n


def Look(c, s, out, labels, n, w):
    begin(s, out, labels, n, LOOK, w)
    if s[RECORDED]:
        out[n, worker_at(w)] = RELEASE
    elif s[INTENDED]:
        out[n, worker_at(w)] = EXECUTE
    else:
        out[n, worker_at(w)] = INTENT
    return Die(c, s, out, labels, n + 1, LOOK, w)


def Intent(c, s, out, labels, n, w):
    begin(s, out, labels, n, INTENT, w)
    out[n, INTENDED] = 1
    out[n, worker_at(w)] = EXECUTE
    return Die(c, s, out, labels, n + 1, INTENT, w)


def Execute(c, s, out, labels, n, w):
    at = worker_at(w)
    begin(s, out, labels, n, EXECUTE, w)
    if c.variant == CHECK_THEN_SET:
        out[n, at] = SET if s[APPLIED] == 0 else RECORD
    else:
        if c.variant == BARE_APPEND or s[APPLIED] == 0:
            out[n, APPLIED] = s[APPLIED] + 1
        out[n, at] = RECORD
    return Die(c, s, out, labels, n + 1, EXECUTE, w)


def Set(c, s, out, labels, n, w):
    begin(s, out, labels, n, SET, w)
    out[n, APPLIED] = s[APPLIED] + 1
    out[n, worker_at(w)] = RECORD
    return Die(c, s, out, labels, n + 1, SET, w)


def Record(c, s, out, labels, n, w):
    begin(s, out, labels, n, RECORD, w)
    out[n, RECORDED] = 1
    out[n, worker_at(w)] = RELEASE
    return Die(c, s, out, labels, n + 1, RECORD, w)


def Release(c, s, out, labels, n, w):
    begin(s, out, labels, n, RELEASE, w)
    if s[LEASE] == w:
        out[n, LEASE] = 0
    out[n, worker_at(w) + OWNS] = 0
    out[n, worker_at(w)] = DONE
    return Die(c, s, out, labels, n + 1, RELEASE, w)


def Expire(c, s, out, labels, n):
    if s[CLOCK_PC] == EXPIRE:
        clock = c.W + 1
        if s[RECORDED]:
            begin(s, out, labels, n, EXPIRE, clock)
            out[n, CLOCK_PC] = DONE
            n += 1
        elif s[LEASE] != 0:
            alive = s[worker_at(s[LEASE]) + OWNS]
            if not alive or s[EXPIRIES] < c.max_expiries:
                begin(s, out, labels, n, EXPIRE, clock)
                if alive:
                    out[n, EXPIRIES] = s[EXPIRIES] + 1
                out[n, LEASE] = 0
                n += 1
    return n


def all_done(c, s):
    for w in range(1, c.W + 1):
        if s[worker_at(w)] != DONE:
            return False
    return s[CLOCK_PC] == DONE


def Next(c, s, out, labels):
    n = 0
    for w in range(1, c.W + 1):
        place = s[worker_at(w)]
        if place == ACQUIRE:
            n = Acquire(c, s, out, labels, n, w)
        elif place == LOOK:
            n = Look(c, s, out, labels, n, w)
        elif place == INTENT:
            n = Intent(c, s, out, labels, n, w)
        elif place == EXECUTE:
            n = Execute(c, s, out, labels, n, w)
        elif place == SET:
            n = Set(c, s, out, labels, n, w)
        elif place == RECORD:
            n = Record(c, s, out, labels, n, w)
        elif place == RELEASE:
            n = Release(c, s, out, labels, n, w)
    n = Expire(c, s, out, labels, n)
    if all_done(c, s):
        begin(s, out, labels, n, TERMINATING, 0)
        n += 1
    return n


def executing(c, s):
    """How many workers are about to execute."""
    count = 0
    for w in range(1, c.W + 1):
        if s[worker_at(w)] == EXECUTE or s[worker_at(w)] == SET:
            count += 1
    return count


def Check(c, s, t):
    broken = 0
    if s[CRASHES] > c.max_crashes or s[EXPIRIES] > c.max_expiries or s[LEASE] > c.W:
        broken |= 1
    if s[APPLIED] > 1:
        broken |= 2
    if (s[APPLIED] > 0 and not s[INTENDED]) or (s[RECORDED] and s[APPLIED] == 0):
        broken |= 4
    return broken


def Sometimes(c, s):
    seen = 0
    for i in range(c.applied_levels):
        if s[APPLIED] > i:
            seen |= 1 << i
    for i in range(c.W + 1):
        if executing(c, s) > i:
            seen |= 1 << (c.applied_levels + i)
    return seen
