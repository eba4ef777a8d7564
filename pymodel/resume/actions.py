"""The actions of the reference, in the order of ``ResumeContract.tla`` and under the same names.

Each is a function of the configuration ``c``, the state ``s``, the next state ``t`` (on entry equal to ``s``) and
the action's parameters.  It answers False, with ``t`` untouched, where the action isn't enabled; else it writes the
primed variables into ``t`` and answers True.  Guards come first, updates after, as in the TLA+.  The budgets that
``MCResumeContract.tla`` adds to an action are the lines that name a ``c.max_...``.

``next`` (here ``x``) is where the runner goes: one of ``Arrivals``; it is a parameter, so that an action and its
parameters have one successor at most.
"""

from pymodel.resume.reading import (
    ABSENT,
    ACK_ID,
    ACK_TO,
    ACK_VALUE,
    ACK_WIDTH,
    ACKED,
    ANSWER,
    ANSWER_BAD,
    ANSWERED,
    APPLIED,
    AT_COMMIT,
    BAD,
    BASE,
    BRANCH,
    CLAIMED,
    COMPLETE,
    CONSUMED,
    CRASHES,
    DECLARED,
    DONE,
    EFFECT,
    ENTRY_FLAGS,
    ENTRY_OUT,
    ENTRY_UNIT,
    EPOCH,
    EXPIRIES,
    FAILED,
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
    INVALID,
    LENGTH,
    NONE,
    OUT,
    OVERFLOW,
    OWN_LENGTH,
    PARENT,
    PARKED,
    PHASE,
    PURE,
    READY,
    RUN_WIDTH,
    RUNNING,
    STATUS,
    STEP,
    UNIT,
    VALID,
    arrives,
    branch_at,
    can_claim,
    can_commit,
    can_park,
    can_record,
    can_take_over,
    ckpt_at,
    committing,
    computation_at,
    computed_at,
    gate_at,
    gate_of,
    is_held,
    is_running,
    ledger_at,
    length,
    outcome,
    ready,
    run_at,
    same_inputs,
    unit_after,
    world_at,
)
from pymodel.rows import counts_up, gather

# What would not fit: the numbers that byte 0 of a state may carry.
FULL_COMPUTED = 1
FULL_ACKS = 2
FULL_EPOCH = 3
FULL_APPLIED = 4


# ---------------------------------------------------------------------------------------------------------
# Pieces of updates


def arrive(c, t, r, b, u, n, x, e):
    """run'[r] = Arrive(b, u, n, x, e)"""
    p = run_at(c, r)
    t[p + PHASE] = READY
    t[p + BRANCH] = b
    t[p + UNIT] = u
    t[p + BASE] = n
    t[p + STEP] = x
    t[p + OUT] = NONE
    t[p + BAD] = 0
    t[p + EPOCH] = e


def go_idle(c, t, r):
    """run'[r] = Idle"""
    p = run_at(c, r)
    for k in range(RUN_WIDTH):
        t[p + k] = 0


def hold(c, t, r, o, bad):
    """run'[r] has outcome o in hand."""
    p = run_at(c, r)
    t[p + PHASE] = HOLDS
    t[p + OUT] = o
    t[p + BAD] = bad


def note_computed(c, s, t, b, x, o):
    """computed' has <b, x, Content(b, x), o>; the computations of a step are kept in order."""
    p = computed_at(c, b, x)
    n = int(s[p])
    w = c.reads[x] + 1
    first = computation_at(c, b, x, 1)
    for k in range(1, n + 1):
        if s[first + k * w - 1] == o and same_inputs(c, s, b, x, k):
            return
    if n == c.K:
        t[OVERFLOW] = FULL_COMPUTED
        return
    t[p] = n + 1
    at = first + n * w
    note_content(c, s, t, b, x, at)
    t[at + w - 1] = o
    while at > first:
        before = at - w
        j = 0
        while j < w and t[before + j] == t[at + j]:
            j += 1
        if j == w or t[before + j] < t[at + j]:
            return
        for i in range(w):
            kept = t[before + i]
            t[before + i] = t[at + i]
            t[at + i] = kept
        at = before


