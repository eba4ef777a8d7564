"""The labels of ``Sequencer.tla``, in its order and under its names, and Next.

A runner's label has one successor if the runner is there, and one more if it dies.  Each function gets the state
``s`` and the next state ``t``, on entry equal to ``s``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymodel.rows import copy_row
from pymodel.sequencer.reading import (
    AIM,
    ANSWER,
    ANSWERED,
    ASK,
    ASKED,
    AT,
    CLAIMED,
    CLOSED,
    COMMIT,
    COMPUTE,
    CRASHES,
    END,
    EPOCH,
    EXPIRED,
    GATE,
    INSERT,
    INSERTS,
    KEYS,
    LAPSED,
    LEASE_EPOCH,
    LEASE_GATE,
    LENGTH,
    LOAD,
    LOOK,
    NONE,
    OUT,
    OVERFLOW,
    OVERRUNS,
    PARKED,
    PC,
    PURE,
    RAN,
    RECEIVE,
    RECORD,
    REPLY,
    RUNNER_WIDTH,
    SEND,
    TAKE_OVER,
    UNIT,
    WRITE,
    code,
    current,
    first_open,
    following,
    passes,
    renewed,
    row_at,
    runner_at,
    running,
    stage,
)

if TYPE_CHECKING:
    from pymodel.sequencer.config import Config

# Labels of the other processes; a runner's are the numbers of its places.
ANSWERING = 10
EXPIRE = 11
OVERRUN = 12

LABELS = (
    "Load",
    "Look",
    "Ask",
    "Insert",
    "TakeOver",
    "Compute",
    "Send",
    "Receive",
    "Record",
    "Commit",
    "Answer",
    "Expire",
    "Overrun",
)

# A label: its code, the runner or the gate, the delivery, 1 if the runner dies.
LABEL_WIDTH = 4

# What would not fit: the numbers that byte 0 of a state may carry.
FULL_EPOCH = 1
FULL_KEYS = 2


# ---------------------------------------------------------------------------------------------------------
# The macros, and pieces of updates


def forget(c: Config, t: Any, r: int) -> None:
    """Forget(); goto Load"""
    p = runner_at(c, r)
    for k in range(RUNNER_WIDTH):
        t[p + k] = 0


def die(c: Config, s: Any, t: Any, r: int) -> bool:
    """Die(); goto Load"""
    if s[CRASHES] >= c.max_crashes:
        return False
    t[CRASHES] = s[CRASHES] + 1
    forget(c, t, r)
    return True


def go_on(c: Config, t: Any, r: int, x: int) -> None:
    """To the step x of its unit, or if that is at its end to Commit."""
    p = runner_at(c, r)
    t[p + AT] = x
    t[p + PC] = COMMIT if x == END else LOOK


def own(c: Config, s: Any, t: Any, r: int, g: int) -> None:
    """Gate g has its next epoch, which r holds, and r has the answer in hand."""
    k = row_at(c, g)
    p = runner_at(c, r)
    if s[k + EPOCH] == 255:
        t[OVERFLOW] = FULL_EPOCH
        return
    t[k + EPOCH] = s[k + EPOCH] + 1
    t[k + EXPIRED] = 0
    t[p + LEASE_GATE] = g
    t[p + LEASE_EPOCH] = s[k + EPOCH] + 1
    t[p + OUT] = s[k + ANSWER]
    t[p + PC] = RECORD


# ---------------------------------------------------------------------------------------------------------
# A runner


def Load(c: Config, s: Any, t: Any, r: int) -> bool:
    """The first read: the newest checkpoint."""
    if not running(c, s):
        return False
    p = runner_at(c, r)
    u = int(s[LENGTH]) + 1
    t[p + UNIT] = u
    t[p + AIM] = first_open(c, s, u, False)
    go_on(c, t, r, c.first[u])
    return True


def Look(c: Config, s: Any, t: Any, r: int) -> bool:
    """The next read: the row of the step it is at."""
    p = runner_at(c, r)
    x = int(s[p + AT])
    if c.kind[x] == GATE:
        now = stage(c, s, x)
        if now == CLOSED:
            t[p + PC] = ASK
        elif now == ANSWERED:
            t[p + PC] = INSERT
        elif now == LAPSED:
            t[p + PC] = TAKE_OVER
        else:
            forget(c, t, r)
    elif s[row_at(c, x) + WRITE] != NONE:
        if x == s[p + AIM]:
            t[p + AIM] = first_open(c, s, s[p + UNIT], passes(c, s, r))
        go_on(c, t, r, following(c, x))
    elif c.kind[x] == PURE:
        t[p + PC] = COMPUTE
    else:
        t[p + PC] = SEND
    return True


def Ask(c: Config, s: Any, t: Any, r: int) -> bool:
    """One insert: the question, if nobody asked it."""
    p = runner_at(c, r)
    g = int(s[p + AT])
    if stage(c, s, g) == CLOSED:
        t[row_at(c, g) + ASKED] = 1
        forget(c, t, r)
    else:
        t[p + PC] = LOOK
    return True


def Insert(c: Config, s: Any, t: Any, r: int) -> bool:
    """One insert: the claim, before anything behind the gate runs."""
    p = runner_at(c, r)
    g = int(s[p + AT])
    if stage(c, s, g) == ANSWERED or not c.atomic_claim:
        k = row_at(c, g)
        t[k + INSERTS] = s[k + INSERTS] + 1
        own(c, s, t, r, g)
    else:
        t[p + PC] = LOOK
    return True


def TakeOver(c: Config, s: Any, t: Any, r: int) -> bool:
    """One update: the next epoch of a claim whose lease ended."""
    p = runner_at(c, r)
    g = int(s[p + AT])
    if stage(c, s, g) == LAPSED:
        own(c, s, t, r, g)
    else:
        t[p + PC] = LOOK
    return True


def Compute(c: Config, s: Any, t: Any, r: int) -> bool:
    """A pure step."""
    p = runner_at(c, r)
    x = int(s[p + AT])
    t[p + OUT] = code(c, s, x)
    t[p + PC] = RECORD
    t[row_at(c, x) + RAN] = 1
    return True


def Send(c: Config, s: Any, t: Any, r: int) -> bool:
    """The effect reaches the sink, which answers a key that it knows as before."""
    p = runner_at(c, r)
    x = int(s[p + AT])
    k = row_at(c, x)
    if s[k + KEYS] == 0:
        t[k + KEYS] = 1
        t[k + REPLY] = code(c, s, x)
    elif not c.step_keys:
        if s[k + KEYS] == 255:
            t[OVERFLOW] = FULL_KEYS
            return True
        t[k + KEYS] = s[k + KEYS] + 1
    t[p + PC] = RECEIVE
    return True


def Receive(c: Config, s: Any, t: Any, r: int) -> bool:
    """The sink's answer arrives."""
    p = runner_at(c, r)
    t[p + OUT] = s[row_at(c, s[p + AT]) + REPLY]
    t[p + PC] = RECORD
    return True


