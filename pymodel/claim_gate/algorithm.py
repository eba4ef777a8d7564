"""``specs/pluscal/ClaimGate.tla`` label by label, as the engine's plain functions; the comments there say what it means.

A record: the overflow code, the globals, the two lone processes' places, then three bytes for each racer.
"""

# Compiled by numba, which infers the types; guards are nested in the order of the PlusCal.
# mypy: allow-untyped-defs, allow-untyped-calls
# ruff: noqa: SIM110

from __future__ import annotations

from typing import NamedTuple

from pymodel.engine import copy_row

__all__ = ["ACTIONS", "INVARIANTS", "VARIANTS", "Check", "Config", "Next", "Sometimes"]

VARIANTS = ("absent", "check_then_set", "write_path", "read_path")
ABSENT, CHECK_THEN_SET, WRITE_PATH, READ_PATH = range(4)

# bytes of a record
ANSWERED, CONSUMED, EPOCH, BY, EXPIRED, APPLIED, FIRED, CRASHES, EXPIRIES, PERSON_PC, CLOCK_PC = range(1, 12)
FIRST_RACER = 12
MINE, RIGHT = 1, 2  # after the racer's place
RACER_BYTES = 3

ACTIONS = ("Answer", "Load", "Claim", "Set", "Fire", "Record", "Expire", "Terminating")
ANSWER, LOAD, CLAIM, SET, FIRE, RECORD, EXPIRE, TERMINATING = range(8)
DONE = 8  # a place is the code of the label where a process stands, or this

INVARIANTS = ("TypeOK", "ConsumeOnce", "FiredInBetween")


class Config(NamedTuple):
    """The constants, with a variant's index in `VARIANTS`, and how far `Sometimes` counts."""

    K: int
    variant: int
    take_over: int
    max_crashes: int
    max_expiries: int
    firing_levels: int
    applied_levels: int


def racer_at(r: int) -> int:
    """Where the bytes of racer r, from 1, begin."""
    return FIRST_RACER + RACER_BYTES * (r - 1)


def begin(s, out, labels, n, action, process):
    """Row n becomes a step of a process that has changed nothing yet."""
    copy_row(out, n, s)
    labels[n, 0] = action
    labels[n, 1] = process


def forget(out, n, r, place):
    """The racer goes somewhere with nothing in hand."""
    at = racer_at(r)
    out[n, at] = place
    out[n, at + MINE] = 0
    out[n, at + RIGHT] = 0


def Die(c, s, out, labels, n, action, r):
    if s[CRASHES] < c.max_crashes:
        begin(s, out, labels, n, action, r)
        out[n, CRASHES] = s[CRASHES] + 1
        forget(out, n, r, LOAD)
        n += 1
    return n


def Answer(c, s, out, labels, n):
    if s[PERSON_PC] == ANSWER:
        begin(s, out, labels, n, ANSWER, 0)
        out[n, ANSWERED] = 1
        out[n, PERSON_PC] = DONE
        n += 1
    return n


def Load(c, s, out, labels, n, r):
    at = racer_at(r)
    if s[ANSWERED]:
        begin(s, out, labels, n, LOAD, r)
        if s[CONSUMED]:
            out[n, at] = DONE
        elif c.variant == ABSENT or c.variant == WRITE_PATH:
            out[n, at + RIGHT] = r
            out[n, at] = FIRE
        else:
            out[n, at] = CLAIM
        n += 1
    return n


def Claim(c, s, out, labels, n, r):
    at = racer_at(r)
    if s[EPOCH] == 0:
        begin(s, out, labels, n, CLAIM, r)
        if c.variant == CHECK_THEN_SET:
            out[n, at] = SET
        else:
            out[n, EPOCH] = 1
            out[n, BY] = r
            out[n, at + MINE] = 1
            out[n, at + RIGHT] = r
            out[n, at] = FIRE if c.variant == READ_PATH else RECORD
        n += 1
    if s[EPOCH] != 0 and s[EXPIRED] and not s[CONSUMED]:
        begin(s, out, labels, n, CLAIM, r)
        out[n, EPOCH] = s[EPOCH] + 1
        out[n, EXPIRED] = 0
        out[n, at + MINE] = s[EPOCH] + 1
        out[n, at + RIGHT] = s[BY]
        out[n, at] = RECORD if c.variant == WRITE_PATH else FIRE
        n += 1
    if s[EPOCH] != 0 and (s[CONSUMED] or not c.take_over):
        begin(s, out, labels, n, CLAIM, r)
        out[n, at + RIGHT] = 0
        out[n, at] = DONE
        n += 1
    return Die(c, s, out, labels, n, CLAIM, r)