def note_content(c, s, t, b, x, at):
    """Write Content(b, x) from `at` on, up to step c.reads[x]: `content`, with one look at each checkpoint."""
    row = x * c.stride
    n = length(c, s, b)
    p = ckpt_at(c, b, 1)
    in_order = counts_up(s, p + ENTRY_UNIT, c.entry, n, 1)  # as nearly always
    sealed = c.first[min(n + 1, c.unit_of[x])] - 1 if in_order else 0
    gather(t, at, s, branch_at(c, b), c.sealed, c.inputs, row, 1, sealed)
    gather(t, at + sealed, s, branch_at(c, b), c.recorded, c.inputs, row, sealed + 1, c.reads[x])
    if in_order:
        return
    for _ in range(n):
        u = s[p + ENTRY_UNIT]
        if u != NONE and u < c.unit_of[x]:
            for y in range(c.first[u], c.first[u + 1]):
                t[at + y - 1] = s[p + ENTRY_OUT + c.place[y]] if c.inputs[row + y] else NONE
        p += c.entry


def seal(c, s, t, b, u, flags, acked):
    """Append the checkpoint that seals unit u to ckpt[b], and to own[b].  False: there is no room."""
    q = branch_at(c, b)
    n = length(c, s, b)
    m = int(s[q + OWN_LENGTH])
    if n == c.L or m == c.L:
        return False
    t[q + LENGTH] = n + 1
    t[q + OWN_LENGTH] = m + 1
    valid = VALID
    for x in range(c.first[u], c.first[u + 1]):
        if s[ledger_at(c, b, x) + 1]:
            valid = 0
    at = ckpt_at(c, b, n + 1)
    own = q + c.own + m * c.entry
    t[at + ENTRY_UNIT] = u
    t[at + ENTRY_FLAGS] = valid | flags
    t[own + ENTRY_UNIT] = u
    t[own + ENTRY_FLAGS] = valid | flags | acked
    for x in range(c.first[u], c.first[u + 1]):
        t[at + ENTRY_OUT + c.place[x]] = s[ledger_at(c, b, x)]
        t[own + ENTRY_OUT + c.place[x]] = s[ledger_at(c, b, x)]
    return True


def acknowledge(c, s, t, b, g, d, v, first):
    """gate'[b][g].acks has <b, d, v>, at its head or at its end."""
    k = gate_at(c, b, g)
    n = int(s[k + GATE_ACKS])
    if n == c.A:
        t[OVERFLOW] = FULL_ACKS
        return
    at = k + GATE_HEAD + n * ACK_WIDTH
    if first:
        at = k + GATE_HEAD
        for j in range(n * ACK_WIDTH):
            t[at + ACK_WIDTH + j] = s[at + j]
    t[at + ACK_TO] = b
    t[at + ACK_ID] = d
    t[at + ACK_VALUE] = v
    t[k + GATE_ACKS] = n + 1


def own_epoch(c, s, t, r, k):
    """A claim or a take-over gives gate k, and runner r, the next epoch."""
    if s[k + GATE_EPOCH] == 255:
        t[OVERFLOW] = FULL_EPOCH
        return
    t[k + GATE_EPOCH] = s[k + GATE_EPOCH] + 1
    t[run_at(c, r) + EPOCH] = s[k + GATE_EPOCH] + 1


def within_invalid(c, s, bad):
    """May an outcome still be chosen invalid?"""
    return bad == 0 or s[INVALID] < c.max_invalid


# ---------------------------------------------------------------------------------------------------------
# What runners do


def Load(c, s, t, r, b, x):
    """Read the newest checkpoint.  Any number of runners may load one branch."""
    if s[run_at(c, r) + PHASE] != IDLE:
        return False
    if not is_running(c, s, b):
        return False
    n = length(c, s, b)
    u = unit_after(c, s, b, n)
    if not arrives(c, s, b, u, 0, NONE, x):
        return False
    arrive(c, t, r, b, u, n, x, 0)
    return True


def Compute(c, s, t, r, bad, o):
    """Run a pure step; `bad` is the environment's choice of an invalid outcome."""
    if not ready(c, s, r, PURE):
        return False
    if not within_invalid(c, s, bad):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    w = outcome(c, s, b, x)
    if o != w and w != NONE:
        return False
    t[INVALID] = s[INVALID] + bad
    hold(c, t, r, o, bad)
    if not bad:
        note_computed(c, s, t, b, x, o)
    return True