def Record(c: Config, s: Any, t: Any, r: int) -> bool:
    """One transaction: the outcome, if the claim is still ours and there is none."""
    if not (running(c, s) and current(c, s, r)):
        forget(c, t, r)
        return True
    p = runner_at(c, r)
    x = int(s[p + AT])
    k = row_at(c, x)
    if s[k + WRITE] == NONE:
        t[k + WRITE] = s[p + OUT]
    t[p + OUT] = NONE
    t[p + AIM] = first_open(c, t, s[p + UNIT], passes(c, s, r))
    go_on(c, t, r, following(c, x))
    return True


def Commit(c: Config, s: Any, t: Any, r: int) -> bool:
    """One transaction: the checkpoint, if the log is as long as it was and the claim still ours."""
    p = runner_at(c, r)
    u = int(s[p + UNIT])
    if not (s[LENGTH] == u - 1 and s[p + LEASE_GATE] == c.gate_in[u] and current(c, s, r)):
        forget(c, t, r)
        return True
    t[LENGTH] = u
    forget(c, t, r)
    if u < c.U:
        t[p + UNIT] = u + 1
        t[p + AIM] = first_open(c, s, u + 1, False)
        go_on(c, t, r, c.first[u + 1])
    return True


# ---------------------------------------------------------------------------------------------------------
# The other processes


def Answer(c: Config, s: Any, t: Any, g: int, d: int) -> bool:
    """The first answer is accepted; a further one changes nothing."""
    if stage(c, s, g) != PARKED:
        return False
    t[row_at(c, g) + ANSWER] = d
    return True


def Expire(c: Config, s: Any, t: Any, g: int) -> bool:
    """The lease of an owner that is gone."""
    if stage(c, s, g) != CLAIMED or renewed(c, s, g):
        return False
    t[row_at(c, g) + EXPIRED] = 1
    return True


def Overrun(c: Config, s: Any, t: Any, g: int) -> bool:
    """The lease of an owner that is merely slow."""
    if s[OVERRUNS] >= c.max_overruns or stage(c, s, g) != CLAIMED or not renewed(c, s, g):
        return False
    t[row_at(c, g) + EXPIRED] = 1
    t[OVERRUNS] = s[OVERRUNS] + 1
    return True


# ---------------------------------------------------------------------------------------------------------


def move(c: Config, s: Any, t: Any, r: int) -> bool:
    """The step of runner r at the label where it is."""
    pc = s[runner_at(c, r) + PC]
    if pc == LOAD:
        return Load(c, s, t, r)
    if pc == LOOK:
        return Look(c, s, t, r)
    if pc == ASK:
        return Ask(c, s, t, r)
    if pc == INSERT:
        return Insert(c, s, t, r)
    if pc == TAKE_OVER:
        return TakeOver(c, s, t, r)
    if pc == COMPUTE:
        return Compute(c, s, t, r)
    if pc == SEND:
        return Send(c, s, t, r)
    if pc == RECEIVE:
        return Receive(c, s, t, r)
    if pc == RECORD:
        return Record(c, s, t, r)
    return Commit(c, s, t, r)


def put(s: Any, out: Any, labels: Any, n: int, label: int, p: int, d: int, died: int) -> int:
    """Keep out[n] as a successor, and make the next row equal to s, for the next step to write on."""
    row = labels[n]
    row[0] = label
    row[1] = p
    row[2] = d
    row[3] = died
    copy_row(out, n + 1, s)
    return n + 1


def Next(c: Config, s: Any, out: Any, labels: Any) -> int:
    """Fill out and labels with the successors of s; their number.  The last row of out is scratch."""
    n = 0
    copy_row(out, 0, s)
    for r in range(1, c.R + 1):
        pc = int(s[runner_at(c, r) + PC])
        if pc != LOAD and die(c, s, out[n], r):
            n = put(s, out, labels, n, pc, r, 0, 1)
        if move(c, s, out[n], r):
            n = put(s, out, labels, n, pc, r, 0, 0)
    for u in range(1, c.U + 1):
        g = int(c.gate_in[u])
        if g != NONE:
            for d in range(1, c.D + 1):
                if Answer(c, s, out[n], g, d):
                    n = put(s, out, labels, n, ANSWERING, g, d, 0)
            if Expire(c, s, out[n], g):
                n = put(s, out, labels, n, EXPIRE, g, 0, 0)
            if Overrun(c, s, out[n], g):
                n = put(s, out, labels, n, OVERRUN, g, 0, 0)
    return n