def Set(c, s, out, labels, n, r):
    at = racer_at(r)
    begin(s, out, labels, n, SET, r)
    out[n, EPOCH] = 1
    out[n, EXPIRED] = 0
    out[n, BY] = r
    out[n, at + MINE] = 1
    out[n, at + RIGHT] = r
    out[n, at] = FIRE
    return Die(c, s, out, labels, n + 1, SET, r)


def Fire(c, s, out, labels, n, r):
    at = racer_at(r)
    begin(s, out, labels, n, FIRE, r)
    out[n, APPLIED] = s[APPLIED] + 1
    out[n, FIRED] = s[FIRED] | 1 << (int(s[at + RIGHT]) - 1)
    out[n, at] = CLAIM if c.variant == WRITE_PATH else RECORD
    return Die(c, s, out, labels, n + 1, FIRE, r)


def Record(c, s, out, labels, n, r):
    at = racer_at(r)
    begin(s, out, labels, n, RECORD, r)
    if s[at + MINE] == s[EPOCH]:
        out[n, CONSUMED] = 1
        forget(out, n, r, DONE)
    else:
        forget(out, n, r, LOAD)
    return Die(c, s, out, labels, n + 1, RECORD, r)


def is_held(c, s):
    """Does a living racer have the current claim?"""
    for r in range(1, c.K + 1):
        if s[racer_at(r) + MINE] == s[EPOCH]:
            return True
    return False


def Expire(c, s, out, labels, n):
    if s[CLOCK_PC] == EXPIRE:
        clock = c.K + 1
        if s[CONSUMED]:
            begin(s, out, labels, n, EXPIRE, clock)
            out[n, CLOCK_PC] = DONE
            n += 1
        elif s[EPOCH] != 0 and not s[EXPIRED]:
            held = is_held(c, s)
            if not held or s[EXPIRIES] < c.max_expiries:
                begin(s, out, labels, n, EXPIRE, clock)
                if held:
                    out[n, EXPIRIES] = s[EXPIRIES] + 1
                out[n, EXPIRED] = 1
                n += 1
    return n


def all_done(c, s):
    for r in range(1, c.K + 1):
        if s[racer_at(r)] != DONE:
            return False
    return s[PERSON_PC] == DONE and s[CLOCK_PC] == DONE


def Next(c, s, out, labels):
    n = Answer(c, s, out, labels, 0)
    for r in range(1, c.K + 1):
        place = s[racer_at(r)]
        if place == LOAD:
            n = Load(c, s, out, labels, n, r)
        elif place == CLAIM:
            n = Claim(c, s, out, labels, n, r)
        elif place == SET:
            n = Set(c, s, out, labels, n, r)
        elif place == FIRE:
            n = Fire(c, s, out, labels, n, r)
        elif place == RECORD:
            n = Record(c, s, out, labels, n, r)
    n = Expire(c, s, out, labels, n)
    if all_done(c, s):
        begin(s, out, labels, n, TERMINATING, 0)
        n += 1
    return n


def firing(c, s):
    """On how many racers' passages the effect was applied."""
    count = 0
    for r in range(c.K):
        count += s[FIRED] >> r & 1
    return count


def Check(c, s, t):
    broken = 0
    if s[CRASHES] > c.max_crashes or s[EXPIRIES] > c.max_expiries or s[BY] > c.K:
        broken |= 1
    for r in range(1, c.K + 1):
        at = racer_at(r)
        if s[at + RIGHT] > c.K:
            broken |= 1
    if firing(c, s) > 1:
        broken |= 2
    if (s[APPLIED] > 0 and not s[ANSWERED]) or (s[CONSUMED] and s[APPLIED] == 0):
        broken |= 4
    return broken


def Sometimes(c, s):
    seen = 0
    for i in range(c.firing_levels):
        if firing(c, s) > i:
            seen |= 1 << i
    for i in range(c.applied_levels):
        if s[APPLIED] > i:
            seen |= 1 << (c.firing_levels + i)
    return seen