def Fire(c, s, t, r, bad, o):
    """Send an effect to the sink, under the key of the logical step <b, x>: a repeat isn't applied again."""
    if not ready(c, s, r, EFFECT):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    x = s[p + STEP]
    k = world_at(c, b, x)
    if s[k + APPLIED] == 0:
        if not within_invalid(c, s, bad):
            return False
        w = outcome(c, s, b, x)
        if o != w and w != NONE:
            return False
        t[INVALID] = s[INVALID] + bad
        t[k + APPLIED] = 1
        t[k + ANSWER] = o
        t[k + ANSWER_BAD] = bad
    elif s[k + ANSWER] != o or s[k + ANSWER_BAD] != bad:
        return False
    hold(c, t, r, o, bad)
    return True


def Record(c, s, t, r, x):
    """The outcome in hand becomes durable, once: what is recorded stays."""
    p = run_at(c, r)
    if s[p + PHASE] != HOLDS:
        return False
    if s[p + BAD]:
        return False
    if not can_record(c, s, r):
        return False
    b = s[p + BRANCH]
    if not arrives(c, s, b, s[p + UNIT], s[p + EPOCH], s[p + STEP], x):
        return False
    k = ledger_at(c, b, s[p + STEP])
    if s[k] == NONE:
        t[k] = s[p + OUT]
    arrive(c, t, r, b, s[p + UNIT], s[p + BASE], x, s[p + EPOCH])
    return True


def Memo(c, s, t, r, x):
    """The step is recorded already: reuse that, whatever is in hand."""
    p = run_at(c, r)
    if s[p + STEP] == AT_COMMIT:
        return False
    if c.kind[s[p + STEP]] == GATE:
        return False
    b = s[p + BRANCH]
    if s[ledger_at(c, b, s[p + STEP])] == NONE:
        return False
    if not arrives(c, s, b, s[p + UNIT], s[p + EPOCH], NONE, x):
        return False
    arrive(c, t, r, b, s[p + UNIT], s[p + BASE], x, s[p + EPOCH])
    return True


def Commit(c, s, t, r, x):
    """Append the checkpoint, by compare-and-set on the length and the claim's epoch; consume the gate."""
    if not committing(c, s, r):
        return False
    if not can_commit(c, s, r):
        return False
    p = run_at(c, r)
    b = s[p + BRANCH]
    u = s[p + UNIT]
    if u == c.U:
        if x != AT_COMMIT:
            return False
    elif not arrives(c, s, b, u + 1, 0, NONE, x):
        return False
    if not seal(c, s, t, b, u, COMPLETE, ACKED):
        return False
    g = c.gate_in[u]
    if g != NONE:
        t[gate_at(c, b, g) + GATE_STATUS] = CONSUMED
    if u == c.U:
        t[branch_at(c, b) + STATUS] = DONE
        go_idle(c, t, r)
    else:
        arrive(c, t, r, b, u + 1, s[p + BASE] + 1, x, 0)
    return True


def Park(c, s, t, r):
    """Open the gate for an answer, and leave."""
    if not ready(c, s, r, GATE):
        return False
    if not can_park(c, s, r):
        return False
    t[gate_of(c, s, r) + GATE_STATUS] = PARKED
    go_idle(c, t, r)
    return True


def Claim(c, s, t, r):
    """One atomic insert before anything behind the gate runs."""
    if not ready(c, s, r, GATE):
        return False
    if not can_claim(c, s, r):
        return False
    k = gate_of(c, s, r)
    v = s[k + GATE_HEAD + ACK_VALUE]
    t[k + GATE_STATUS] = CLAIMED
    t[k + GATE_CLAIMS] = s[k + GATE_CLAIMS] + 1
    t[k + GATE_PASSED] = v
    own_epoch(c, s, t, r, k)
    hold(c, t, r, v, 0)
    return True


def TakeOver(c, s, t, r):
    """An expired claim passes on, with its value, to a higher epoch."""
    if not ready(c, s, r, GATE):
        return False
    if not can_take_over(c, s, r):
        return False
    k = gate_of(c, s, r)
    t[k + GATE_EXPIRED] = 0
    own_epoch(c, s, t, r, k)
    hold(c, t, r, s[k + GATE_PASSED], 0)
    return True


