"""The clauses of the contract as invariants, and the "sometimes" properties that keep the checks from being vacuous.

Each clause is a function of ``c`` and ``s`` under its name in ``ResumeContract.tla``; :func:`Check` answers with one
bit for each that is broken, :func:`Sometimes` with one bit for each situation that occurs in the state.
"""

from pymodel.resume.actions import (
    Claim,
    Commit,
    Compute,
    Fire,
    Memo,
    Park,
    Record,
    Refuse,
    Reject,
    Stale,
    TakeOver,
)
from pymodel.resume.reading import (
    ABSENT,
    ACK_TO,
    ACK_VALUE,
    ACKED,
    ANSWER,
    ANSWERED,
    APPLIED,
    AT_COMMIT,
    BAD,
    BRANCH,
    COMPLETE,
    CONSUMED,
    DECLARED,
    DONE,
    EFFECT,
    ENTRY_FLAGS,
    ENTRY_OUT,
    ENTRY_UNIT,
    EPOCH,
    FAILED,
    GATE,
    GATE_ACKS,
    GATE_CLAIMS,
    GATE_EPOCH,
    GATE_HEAD,
    GATE_PASSED,
    GATE_STATUS,
    HOLDS,
    IDLE,
    INDEX,
    LEDGER_WIDTH,
    LENGTH,
    NONE,
    OWN_LENGTH,
    PARENT,
    PARKED,
    PHASE,
    PURE,
    READY,
    STATUS,
    STEP,
    UNIT,
    VALID,
    WORLD_WIDTH,
    available,
    branch_at,
    can_commit,
    ckpt_at,
    committing,
    computation_at,
    computed_at,
    gate_at,
    is_running,
    ledger_at,
    length,
    newest,
    outcome,
    run_at,
    unit_after,
    world_at,
)
from pymodel.rows import (
    all_are,
    counts_up,
    first_zero,
    last_of,
    none_above,
    same_bytes,
)


def own_at(c, b, i):
    """Where the i-th entry of own[b] is."""
    return branch_at(c, b) + c.own + (i - 1) * c.entry


def PC(c, s):
    """Prefix continuation: unit identities only.  An acknowledged commit stays."""
    for b in range(1, c.B + 1):
        q = branch_at(c, b)
        n = int(s[q + INDEX])
        m = int(s[q + LENGTH])
        if m < n:
            return False
        first = ckpt_at(c, b, 1) + ENTRY_UNIT
        if not same_bytes(s, first, q + c.prefix + ENTRY_UNIT, n, c.entry, 0):
            return False
        if not counts_up(s, first + n * c.entry, c.entry, m - n, unit_after(c, s, b, n)):
            return False
        own = own_at(c, b, 1)
        k = int(s[q + OWN_LENGTH])
        if n + k <= m and same_bytes(s, first + n * c.entry, own + ENTRY_UNIT, k, c.entry, 0):
            continue  # nearly always each is where it was put
        for at in range(own, own + k * c.entry, c.entry):
            if s[at + ENTRY_FLAGS] & ACKED and newest(c, s, b, s[at + ENTRY_UNIT]) == NONE:
                return False
    return True


def EO(c, s):
    """Effect exactly-once: applied at most once, and at least once if recorded or committed by this branch."""
    for b in range(1, c.B + 1):
        applied = world_at(c, b, 1) + APPLIED
        if not none_above(s, applied, WORLD_WIDTH, c.S, 1):
            return False
        x = first_zero(s, applied, WORLD_WIDTH, c.S, c.is_effect)
        if x == 0:
            continue
        own = own_at(c, b, 1) + ENTRY_UNIT
        n = s[branch_at(c, b) + OWN_LENGTH]
        if none_above(s, own, c.entry, n, c.unit_of[x] - 1) and all_are(
            s, ledger_at(c, b, x), LEDGER_WIDTH, c.S + 1 - x, NONE
        ):
            continue  # nearly always nothing from there on is committed, or recorded
        for y in range(x, c.S + 1):
            if c.is_effect[y] and s[applied + (y - 1) * WORLD_WIDTH] == 0:
                if s[ledger_at(c, b, y)] != NONE:
                    return False
                if last_of(s, own, c.entry, n, c.unit_of[y]) != NONE:
                    return False
    return True


