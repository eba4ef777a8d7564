"""Reading the state: the record's layout, and the operators of the same part of ``ResumeContract.tla``.

The functions are plain Python over a state ``s`` (a sequence of small integers: ``uint8`` array when compiled,
``bytearray`` when not) and a configuration ``c`` (:class:`pymodel.resume.layout.Config`).  Runners, branches,
units, steps and list positions count from 1, as in the TLA+; 0 is none.
"""

from pymodel.rows import last_of

# Where things are in the record.  Byte 0 says which field would not fit (see OVERFLOW names in layout.py).
OVERFLOW = 0
CRASHES = 1
EXPIRIES = 2
INVALID = 3
HISTORY = 4  # the clauses of c.sought that were broken by now: only where some are sought
RUNS = 5

# run[r]: RUN_WIDTH bytes each, from RUNS on
RUN_WIDTH = 8
PHASE = 0
BRANCH = 1
UNIT = 2
BASE = 3
STEP = 4
OUT = 5
BAD = 6
EPOCH = 7

# phases of a runner
IDLE = 0
READY = 1
HOLDS = 2
CHECKED = 3  # only under check_then_claim: has read the gate, has yet to write

# a branch's block; what follows is at c.ckpt, c.prefix, c.own, c.ledger, c.world, c.gate, c.computed and c.computations
STATUS = 0
DECLARED = 1
PARENT = 2
INDEX = 3
LENGTH = 4
OWN_LENGTH = 5
BRANCH_HEAD = 6

# status of a branch
ABSENT = 0
RUNNING = 1
FAILED = 2
UNCERTAIN = 3
DONE = 4
STUCK = 5  # only under stuck_running: reads "running" and can't be loaded again

# a checkpoint: unit, flags, the outcomes of the unit's steps in their order
ENTRY_UNIT = 0
ENTRY_FLAGS = 1
ENTRY_OUT = 2
VALID = 1
COMPLETE = 2
ACKED = 4  # in own[b] only

# ledger[b][x] is <out, bad>; world[b][x] is <applied, answer, bad>
LEDGER_WIDTH = 2
WORLD_WIDTH = 3
APPLIED = 0
ANSWER = 1
ANSWER_BAD = 2

# gate[b][g]: then c.A acknowledged deliveries of ACK_WIDTH bytes: <to, id, value>
GATE_STATUS = 0
GATE_EPOCH = 1
GATE_EXPIRED = 2
GATE_CLAIMS = 3
GATE_PASSED = 4
GATE_ACKS = 5
GATE_HEAD = 6
ACK_WIDTH = 3
ACK_TO = 0
ACK_ID = 1
ACK_VALUE = 2

# status of a gate
CLOSED = 0
PARKED = 1
ANSWERED = 2
CLAIMED = 3
CONSUMED = 4

# kinds of steps
PURE = 0
EFFECT = 1
GATE = 2

NONE = 0
AT_COMMIT = 0


def run_at(c, r):
    """Where runner r is in the record."""
    return RUNS + (r - 1) * RUN_WIDTH


def branch_at(c, b):
    """Where the block of branch b is."""
    return c.branches + (b - 1) * c.block


def ckpt_at(c, b, i):
    """Where the i-th checkpoint of branch b is."""
    return c.branches + (b - 1) * c.block + c.ckpt + (i - 1) * c.entry


def ledger_at(c, b, x):
    """Where ledger[b][x] is."""
    return c.branches + (b - 1) * c.block + c.ledger + (x - 1) * LEDGER_WIDTH


def world_at(c, b, x):
    """Where world[b][x] is."""
    return c.branches + (b - 1) * c.block + c.world + (x - 1) * WORLD_WIDTH


def gate_at(c, b, g):
    """Where gate[b][g] is."""
    return c.branches + (b - 1) * c.block + c.gate + c.gate_slot[g] * c.gate_width


def computed_at(c, b, x):
    """Where the number of computations of pure step x in branch b is."""
    return c.branches + (b - 1) * c.block + c.computed + c.pure_slot[x]


def computation_at(c, b, x, k):
    """Where the k-th of them is, <inputs, out>: what it read of steps 1 to c.reads[x], and its outcome.

    They are in order.
    """
    return c.branches + (b - 1) * c.block + c.computations[x] + (k - 1) * (c.reads[x] + 1)


# ---------------------------------------------------------------------------------------------------------
# Reading the state


def length(c, s, b):
    """Len(ckpt[b])"""
    return int(s[branch_at(c, b) + LENGTH])


def newest(c, s, b, u):
    """The position of the newest checkpoint of unit u in branch b; 0: there is none (then ~Has(b, u))."""
    return last_of(s, ckpt_at(c, b, 1) + ENTRY_UNIT, c.entry, length(c, s, b), u)


def unit_after(c, s, b, k):
    """The unit that follows the first k checkpoints of branch b."""
    if k == 0:
        return 1
    return int(s[ckpt_at(c, b, k) + ENTRY_UNIT]) + 1


def content(c, s, b, x, y):
    """Content(b, x)[y]: what step x of branch b reads of step y, one of its inputs; 0 if y isn't one."""
    if not c.inputs[x * c.stride + y]:
        return NONE
    if c.unit_of[y] < c.unit_of[x]:
        i = newest(c, s, b, c.unit_of[y])
        if i != NONE:
            return int(s[ckpt_at(c, b, i) + ENTRY_OUT + c.place[y]])
    return int(s[ledger_at(c, b, y)])


