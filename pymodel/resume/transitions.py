"""Next: every step that a state has, in the order of ``MCResumeContract.tla``, then those of the faults switched on."""

from pymodel.engine.rows import copy_row
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
from pymodel.resume.faults import (
    ANSWER_REPLACED,
    CHECK_THEN_CLAIM,
    FORK_ALIASES_PARENT,
    FORK_INHERITS_ANSWER,
    FORK_NONDETERMINISM,
    IMPLICIT_FORK,
    INVALID_PERSISTED,
    LATE_ANSWER_RECORDED,
    LEDGER_IGNORED,
    LOST_ANSWER,
    LOST_COMMIT,
    ORPHANED_CLAIM,
    RECOMPUTE_DIFFERS,
    RECORD_BEFORE_FIRE,
    RESTART_FROM_EARLIER,
    SKIP_UNCOMMITTED,
    STUCK_RUNNING,
    TORN_CHECKPOINT,
    UNKEYED_EFFECT,
    UNSTABLE_KEY,
    ClaimChecking,
    ClaimDropping,
    ClaimWriting,
    CommitSkipping,
    ComputeDiffering,
    ComputeForked,
    CrashLosingAnswer,
    CrashLosingCommit,
    CrashSticking,
    CrashTearing,
    DeliverLate,
    DeliverReplacing,
    FireAgain,
    FireForked,
    LoadEarlier,
    LoadForking,
    LoadIgnoringLedger,
    Outlived,
    ParkInheriting,
    RecordInvalid,
    RecordUnfired,
    alias_parent,
    outlived,
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
        n = runner_steps(c, s, out, labels, n, r)
    n = environment_steps(c, s, out, labels, n)
    if c.faults:
        n = fault_steps(c, s, out, labels, n)
    return n


def runner_steps(c, s, out, labels, n, r):
    """What runner r may do."""
    p = run_at(c, r)
    if s[p + PHASE] == IDLE:
        for b in range(1, c.B + 1):
            for x in range(c.S + 1):
                if Load(c, s, out[n], r, b, x):
                    n = put(s, out, labels, n, LOAD, r, b, x, 0, 0)
        return n
    if not (c.faults & LOST_COMMIT and outlived(c, s, r)):
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
    if Park(c, s, out[n], r):
        n = put(s, out, labels, n, PARK, r, 0, 0, 0, 0)
    if Claim(c, s, out[n], r):
        n = put(s, out, labels, n, CLAIM, r, 0, 0, 0, 0)
    if not c.faults & ORPHANED_CLAIM and TakeOver(c, s, out[n], r):
        n = put(s, out, labels, n, TAKE_OVER, r, 0, 0, 0, 0)
    if Refuse(c, s, out[n], r):
        n = put(s, out, labels, n, REFUSE, r, 0, 0, 0, 0)
    if Stale(c, s, out[n], r):
        n = put(s, out, labels, n, STALE, r, 0, 0, 0, 0)
    if Reject(c, s, out[n], r):
        n = put(s, out, labels, n, REJECT, r, 0, 0, 0, 0)
    if not c.faults & STUCK_RUNNING and Crash(c, s, out[n], r):
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


def fault_steps(c, s, out, labels, n):
    """What the faults of c.faults add."""
    f = c.faults
    for r in range(1, c.R + 1):
        p = run_at(c, r)
        if s[p + PHASE] == IDLE:
            n = faulty_loads(c, s, out, labels, n, r)
            continue
        b = int(s[p + BRANCH])
        for v in range(1, c.V + 1):
            if f & RECOMPUTE_DIFFERS and ComputeDiffering(c, s, out[n], r, v):
                n = put(s, out, labels, n, COMPUTE, r, 0, v, 0, RECOMPUTE_DIFFERS)
            if f & FORK_NONDETERMINISM and ComputeForked(c, s, out[n], r, v):
                n = put(s, out, labels, n, COMPUTE, r, 0, v, 0, FORK_NONDETERMINISM)
            if f & FORK_NONDETERMINISM and FireForked(c, s, out[n], r, v):
                n = put(s, out, labels, n, FIRE, r, 0, v, 0, FORK_NONDETERMINISM)
        for recorded in range(2):
            if f & UNKEYED_EFFECT and FireAgain(c, s, out[n], r, recorded):
                n = put(s, out, labels, n, FIRE, r, 0, 0, 0, UNKEYED_EFFECT)
        if f & LEDGER_IGNORED and FireAgain(c, s, out[n], r, 1):
            n = put(s, out, labels, n, FIRE, r, 0, 0, 0, LEDGER_IGNORED)
        if f & UNSTABLE_KEY and FireAgain(c, s, out[n], r, 0):
            n = put(s, out, labels, n, FIRE, r, 0, 0, 0, UNSTABLE_KEY)
        if f & RECORD_BEFORE_FIRE and RecordUnfired(c, s, out[n], r):
            n = put(s, out, labels, n, RECORD, r, 0, 0, 0, RECORD_BEFORE_FIRE)
        for x in range(c.S + 1):
            if f & INVALID_PERSISTED and RecordInvalid(c, s, out[n], r, x):
                n = put(s, out, labels, n, RECORD, r, x, 0, 0, INVALID_PERSISTED)
            if f & SKIP_UNCOMMITTED and CommitSkipping(c, s, out[n], r, x):
                n = put(s, out, labels, n, COMMIT, r, x, 0, 0, SKIP_UNCOMMITTED)
            if (
                f & FORK_ALIASES_PARENT
                and Commit(c, s, out[n], r, x)
                and alias_parent(c, s, out[n], b, s[p + UNIT])
            ):
                n = put(s, out, labels, n, COMMIT, r, x, 0, 0, FORK_ALIASES_PARENT)
            else:
                copy_row(out, n, s)
        if f & CHECK_THEN_CLAIM:
            if ClaimChecking(c, s, out[n], r):
                n = put(s, out, labels, n, CLAIM, r, 0, 0, 0, CHECK_THEN_CLAIM)
            if ClaimWriting(c, s, out[n], r):
                n = put(s, out, labels, n, CLAIM, r, 1, 0, 0, CHECK_THEN_CLAIM)
            if ClaimDropping(c, s, out[n], r):
                n = put(s, out, labels, n, CLAIM, r, 2, 0, 0, CHECK_THEN_CLAIM)
        if f & FORK_INHERITS_ANSWER and ParkInheriting(c, s, out[n], r):
            n = put(s, out, labels, n, PARK, r, 0, 0, 0, FORK_INHERITS_ANSWER)
        if f & LOST_COMMIT and Outlived(c, s, out[n], r):
            n = put(s, out, labels, n, STALE, r, 0, 0, 0, LOST_COMMIT)
        n = faulty_crashes(c, s, out, labels, n, r)
    for b in range(1, c.B + 1):
        for u in range(1, c.U + 1):
            g = c.gate_in[u]
            if g != NONE:
                for d in range(1, c.D + 1):
                    if f & LATE_ANSWER_RECORDED and DeliverLate(c, s, out[n], b, g, d, d):
                        n = put(s, out, labels, n, DELIVER, b, g, d, d, LATE_ANSWER_RECORDED)
                    if f & ANSWER_REPLACED and DeliverReplacing(c, s, out[n], b, g, d, d):
                        n = put(s, out, labels, n, DELIVER, b, g, d, d, ANSWER_REPLACED)
    return n


def faulty_loads(c, s, out, labels, n, r):
    """Deviations of Load."""
    f = c.faults
    for b in range(1, c.B + 1):
        for x in range(c.S + 1):
            if f & LEDGER_IGNORED and LoadIgnoringLedger(c, s, out[n], r, b, x):
                n = put(s, out, labels, n, LOAD, r, b, x, 0, LEDGER_IGNORED)
            for k in range(s[branch_at(c, b) + LENGTH]):
                if f & RESTART_FROM_EARLIER and LoadEarlier(c, s, out[n], r, b, x, k):
                    n = put(s, out, labels, n, LOAD, r, b, x, k, RESTART_FROM_EARLIER)
                if f & IMPLICIT_FORK:
                    for child in range(2, c.B + 1):
                        if LoadForking(c, s, out[n], r, b, k, child, x):
                            n = put(s, out, labels, n, LOAD, r, child, x, k, IMPLICIT_FORK)
    return n


def faulty_crashes(c, s, out, labels, n, r):
    """Deviations of Crash."""
    f = c.faults
    if f & TORN_CHECKPOINT and CrashTearing(c, s, out[n], r):
        n = put(s, out, labels, n, CRASH, r, 0, 0, 0, TORN_CHECKPOINT)
    if f & STUCK_RUNNING and CrashSticking(c, s, out[n], r):
        n = put(s, out, labels, n, CRASH, r, 0, 0, 0, STUCK_RUNNING)
    if f & (LOST_COMMIT | LOST_ANSWER):
        for b in range(1, c.B + 1):
            if f & LOST_COMMIT and CrashLosingCommit(c, s, out[n], r, b):
                n = put(s, out, labels, n, CRASH, r, b, 0, 0, LOST_COMMIT)
            if f & LOST_ANSWER:
                for u in range(1, c.U + 1):
                    g = c.gate_in[u]
                    if g != NONE and CrashLosingAnswer(c, s, out[n], r, b, g):
                        n = put(s, out, labels, n, CRASH, r, b, g, 0, LOST_ANSWER)
    return n