def FD1(c, s):
    """Fork determinism 1: the starting prefix is unchanged, and nobody else's write is in the branch."""
    for b in range(1, c.B + 1):
        q = branch_at(c, b)
        n = int(s[q + INDEX])
        m = int(s[q + OWN_LENGTH])
        if s[q + LENGTH] < n:
            return False
        if not same_bytes(s, q + c.ckpt, q + c.prefix, n * c.entry, 1, 0):
            return False
        if s[q + LENGTH] - n == m and same_entries(c, s, ckpt_at(c, b, n + 1), own_at(c, b, 1), m):
            continue  # nearly always
        k = 1
        for i in range(n + 1, s[q + LENGTH] + 1):
            while k <= m and not same_entries(c, s, ckpt_at(c, b, i), own_at(c, b, k), 1):
                k += 1
            if k > m:
                return False
            k += 1
    return True


def same_entries(c, s, p, q, n):
    """Are n checkpoints from p on the same as those from q on, acknowledged or not?"""
    for j in range(c.entry):
        ignored = ACKED if j == ENTRY_FLAGS else 0
        if not same_bytes(s, p + j, q + j, n, c.entry, ignored):
            return False
    return True


def same_outcomes(c, s, p, q):
    """Do the checkpoints at p and at q, of the same unit, have the same outcomes?"""
    return same_bytes(s, p + ENTRY_OUT, q + ENTRY_OUT, c.entry - ENTRY_OUT, 1, 0)


def same_past(c, s, a, b, u):
    """Is all that came before unit u, and the value passed at every gate up to it, the same in branches a and b?"""
    for w in range(1, u):
        i = newest(c, s, a, w)
        j = newest(c, s, b, w)
        if i == NONE or j == NONE or not same_outcomes(c, s, ckpt_at(c, a, i), ckpt_at(c, b, j)):
            return False
    for w in range(1, u + 1):
        g = c.gate_in[w]
        if g != NONE and s[gate_at(c, a, g) + GATE_PASSED] != s[gate_at(c, b, g) + GATE_PASSED]:
            return False
    return True


def is_sound(c, s, b, i):
    """Is the i-th checkpoint of branch b there, valid and complete?"""
    return i != NONE and s[ckpt_at(c, b, i) + ENTRY_FLAGS] == VALID | COMPLETE


def FD2(c, s):
    """Fork determinism 2: the same unit, with all before it the same, has the same outcomes."""
    for a in range(1, c.B + 1):
        for b in range(a + 1, c.B + 1):
            for u in range(1, c.U + 1):
                i = newest(c, s, a, u)
                j = newest(c, s, b, u)
                if (
                    is_sound(c, s, a, i)
                    and is_sound(c, s, b, j)
                    and not same_outcomes(c, s, ckpt_at(c, a, i), ckpt_at(c, b, j))
                    and same_past(c, s, a, b, u)
                ):
                    return False
    return True


def CV(c, s):
    """Checkpoint validity: every checkpoint is valid and complete."""
    for b in range(1, c.B + 1):
        if not all_are(s, ckpt_at(c, b, 1) + ENTRY_FLAGS, c.entry, length(c, s, b), VALID | COMPLETE):
            return False
    return True


def COV(c, s):
    """Consume-once, value: one acknowledged delivery, to this branch's gate; it stays, and it is what passed."""
    for b in range(1, c.B + 1):
        for i in range(c.many[GATE]):
            k = gate_at(c, b, c.gates[i])
            n = s[k + GATE_ACKS]
            if n > 1:
                return False
            if n == 1 and (s[k + GATE_HEAD + ACK_TO] != b or s[k + GATE_STATUS] < ANSWERED):
                return False
            if s[k + GATE_CLAIMS] > 0 and (n == 0 or s[k + GATE_PASSED] != s[k + GATE_HEAD + ACK_VALUE]):
                return False
    return True