def Refuse(c, s, t, r):
    """At a gate that can't be parked, claimed or taken over: go away."""
    if not ready(c, s, r, GATE):
        return False
    if can_park(c, s, r):
        return False
    if can_claim(c, s, r):
        return False
    if can_take_over(c, s, r):
        return False
    go_idle(c, t, r)
    return True


def Stale(c, s, t, r):
    """The store refuses a write that comes too late."""
    p = run_at(c, r)
    if not (
        (s[p + PHASE] == HOLDS and not s[p + BAD] and not can_record(c, s, r))
        or (committing(c, s, r) and not can_commit(c, s, r))
    ):
        return False
    go_idle(c, t, r)
    return True


def Reject(c, s, t, r):
    """An invalid outcome is never stored: a pure step is tried again in place, an effect's branch fails."""
    p = run_at(c, r)
    if s[p + PHASE] != HOLDS:
        return False
    if not s[p + BAD]:
        return False
    if c.kind[s[p + STEP]] == PURE:
        t[p + PHASE] = READY
        t[p + OUT] = NONE
        t[p + BAD] = 0
    else:
        t[branch_at(c, s[p + BRANCH]) + STATUS] = FAILED
        go_idle(c, t, r)
    return True


# ---------------------------------------------------------------------------------------------------------
# What the environment does


def Deliver(c, s, t, b, g, d, v):
    """The first answer to a parked gate is accepted; a repeated or a refused one is no step."""
    if not is_running(c, s, b):
        return False
    k = gate_at(c, b, g)
    if s[k + GATE_STATUS] != PARKED:
        return False
    t[k + GATE_STATUS] = ANSWERED
    acknowledge(c, s, t, b, g, d, v, True)
    return True


def Expire(c, s, t, b, g):
    """The lease of a claim ends; it may happen to a live owner."""
    k = gate_at(c, b, g)
    if s[k + GATE_STATUS] != CLAIMED:
        return False
    if s[k + GATE_EXPIRED]:
        return False
    if is_held(c, s, b, g):
        if s[EXPIRIES] >= c.max_expiries:
            return False
        t[EXPIRIES] = s[EXPIRIES] + 1
    t[k + GATE_EXPIRED] = 1
    return True


def Crash(c, s, t, r):
    """A process dies."""
    if s[run_at(c, r) + PHASE] == IDLE:
        return False
    if s[CRASHES] >= c.max_crashes:
        return False
    t[CRASHES] = s[CRASHES] + 1
    go_idle(c, t, r)
    return True


def Fork(c, s, t, b, i, child):
    """A declared fork of branch b after its first i checkpoints."""
    if s[branch_at(c, b) + STATUS] == ABSENT:
        return False
    if s[branch_at(c, child) + STATUS] != ABSENT:
        return False
    if i > length(c, s, b):
        return False
    for a in range(1, child):
        if not c.free and s[branch_at(c, a) + STATUS] == ABSENT:
            return False
    branch_off(c, s, t, b, i, child)
    t[branch_at(c, child) + DECLARED] = 1
    return True


def branch_off(c, s, t, b, i, child):
    """ckpt', origin', gate' and status' of a fork; copied gates are consumed, with the value that passed."""
    q = branch_at(c, child)
    t[q + PARENT] = b
    t[q + INDEX] = i
    t[q + LENGTH] = i
    for j in range(i * c.entry):
        e = s[branch_at(c, b) + c.ckpt + j]
        t[q + c.ckpt + j] = e
        t[q + c.prefix + j] = e
    for j in range(1, i + 1):
        g = c.gate_in[s[ckpt_at(c, b, j) + ENTRY_UNIT]]
        if g != NONE:
            t[gate_at(c, child, g) + GATE_STATUS] = CONSUMED
            t[gate_at(c, child, g) + GATE_PASSED] = s[gate_at(c, b, g) + GATE_PASSED]
    t[q + STATUS] = RUNNING
    if unit_after(c, s, b, i) > c.U:
        t[q + STATUS] = DONE
