"""Next with the faults of ``c.faults``: what they leave of the reference's steps, and what they add.

The twin of ``MCResumeFaults.tla``.  It is a module of its own so that the reference is compiled without it.
"""

from pymodel.resume.actions import Commit
from pymodel.resume.clauses import CLAUSES, broken_clauses
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
    TakeOverRefused,
    alias_parent,
    is_outlived,
)
from pymodel.resume.reading import (
    BRANCH,
    HISTORY,
    IDLE,
    LENGTH,
    NONE,
    PHASE,
    UNIT,
    branch_at,
    is_running,
    run_at,
)
from pymodel.resume.transitions import (
    CLAIM,
    COMMIT,
    COMPUTE,
    CRASH,
    DELIVER,
    FIRE,
    LOAD,
    PARK,
    RECORD,
    STALE,
    TAKE_OVER,
    code_steps,
    crash_steps,
    environment_steps,
    gate_steps,
    load_steps,
    put,
    refusal_steps,
    store_steps,
    take_over_steps,
)
from pymodel.rows import copy_row

SOUGHT = "NotSought"
INVARIANTS = (*CLAUSES, SOUGHT)


def Check(c, s, t):
    """One bit for each broken clause, in the order of CLAUSES; or if some are sought, one more if all of them were."""
    if c.sought:
        return 256 if s[HISTORY] == c.sought else 0
    return broken_clauses(c, s)


def Next(c, s, out, labels):
    """Fill out and labels with the successors of s; their number.  The last row of out is scratch."""
    f = c.faults
    n = 0
    copy_row(out, 0, s)
    for r in range(1, c.R + 1):
        if s[run_at(c, r) + PHASE] == IDLE:
            n = load_steps(c, s, out, labels, n, r)
            n = faulty_loads(c, s, out, labels, n, r)
            continue
        if not (f & LOST_COMMIT and is_outlived(c, s, r)):
            n = code_steps(c, s, out, labels, n, r)
        n = store_steps(c, s, out, labels, n, r)
        n = gate_steps(c, s, out, labels, n, r)
        if not f & ORPHANED_CLAIM:
            n = take_over_steps(c, s, out, labels, n, r)
        n = refusal_steps(c, s, out, labels, n, r)
        if not (f & STUCK_RUNNING and is_running(c, s, s[run_at(c, r) + BRANCH])):
            n = crash_steps(c, s, out, labels, n, r)
        n = faulty_runner_steps(c, s, out, labels, n, r)
        n = faulty_gate_steps(c, s, out, labels, n, r)
        n = faulty_crashes(c, s, out, labels, n, r)
    n = environment_steps(c, s, out, labels, n)
    n = faulty_deliveries(c, s, out, labels, n)
    if c.sought:
        for i in range(n):
            out[i][HISTORY] = s[HISTORY] | (broken_clauses(c, out[i]) & c.sought)
    return n


def faulty_runner_steps(c, s, out, labels, n, r):
    """Deviations of Compute, Fire, Record, Commit and Stale."""
    f = c.faults
    p = run_at(c, r)
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
            and alias_parent(c, s, out[n], int(s[p + BRANCH]), s[p + UNIT])
        ):
            n = put(s, out, labels, n, COMMIT, r, x, 0, 0, FORK_ALIASES_PARENT)
        else:
            copy_row(out, n, s)
    if f & LOST_COMMIT and Outlived(c, s, out[n], r):
        n = put(s, out, labels, n, STALE, r, 0, 0, 0, LOST_COMMIT)
    return n


def faulty_gate_steps(c, s, out, labels, n, r):
    """Deviations of Claim, TakeOver and Park."""
    f = c.faults
    if f & CHECK_THEN_CLAIM:
        if ClaimChecking(c, s, out[n], r):
            n = put(s, out, labels, n, CLAIM, r, 0, 0, 0, CHECK_THEN_CLAIM)
        if ClaimWriting(c, s, out[n], r):
            n = put(s, out, labels, n, CLAIM, r, 1, 0, 0, CHECK_THEN_CLAIM)
        if ClaimDropping(c, s, out[n], r):
            n = put(s, out, labels, n, CLAIM, r, 2, 0, 0, CHECK_THEN_CLAIM)
    if f & FORK_INHERITS_ANSWER and ParkInheriting(c, s, out[n], r):
        n = put(s, out, labels, n, PARK, r, 0, 0, 0, FORK_INHERITS_ANSWER)
    if f & ORPHANED_CLAIM and TakeOverRefused(c, s, out[n], r):
        n = put(s, out, labels, n, TAKE_OVER, r, 0, 0, 0, ORPHANED_CLAIM)
    return n


def faulty_deliveries(c, s, out, labels, n):
    """Deviations of Deliver."""
    f = c.faults
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
