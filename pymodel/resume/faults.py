"""The faults: one named deviation of one action each.

Each function is what its action may do besides what the reference does, with the parameters and the convention of
:mod:`pymodel.resume.actions`, and its twin in ``ResumeFaults.tla`` has the same name.  ``faulty.py`` offers it where its
bit is set in ``c.faults``; a behaviour with no bit set is the reference's.
"""

from pymodel.resume.actions import (
    FULL_APPLIED,
    Fork,
    acknowledge,
    arrive,
    go_idle,
    hold,
    note_computed,
    own_epoch,
    seal,
)
from pymodel.resume.reading import (
    ABSENT,
    ACK_VALUE,
    ANSWER,
    ANSWERED,
    APPLIED,
    AT_COMMIT,
    BAD,
    BASE,
    BRANCH,
    CHECKED,
    CLAIMED,
    CLOSED,
    CONSUMED,
    CRASHES,
    DECLARED,
    EFFECT,
    ENTRY_OUT,
    ENTRY_UNIT,
    EPOCH,
    GATE,
    GATE_ACKS,
    GATE_CLAIMS,
    GATE_EPOCH,
    GATE_EXPIRED,
    GATE_HEAD,
    GATE_PASSED,
    GATE_STATUS,
    HOLDS,
    IDLE,
    INDEX,
    LENGTH,
    NONE,
    OUT,
    OVERFLOW,
    OWN_LENGTH,
    PARENT,
    PARKED,
    PHASE,
    PURE,
    RUNNING,
    STATUS,
    STEP,
    STUCK,
    UNIT,
    arrives,
    branch_at,
    can_commit,
    can_record,
    can_take_over,
    ckpt_at,
    committing,
    computed_at,
    epoch_current,
    gate_at,
    gate_of,
    is_held,
    is_running,
    ledger_at,
    length,
    newest,
    outcome,
    ready,
    run_at,
    unit_after,
    world_at,
)

# One bit each in c.faults, and in the last column of a label: the faults that a step used.
RESTART_FROM_EARLIER = 1 << 0
SKIP_UNCOMMITTED = 1 << 1
UNKEYED_EFFECT = 1 << 2
LEDGER_IGNORED = 1 << 3
RECORD_BEFORE_FIRE = 1 << 4
FORK_NONDETERMINISM = 1 << 5
FORK_ALIASES_PARENT = 1 << 6
INVALID_PERSISTED = 1 << 7
TORN_CHECKPOINT = 1 << 8
LATE_ANSWER_RECORDED = 1 << 9
CHECK_THEN_CLAIM = 1 << 10
RECOMPUTE_DIFFERS = 1 << 11
IMPLICIT_FORK = 1 << 12
ANSWER_REPLACED = 1 << 13
FORK_INHERITS_ANSWER = 1 << 14
LOST_ANSWER = 1 << 15
LOST_COMMIT = 1 << 16
UNSTABLE_KEY = 1 << 17
ORPHANED_CLAIM = 1 << 18
STUCK_RUNNING = 1 << 19


def is_outlived(c, s, r):
    """Under lost_commit: the branch is shorter than when r reached its unit, so that it may run nothing."""
    p = run_at(c, r)
    return s[p + PHASE] != IDLE and length(c, s, s[p + BRANCH]) < s[p + BASE]


def Outlived(c, s, t, r):
    """lost_commit: what a runner that outlived its branch's last checkpoint does is refused."""
    if not is_outlived(c, s, r):
        return False
    go_idle(c, t, r)
    return True


# ---------------------------------------------------------------------------------------------------------
# Load


def LoadEarlier(c, s, t, r, b, x, k):
    """restart_from_earlier: Load continues from the k-th checkpoint, an older one of the same branch."""
    if s[run_at(c, r) + PHASE] != IDLE:
        return False
    if not is_running(c, s, b):
        return False
    n = length(c, s, b)
    if k >= n:
        return False
    u = unit_after(c, s, b, k)
    if not arrives(c, s, b, u, 0, NONE, x):
        return False
    arrive(c, t, r, b, u, n, x, 0)
    return True


def LoadIgnoringLedger(c, s, t, r, b, x):
    """ledger_ignored: Load arrives at a step of the next unit although it is recorded."""
    if s[run_at(c, r) + PHASE] != IDLE:
        return False
    if not is_running(c, s, b):
        return False
    n = length(c, s, b)
    u = unit_after(c, s, b, n)
    if u > c.U:
        return False
    if x == AT_COMMIT or c.unit_of[x] != u or c.kind[x] == GATE:
        return False
    if s[ledger_at(c, b, x)] == NONE:
        return False
    arrive(c, t, r, b, u, n, x, 0)
    return True


