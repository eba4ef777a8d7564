"""Next of the reference: every step that a state has, in the order of ``MCResumeContract.tla``.

The steps come in pieces, so that the Next with faults (:mod:`pymodel.resume.faulty`) takes what a fault leaves of them.
"""

from pymodel.resume.actions import (
    Claim,
    Commit,
    Compute,
    Crash,
    Deliver,
    Expire,
    Fire,
    Fork,
    Load,
    Memo,
    Park,
    Record,
    Refuse,
    Reject,
    Stale,
    TakeOver,
)
from pymodel.resume.reading import (
    ANSWER,
    APPLIED,
    AT_COMMIT,
    BRANCH,
    EFFECT,
    IDLE,
    LENGTH,
    NONE,
    PHASE,
    PURE,
    STEP,
    UNIT,
    branch_at,
    outcome,
    ready,
    run_at,
    world_at,
)
from pymodel.rows import copy_row

# Codes of the actions in labels, in this order; ACTIONS are their names.
LOAD = 0
COMPUTE = 1
FIRE = 2
RECORD = 3
MEMO = 4
COMMIT = 5
PARK = 6
CLAIM = 7
TAKE_OVER = 8
REFUSE = 9
STALE = 10
REJECT = 11
DELIVER = 12
EXPIRE = 13
CRASH = 14
FORK = 15

ACTIONS = (
    "Load",
    "Compute",
    "Fire",
    "Record",
    "Memo",
    "Commit",
    "Park",
    "Claim",
    "TakeOver",
    "Refuse",
    "Stale",
    "Reject",
    "Deliver",
    "Expire",
    "Crash",
    "Fork",
)

# A label: action, up to four parameters, the bits of the faults that the step used.
LABEL_WIDTH = 6
FAULTS_USED = 5


def put(s, out, labels, n, action, p, q, v, w, faults):
    """Keep out[n] as a successor, and make the next row equal to s, for the next action to write on."""
    row = labels[n]
    row[0] = action
    row[1] = p
    row[2] = q
    row[3] = v
    row[4] = w
    row[5] = faults
    copy_row(out, n + 1, s)
    return n + 1


def Next(c, s, out, labels):
    """Fill out and labels with the successors of s; their number.  The last row of out is scratch."""
    n = 0
    copy_row(out, 0, s)
    for r in range(1, c.R + 1):
        if s[run_at(c, r) + PHASE] == IDLE:
            n = load_steps(c, s, out, labels, n, r)
        else:
            n = code_steps(c, s, out, labels, n, r)
            n = store_steps(c, s, out, labels, n, r)
            n = gate_steps(c, s, out, labels, n, r)
            n = take_over_steps(c, s, out, labels, n, r)
            n = refusal_steps(c, s, out, labels, n, r)
            n = crash_steps(c, s, out, labels, n, r)
    return environment_steps(c, s, out, labels, n)


def load_steps(c, s, out, labels, n, r):
    """Load."""
    for b in range(1, c.B + 1):
        for x in range(c.S + 1):
            if Load(c, s, out[n], r, b, x):
                n = put(s, out, labels, n, LOAD, r, b, x, 0, 0)
    return n


def code_steps(c, s, out, labels, n, r):
    """Compute and Fire."""
    p = run_at(c, r)
    if ready(c, s, r, PURE):
        o = outcome(c, s, s[p + BRANCH], s[p + STEP])
        for v in range(1, c.V + 1):
            if v == o or o == NONE:
                for bad in range(2):
                    if Compute(c, s, out[n], r, bad, v):
                        n = put(s, out, labels, n, COMPUTE, r, bad, v, 0, 0)
    if ready(c, s, r, EFFECT):
        k = world_at(c, s[p + BRANCH], s[p + STEP])
        o = outcome(c, s, s[p + BRANCH], s[p + STEP])
        if s[k + APPLIED] != 0:
            o = int(s[k + ANSWER])
        for v in range(1, c.V + 1):
            if v == o or o == NONE:
                for bad in range(2):
                    if Fire(c, s, out[n], r, bad, v):
                        n = put(s, out, labels, n, FIRE, r, bad, v, 0, 0)
    return n


def store_steps(c, s, out, labels, n, r):
    """Record, Memo and Commit."""
    first, last = arrivals_range(c, s, r, 0)
    for x in range(first, last):
        if Record(c, s, out[n], r, x):
            n = put(s, out, labels, n, RECORD, r, x, 0, 0, 0)
        if Memo(c, s, out[n], r, x):
            n = put(s, out, labels, n, MEMO, r, x, 0, 0, 0)
    if Record(c, s, out[n], r, AT_COMMIT):
        n = put(s, out, labels, n, RECORD, r, AT_COMMIT, 0, 0, 0)
    if Memo(c, s, out[n], r, AT_COMMIT):
        n = put(s, out, labels, n, MEMO, r, AT_COMMIT, 0, 0, 0)
    first, last = arrivals_range(c, s, r, 1)
    for x in range(first, last):
        if Commit(c, s, out[n], r, x):
            n = put(s, out, labels, n, COMMIT, r, x, 0, 0, 0)
    if Commit(c, s, out[n], r, AT_COMMIT):
        n = put(s, out, labels, n, COMMIT, r, AT_COMMIT, 0, 0, 0)
    return n


def gate_steps(c, s, out, labels, n, r):
    """Park and Claim."""
    if Park(c, s, out[n], r):
        n = put(s, out, labels, n, PARK, r, 0, 0, 0, 0)
    if Claim(c, s, out[n], r):
        n = put(s, out, labels, n, CLAIM, r, 0, 0, 0, 0)
    return n


def take_over_steps(c, s, out, labels, n, r):
    """TakeOver."""
    if TakeOver(c, s, out[n], r):
        n = put(s, out, labels, n, TAKE_OVER, r, 0, 0, 0, 0)
    return n


def refusal_steps(c, s, out, labels, n, r):
    """Refuse, Stale and Reject."""
    if Refuse(c, s, out[n], r):
        n = put(s, out, labels, n, REFUSE, r, 0, 0, 0, 0)
    if Stale(c, s, out[n], r):
        n = put(s, out, labels, n, STALE, r, 0, 0, 0, 0)
    if Reject(c, s, out[n], r):
        n = put(s, out, labels, n, REJECT, r, 0, 0, 0, 0)
    return n


def crash_steps(c, s, out, labels, n, r):
    """Crash."""
    if Crash(c, s, out[n], r):
        n = put(s, out, labels, n, CRASH, r, 0, 0, 0, 0)
    return n


def arrivals_range(c, s, r, ahead):
    """The steps, from and up to, of runner r's unit or of the one after it."""
    u = int(s[run_at(c, r) + UNIT]) + ahead
    if u > c.U:
        return 1, 1
    return c.first[u], c.first[u + 1]


def environment_steps(c, s, out, labels, n):
    """Answers, expiries and forks."""
    for b in range(1, c.B + 1):
        for u in range(1, c.U + 1):
            g = c.gate_in[u]
            if g != NONE:
                for d in range(1, c.D + 1):
                    if Deliver(c, s, out[n], b, g, d, d):
                        n = put(s, out, labels, n, DELIVER, b, g, d, d, 0)
                if Expire(c, s, out[n], b, g):
                    n = put(s, out, labels, n, EXPIRE, b, g, 0, 0, 0)
        for child in range(2, c.B + 1):
            for i in range(s[branch_at(c, b) + LENGTH] + 1):
                if Fork(c, s, out[n], b, i, child):
                    n = put(s, out, labels, n, FORK, b, i, child, 0, 0)
    return n