def COC(c, s):
    """Consume-once, consumption: claimed at most once; take-overs don't count."""
    for b in range(1, c.B + 1):
        claims = branch_at(c, b) + c.gate + GATE_CLAIMS
        if not none_above(s, claims, c.gate_width, c.many[GATE], 1):
            return False
    return True


def RD(c, s):
    """Recovery determinism: the same branch, step and inputs have one valid outcome."""
    for b in range(1, c.B + 1):
        if none_above(s, branch_at(c, b) + c.computed, 1, c.many[PURE], 1):
            continue
        for i in range(c.many[PURE]):
            x = c.pures[i]
            for k in range(2, s[computed_at(c, b, x)] + 1):
                # computations are kept in order: those with the same inputs are neighbours
                if same_bytes(
                    s, computation_at(c, b, x, k), computation_at(c, b, x, k - 1), c.reads[x], 1, 0
                ):
                    return False
    return True


def FI(c, s):
    """Fork intent: every branch that exists was declared."""
    for b in range(1, c.B + 1):
        if s[branch_at(c, b) + STATUS] != ABSENT and not s[branch_at(c, b) + DECLARED]:
            return False
    return True


def can_move(c, s, t, r):
    """Is a step of runner r enabled?  t is scratch."""
    p = run_at(c, r)
    o = NONE
    if s[p + PHASE] == READY and s[p + STEP] != AT_COMMIT and c.kind[s[p + STEP]] != GATE:
        o = outcome(c, s, s[p + BRANCH], s[p + STEP])
        if o == NONE:
            o = 1
        if c.kind[s[p + STEP]] == EFFECT:
            k = world_at(c, s[p + BRANCH], s[p + STEP])
            if s[k + APPLIED] and Fire(c, s, t, r, s[k + ANSWER + 1], s[k + ANSWER]):
                return True
    if Compute(c, s, t, r, 0, o) or Fire(c, s, t, r, 0, o):
        return True
    for x in range(c.S + 1):
        if Record(c, s, t, r, x) or Memo(c, s, t, r, x) or Commit(c, s, t, r, x):
            return True
    if Park(c, s, t, r) or Claim(c, s, t, r) or TakeOver(c, s, t, r) or Refuse(c, s, t, r):
        return True
    return Stale(c, s, t, r) or Reject(c, s, t, r)


def NeverStuck(c, s, t):
    """A runner that isn't idle always has a way on, other than to crash.  t is scratch.

    It guards the reference, whose steps these are; with a fault on it isn't judged (see faulty.py).
    """
    for r in range(1, c.R + 1):
        if s[run_at(c, r) + PHASE] != IDLE and not can_move(c, s, t, r):
            return False
    return True


CLAUSES = ("PC", "EO", "FD", "CV", "CO-V", "CO-C", "RD", "FI")
INVARIANTS = (*CLAUSES, "NeverStuck")


def broken_clauses(c, s):
    """One bit for each broken clause, in the order of CLAUSES."""
    broken = 0
    if not PC(c, s):
        broken |= 1
    if not EO(c, s):
        broken |= 2
    if not (FD1(c, s) and FD2(c, s)):
        broken |= 4
    if not CV(c, s):
        broken |= 8
    if not COV(c, s):
        broken |= 16
    if not COC(c, s):
        broken |= 32
    if not RD(c, s):
        broken |= 64
    if not FI(c, s):
        broken |= 128
    return broken


def Check(c, s, t):
    """One bit for each broken invariant, in the order of INVARIANTS.  t is scratch, as wide as s."""
    broken = broken_clauses(c, s)
    if not NeverStuck(c, s, t):
        broken |= 256
    return broken


# ---------------------------------------------------------------------------------------------------------
# Situations that must occur, or a clause would hold for want of anything to judge


def is_waiting(c, s, b):
    """Waiting(b): every available step of the branch is a parked gate."""
    u = unit_after(c, s, b, length(c, s, b))
    if not is_running(c, s, b) or u > c.U:
        return False
    some = False
    for x in range(c.first[u], c.first[u + 1]):
        if available(c, s, b, u, 0, NONE, x):
            if c.kind[x] != GATE or s[gate_at(c, b, x) + GATE_STATUS] != PARKED:
                return False
            some = True
    return some