def LoadForking(c, s, t, r, b, i, child, x):
    """implicit_fork: a resume from an older checkpoint makes a branch that nobody declared."""
    if s[run_at(c, r) + PHASE] != IDLE:
        return False
    if i >= length(c, s, b):
        return False
    if not ForkUndeclared(c, s, t, b, i, child):
        return False
    u = unit_after(c, s, b, i)
    if not fresh_arrives(c, u, x):
        return undo_fork(c, s, t, child)
    arrive(c, t, r, child, u, i, x, 0)
    return True


def fresh_arrives(c, u, x):
    """Is x in Arrivals of unit u where nothing is recorded?"""
    if x == AT_COMMIT or c.unit_of[x] != u:
        return False
    for y in range(c.first[u], c.first[u + 1]):
        if c.after[x * c.stride + y]:
            return False
    return True


def undo_fork(c, s, t, child):
    """Leave t untouched after all."""
    q = branch_at(c, child)
    for j in range(c.block):
        t[q + j] = s[q + j]
    return False


# ---------------------------------------------------------------------------------------------------------
# Compute and Fire


def ComputeDiffering(c, s, t, r, o):
    """recompute_differs: a runner whose step is already recorded computes another outcome."""
    if not ready(c, s, r, PURE):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    if s[ledger_at(c, b, x)] == NONE:
        return False
    if o == outcome(c, s, b, x):
        return False
    hold(c, t, r, o, 0)
    note_computed(c, s, t, b, x, o)
    return True


def ComputeForked(c, s, t, r, o):
    """fork_nondeterminism: the first computation of a step in a forked branch fixes another outcome there."""
    if not ready(c, s, r, PURE):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    if s[branch_at(c, b) + PARENT] == NONE:
        return False
    if s[computed_at(c, b, x)]:
        return False
    if o == outcome(c, s, b, x):
        return False
    hold(c, t, r, o, 0)
    note_computed(c, s, t, b, x, o)
    return True


def FireForked(c, s, t, r, o):
    """fork_nondeterminism: the first firing of an effect in a forked branch fixes another answer there."""
    if not ready(c, s, r, EFFECT):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    k = world_at(c, b, x)
    if s[branch_at(c, b) + PARENT] == NONE:
        return False
    if s[k + APPLIED] != 0:
        return False
    if o == outcome(c, s, b, x):
        return False
    t[k + APPLIED] = 1
    t[k + ANSWER] = o
    hold(c, t, r, o, 0)
    return True


def FireAgain(c, s, t, r, recorded):
    """An effect that was applied is applied again, with the answer of the first time.

    unkeyed_effect: at any repeat; ledger_ignored: where it is recorded (recorded = 1); unstable_key: where it isn't yet
    (recorded = 0).
    """
    if not ready(c, s, r, EFFECT):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    k = world_at(c, b, x)
    if s[k + APPLIED] == 0:
        return False
    if (s[ledger_at(c, b, x)] != NONE) != (recorded != 0):
        return False
    if s[k + APPLIED] < c.max_applied:
        t[k + APPLIED] = s[k + APPLIED] + 1
    elif c.free:
        t[OVERFLOW] = FULL_APPLIED
    hold(c, t, r, s[k + ANSWER], s[k + ANSWER + 1])
    return True


# ---------------------------------------------------------------------------------------------------------
# Record


def RecordUnfired(c, s, t, r):
    """record_before_fire: the outcome of an effect becomes durable before it is fired."""
    if not ready(c, s, r, EFFECT):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    if s[world_at(c, b, x) + APPLIED] != 0:
        return False
    if s[ledger_at(c, b, x)] != NONE:
        return False
    if not can_record(c, s, r):
        return False
    o = outcome(c, s, b, x)
    if o == NONE:
        o = 1
    t[ledger_at(c, b, x)] = o
    return True


def RecordInvalid(c, s, t, r, x):
    """invalid_persisted: an invalid outcome is recorded, its value kept; only its flag tells."""
    p = run_at(c, r)
    if s[p + PHASE] != HOLDS:
        return False
    if not s[p + BAD]:
        return False
    if not can_record(c, s, r):
        return False
    b = s[p + BRANCH]
    if not arrives(c, s, b, s[p + UNIT], s[p + EPOCH], s[p + STEP], x):
        return False
    k = ledger_at(c, b, s[p + STEP])
    if s[k] == NONE:
        t[k] = s[p + OUT]
        t[k + 1] = 1
    arrive(c, t, r, b, s[p + UNIT], s[p + BASE], x, s[p + EPOCH])
    return True