def same_inputs(c, s, b, x, k):
    """Does the k-th computation of pure step x in branch b have the inputs that x would read now?"""
    return same_inputs_elsewhere(c, s, b, x, b, k)


def same_inputs_elsewhere(c, s, b, x, other, k):
    """The same of the k-th computation of x in another branch."""
    p = computation_at(c, other, x, k)
    for y in range(1, c.reads[x] + 1):
        if s[p + y - 1] != content(c, s, b, x, y):
            return False
    return True


def code(c, s, b, x):
    """F(x, Content(b, x)); 0 where the code isn't known (a trace's): then any value may be it."""
    if c.free:
        if c.kind[x] == PURE:
            for other in range(1, c.B + 1):
                for k in range(1, s[computed_at(c, other, x)] + 1):
                    if same_inputs_elsewhere(c, s, b, x, other, k):
                        return int(s[computation_at(c, other, x, k) + c.reads[x]])
        return NONE
    total = x
    for y in range(1, c.S + 1):
        total += content(c, s, b, x, y) % 2
    return 1 + total % c.V


def outcome(c, s, b, x):
    """Outcome(b, x): what the code yields, unless a deviation has fixed something else in this branch."""
    o = code(c, s, b, x)
    if c.kind[x] != PURE:
        return o
    fixed = NONE
    for k in range(1, s[computed_at(c, b, x)] + 1):
        if same_inputs(c, s, b, x, k):
            seen = int(s[computation_at(c, b, x, k) + c.reads[x]])
            if seen == o:
                return o
            if fixed == NONE or seen < fixed:
                fixed = seen
    if fixed != NONE:
        return fixed
    return o


def recorded_for(c, s, b, x, e, also):
    """Is step x of branch b recorded for a runner that holds epoch e?  `also`: a step being recorded just now.

    Until its unit is committed, a gate is so only for one that holds an epoch of its claim.
    """
    if s[ledger_at(c, b, x)] == NONE and x != also:
        return False
    return c.kind[x] != GATE or e != 0 or newest(c, s, b, c.unit_of[x]) != NONE


def available(c, s, b, u, e, also, x):
    """Is step x in Available(b, u, e)?"""
    if recorded_for(c, s, b, x, e, also):
        return False
    for y in range(c.first[u], c.first[u + 1]):
        if c.after[x * c.stride + y] and not recorded_for(c, s, b, y, e, also):
            return False
    return True


def arrives(c, s, b, u, e, also, x):
    """Is x in Arrivals(b, u, e)?  x = 0 is Commit, for when no step is available."""
    if u > c.U:
        return False
    if x != AT_COMMIT:
        return c.unit_of[x] == u and available(c, s, b, u, e, also, x)
    for y in range(c.first[u], c.first[u + 1]):
        if available(c, s, b, u, e, also, y):
            return False
    return True


def is_running(c, s, b):
    """Running(b)"""
    return s[branch_at(c, b) + STATUS] == RUNNING


def ready(c, s, r, kind):
    """Is r ready at a step of this kind?"""
    p = run_at(c, r)
    return s[p + PHASE] == READY and s[p + STEP] != AT_COMMIT and c.kind[s[p + STEP]] == kind


def committing(c, s, r):
    """Is r at Commit?"""
    p = run_at(c, r)
    return s[p + PHASE] == READY and s[p + STEP] == AT_COMMIT


def gate_of(c, s, r):
    """Where the gate is that r stands at."""
    p = run_at(c, r)
    return gate_at(c, s[p + BRANCH], s[p + STEP])


def epoch_current(c, s, r):
    """Is the claim that r holds, if it holds one, still the current one?"""
    p = run_at(c, r)
    if s[p + EPOCH] == 0:
        return True
    return s[p + EPOCH] == s[gate_at(c, s[p + BRANCH], c.gate_in[s[p + UNIT]]) + GATE_EPOCH]


def can_record(c, s, r):
    """Would the store take what r holds?"""
    return is_running(c, s, s[run_at(c, r) + BRANCH]) and epoch_current(c, s, r)


def can_commit(c, s, r):
    """Would the store take r's commit?"""
    p = run_at(c, r)
    b = s[p + BRANCH]
    if not is_running(c, s, b):
        return False
    if length(c, s, b) != s[p + BASE]:
        return False
    if c.gate_in[s[p + UNIT]] == NONE:
        return True
    return s[p + EPOCH] != 0 and epoch_current(c, s, r)


def can_park(c, s, r):
    """May r park the gate it stands at?"""
    return is_running(c, s, s[run_at(c, r) + BRANCH]) and s[gate_of(c, s, r) + GATE_STATUS] == CLOSED


def can_claim(c, s, r):
    """May r claim the gate it stands at?"""
    return is_running(c, s, s[run_at(c, r) + BRANCH]) and s[gate_of(c, s, r) + GATE_STATUS] == ANSWERED


def can_take_over(c, s, r):
    """May r take over the claim of the gate it stands at?"""
    k = gate_of(c, s, r)
    return (
        is_running(c, s, s[run_at(c, r) + BRANCH])
        and s[k + GATE_STATUS] == CLAIMED
        and s[k + GATE_EXPIRED] != 0
    )


def is_held(c, s, b, g):
    """Does a runner hold the current claim of gate g of branch b?"""
    epoch = s[gate_at(c, b, g) + GATE_EPOCH]
    for r in range(1, c.R + 1):
        p = run_at(c, r)
        if s[p + BRANCH] == b and s[p + UNIT] == c.unit_of[g] and s[p + EPOCH] != 0 and s[p + EPOCH] == epoch:
            return True
    return False