SOMETIMES = (
    "RaceAtGate",
    "FiredThenCrashed",
    "RepeatAtSink",
    "TookOver",
    "OldOwnerActs",
    "ConsumedGateCopied",
    "ForkAtStart",
    "ForkBornDone",
    "SamePastInTwoBranches",
    "BranchesDiverge",
    "RefusedCommit",
    "RefusedRecord",
    "Recomputation",
    "ReusedRecord",
    "InvalidInHand",
    "BranchFailed",
    "AnswerTooLate",
    "WaitingForAnswer",
    "ConsumedGate",
)


def Sometimes(c, s):
    """One bit for each situation of SOMETIMES that occurs in the state."""
    seen = 0
    for r in range(1, c.R + 1):
        p = run_at(c, r)
        if s[p + PHASE] == IDLE:
            continue
        b = s[p + BRANCH]
        x = s[p + STEP]
        if committing(c, s, r):
            if not can_commit(c, s, r):
                seen |= 1 << 10
            continue
        if s[p + PHASE] == HOLDS and s[p + BAD]:
            seen |= 1 << 14
        if s[p + EPOCH] != 0:
            g = c.gate_in[s[p + UNIT]]
            if s[p + EPOCH] != s[gate_at(c, b, g) + GATE_EPOCH]:
                seen |= 1 << 4
                if s[p + PHASE] == HOLDS and not s[p + BAD]:
                    seen |= 1 << 11
        if c.kind[x] != GATE and s[ledger_at(c, b, x)] != NONE:
            seen |= 1 << 13
        if s[p + PHASE] == READY:
            if c.kind[x] == EFFECT and s[world_at(c, b, x) + APPLIED] != 0:
                seen |= 1 << 2
            if c.kind[x] == PURE and s[computed_at(c, b, x)] != 0:
                seen |= 1 << 12
            if c.kind[x] == GATE:
                for q in range(r + 1, c.R + 1):
                    at = run_at(c, q)
                    if s[at + PHASE] == READY and s[at + BRANCH] == b and s[at + STEP] == x:
                        seen |= 1 << 0
    for b in range(1, c.B + 1):
        q = branch_at(c, b)
        if s[q + STATUS] == ABSENT:
            continue
        if s[q + STATUS] == FAILED:
            seen |= 1 << 15
        if is_waiting(c, s, b):
            seen |= 1 << 17
        for x in range(1, c.S + 1):
            if c.kind[x] == EFFECT and s[world_at(c, b, x) + APPLIED] != 0 and s[ledger_at(c, b, x)] == NONE:
                held = False
                for r in range(1, c.R + 1):
                    p = run_at(c, r)
                    if s[p + PHASE] == HOLDS and s[p + BRANCH] == b and s[p + STEP] == x:
                        held = True
                if not held:
                    seen |= 1 << 1
            if c.kind[x] == GATE:
                k = gate_at(c, b, x)
                if s[k + GATE_EPOCH] > 1:
                    seen |= 1 << 3
                if s[k + GATE_STATUS] == CONSUMED:
                    seen |= 1 << 18
                    if s[k + GATE_CLAIMS] == 0:
                        seen |= 1 << 5
                if s[k + GATE_ACKS] != 0 and is_running(c, s, b):
                    seen |= 1 << 16
        if s[q + PARENT] != NONE:
            if s[q + INDEX] == 0:
                seen |= 1 << 6
            if s[q + INDEX] == s[q + LENGTH] and s[q + STATUS] == DONE:
                seen |= 1 << 7
            for u in range(1, c.U + 1):
                i = newest(c, s, s[q + PARENT], u)
                j = newest(c, s, b, u)
                if i != NONE and j > s[q + INDEX]:
                    if same_past(c, s, s[q + PARENT], b, u):
                        seen |= 1 << 8
                    if not same_outcomes(c, s, ckpt_at(c, s[q + PARENT], i), ckpt_at(c, b, j)):
                        seen |= 1 << 9
    return seen