# ---------------------------------------------------------------------------------------------------------
# Commit


def CommitSkipping(c, s, t, r, x):
    """skip_uncommitted: go on to the next unit without committing, using the recorded outcomes."""
    if not committing(c, s, r):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    u = s[p + UNIT]
    if not is_running(c, s, b):
        return False
    if u >= c.U:
        return False
    if not epoch_current(c, s, r):
        return False
    if not arrives(c, s, b, u + 1, 0, NONE, x):
        return False
    arrive(c, t, r, b, u + 1, s[p + BASE], x, 0)
    return True


def alias_parent(c, s, t, b, u):
    """fork_aliases_parent: the parent's newest checkpoint of unit u becomes the one that child b has just committed.

    False, with nothing written, where b has no parent or the parent no such checkpoint.
    """
    parent = int(s[branch_at(c, b) + PARENT])
    if parent == NONE:
        return False
    i = newest(c, s, parent, u)
    if i == NONE:
        return False
    at = ckpt_at(c, parent, i)
    for y in range(c.first[u], c.first[u + 1]):
        t[at + ENTRY_OUT + c.place[y]] = s[ledger_at(c, b, y)]
    return True


def CrashTearing(c, s, t, r):
    """torn_checkpoint: a crash inside Commit leaves an incomplete checkpoint, which counts as the newest."""
    if not committing(c, s, r):
        return False
    if not can_commit(c, s, r):
        return False
    if s[CRASHES] >= c.max_crashes:
        return False
    p = run_at(c, r)
    if not seal(c, s, t, s[p + BRANCH], s[p + UNIT], 0, 0):
        return False
    t[CRASHES] = s[CRASHES] + 1
    go_idle(c, t, r)
    return True


# ---------------------------------------------------------------------------------------------------------
# Claim


def ClaimChecking(c, s, t, r):
    """check_then_claim: the read.  The gate is answered; the claim is written later."""
    if not ready(c, s, r, GATE):
        return False
    if not is_running(c, s, s[run_at(c, r) + BRANCH]):
        return False
    if s[gate_of(c, s, r) + GATE_STATUS] != ANSWERED:
        return False
    t[run_at(c, r) + PHASE] = CHECKED
    return True


def ClaimWriting(c, s, t, r):
    """check_then_claim: the later write, whatever has happened to the gate since the read."""
    p = run_at(c, r)
    if s[p + PHASE] != CHECKED:
        return False
    b = s[p + BRANCH]
    if not is_running(c, s, b):
        return False
    k = gate_at(c, b, s[p + STEP])
    if s[k + GATE_ACKS] == 0:
        return False
    v = s[k + GATE_HEAD + ACK_VALUE]
    t[k + GATE_CLAIMS] = s[k + GATE_CLAIMS] + 1
    if s[k + GATE_STATUS] != CONSUMED:
        t[k + GATE_STATUS] = CLAIMED
    if s[k + GATE_EPOCH] == 0:
        own_epoch(c, s, t, r, k)
    else:
        t[p + EPOCH] = s[k + GATE_EPOCH]
    t[k + GATE_PASSED] = v
    hold(c, t, r, v, 0)
    return True


def ClaimDropping(c, s, t, r):
    """check_then_claim: a runner that has read and can't write any more (the branch isn't running) goes away."""
    p = run_at(c, r)
    if s[p + PHASE] != CHECKED:
        return False
    if is_running(c, s, s[p + BRANCH]):
        return False
    go_idle(c, t, r)
    return True


def TakeOverRefused(c, s, t, r):
    """orphaned_claim: an expired claim isn't passed on; who comes for it is refused."""
    if not ready(c, s, r, GATE):
        return False
    if not can_take_over(c, s, r):
        return False
    go_idle(c, t, r)
    return True


# ---------------------------------------------------------------------------------------------------------
# Deliver


def is_acknowledged(c, s, b, g, d):
    """Was delivery d acknowledged at gate g of branch b?"""
    k = gate_at(c, b, g)
    for i in range(s[k + GATE_ACKS]):
        if s[k + GATE_HEAD + 3 * i + 1] == d:
            return True
    return False


def DeliverLate(c, s, t, b, g, d, v):
    """late_answer_recorded: a second answer is acknowledged and durable, and isn't consulted."""
    k = gate_at(c, b, g)
    if s[branch_at(c, b) + STATUS] == ABSENT:
        return False
    if s[k + GATE_STATUS] == CLOSED or s[k + GATE_STATUS] == PARKED:
        return False
    if s[k + GATE_ACKS] == 0:
        return False
    if is_acknowledged(c, s, b, g, d):
        return False
    acknowledge(c, s, t, b, g, d, v, False)
    return True


def DeliverReplacing(c, s, t, b, g, d, v):
    """answer_replaced: a later answer takes the first one's place, and passes.

    Once a claim is out, only while nobody holds it and nothing of it is recorded: the branch would otherwise go
    on with an answer that isn't the one that passed, which is another deviation (and breaks FD, too).
    """
    if not is_running(c, s, b):
        return False
    k = gate_at(c, b, g)
    if s[k + GATE_STATUS] != ANSWERED and s[k + GATE_STATUS] != CLAIMED:
        return False
    if s[k + GATE_STATUS] == CLAIMED and (s[ledger_at(c, b, g)] != NONE or is_held(c, s, b, g)):
        return False
    if s[k + GATE_ACKS] == 0:
        return False
    if is_acknowledged(c, s, b, g, d):
        return False
    acknowledge(c, s, t, b, g, d, v, True)
    if s[k + GATE_STATUS] == CLAIMED:
        t[k + GATE_PASSED] = v
    return True


# ---------------------------------------------------------------------------------------------------------
# Crash


def CrashLosingAnswer(c, s, t, r, b, g):
    """lost_answer: an acknowledged answer is gone after a crash."""
    k = gate_at(c, b, g)
    if s[run_at(c, r) + PHASE] == IDLE:
        return False
    if s[CRASHES] >= c.max_crashes:
        return False
    if s[k + GATE_STATUS] != ANSWERED:
        return False
    t[CRASHES] = s[CRASHES] + 1
    t[k + GATE_STATUS] = PARKED
    go_idle(c, t, r)
    return True


def CrashLosingCommit(c, s, t, r, b):
    """lost_commit: an acknowledged commit is gone after a crash; its gate is claimed and expired again."""
    q = branch_at(c, b)
    n = length(c, s, b)
    if s[run_at(c, r) + PHASE] == IDLE:
        return False
    if s[CRASHES] >= c.max_crashes:
        return False
    if n == 0 or n <= s[q + INDEX] or s[q + OWN_LENGTH] == 0:
        return False
    at = ckpt_at(c, b, n)
    g = c.gate_in[s[at + ENTRY_UNIT]]
    t[CRASHES] = s[CRASHES] + 1
    t[q + LENGTH] = n - 1
    for j in range(c.entry):
        t[at + j] = 0
    if g != NONE:
        t[gate_at(c, b, g) + GATE_STATUS] = CLAIMED
        t[gate_at(c, b, g) + GATE_EXPIRED] = 1
    t[q + STATUS] = RUNNING
    go_idle(c, t, r)
    return True


def CrashSticking(c, s, t, r):
    """stuck_running: the run of a crashed process can never be loaded again."""
    p = run_at(c, r)
    if s[p + PHASE] == IDLE:
        return False
    if s[CRASHES] >= c.max_crashes:
        return False
    if not is_running(c, s, s[p + BRANCH]):
        return False
    t[CRASHES] = s[CRASHES] + 1
    t[branch_at(c, s[p + BRANCH]) + STATUS] = STUCK
    go_idle(c, t, r)
    return True


# ---------------------------------------------------------------------------------------------------------
# Fork


def ForkUndeclared(c, s, t, b, i, child):
    """implicit_fork: the branch alone, where the resume that made it is seen as an event of its own."""
    if not Fork(c, s, t, b, i, child):
        return False
    t[branch_at(c, child) + DECLARED] = 0
    return True


def ParkInheriting(c, s, t, r):
    """fork_inherits_answer: a forked branch's gate has its parent's answer, without being asked."""
    if not ready(c, s, r, GATE):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    parent = s[branch_at(c, b) + PARENT]
    if parent == NONE:
        return False
    k = gate_of(c, s, r)
    k0 = gate_at(c, parent, s[p + STEP])
    if not is_running(c, s, b):
        return False
    if s[k + GATE_STATUS] != CLOSED:
        return False
    if s[k0 + GATE_ACKS] == 0:
        return False
    t[k + GATE_STATUS] = ANSWERED
    t[k + GATE_ACKS] = s[k0 + GATE_ACKS]
    for j in range(s[k0 + GATE_ACKS] * 3):
        t[k + GATE_HEAD + j] = s[k0 + GATE_HEAD + j]
    return True
