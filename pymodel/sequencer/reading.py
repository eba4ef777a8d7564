"""Reading the state: the record's layout, and the ``define`` block of ``Sequencer.tla``.

Functions take the configuration ``c`` (:class:`pymodel.sequencer.model.Config`) and the state ``s``, a sequence of
small integers.  Runners, units and steps count from 1; 0 is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymodel.sequencer.config import Config

# The head.  Checkpoints hold what was recorded, so that their number says what they are.
OVERFLOW = 0
CRASHES = 1
OVERRUNS = 2
LENGTH = 3
ROWS = 4

# A row of each step, from ROWS on: what was recorded, then what its kind has.
ROW_WIDTH = 6
WRITE = 0
RAN = 1  # pure
KEYS = 1  # effect
REPLY = 2
ASKED = 1  # gate
ANSWER = 2
EPOCH = 3
EXPIRED = 4
INSERTS = 5

# A runner, from c.runners on.
RUNNER_WIDTH = 7
PC = 0
UNIT = 1
AT = 2
OUT = 3
AIM = 4
LEASE_GATE = 5
LEASE_EPOCH = 6

# Where a runner is: its label.
LOAD = 0
LOOK = 1
ASK = 2
INSERT = 3
TAKE_OVER = 4
COMPUTE = 5
SEND = 6
RECEIVE = 7
RECORD = 8
COMMIT = 9

# How far a gate is.
CLOSED = 0
PARKED = 1
ANSWERED = 2
CLAIMED = 3
LAPSED = 4
CONSUMED = 5

# kinds of steps, as in pymodel.resume
PURE = 0
EFFECT = 1
GATE = 2

NONE = 0
END = 0


def runner_at(c: Config, r: int) -> int:
    """Where runner r is in the record."""
    return c.runners + (r - 1) * RUNNER_WIDTH


def row_at(c: Config, x: int) -> int:
    """Where the row of step x is."""
    return ROWS + (x - 1) * ROW_WIDTH


def running(c: Config, s: Any) -> bool:
    """Running"""
    return bool(s[LENGTH] < c.U)


def sealed(c: Config, s: Any, u: int) -> bool:
    """Sealed(u)"""
    return bool(s[LENGTH] >= u)


def stage(c: Config, s: Any, g: int) -> int:
    """Stage(g)"""
    k = row_at(c, g)
    if sealed(c, s, c.unit_of[g]):
        return CONSUMED
    if s[k + EPOCH] > 0:
        return LAPSED if s[k + EXPIRED] else CLAIMED
    if s[k + ANSWER] != NONE:
        return ANSWERED
    return PARKED if s[k + ASKED] else CLOSED


def code(c: Config, s: Any, x: int) -> int:
    """F(x, Content(x)), for the F of the MC module."""
    total = x
    for y in range(1, x):
        total += s[row_at(c, y) + WRITE] % 2
    return 1 + total % c.V


def current(c: Config, s: Any, r: int) -> bool:
    """Current(lease[r])"""
    p = runner_at(c, r)
    if s[p + LEASE_GATE] == NONE:
        return True
    return bool(s[p + LEASE_EPOCH] == s[row_at(c, s[p + LEASE_GATE]) + EPOCH])


def renewed(c: Config, s: Any, g: int) -> bool:
    """Renewed(g)"""
    for r in range(1, c.R + 1):
        p = runner_at(c, r)
        if s[p + LEASE_GATE] == g and s[p + LEASE_EPOCH] == s[row_at(c, g) + EPOCH]:
            return True
    return False


def passes(c: Config, s: Any, r: int) -> bool:
    """Does a recorded gate of its unit count as recorded for r?"""
    p = runner_at(c, r)
    return bool(s[p + LEASE_GATE] != NONE) or sealed(c, s, s[p + UNIT])


def first_open(c: Config, s: Any, u: int, passed: bool) -> int:
    """FirstOpen(writes, u, passed)"""
    for x in range(c.first[u], c.first[u + 1]):
        if s[row_at(c, x) + WRITE] == NONE or (c.kind[x] == GATE and not passed):
            return x
    return END


def following(c: Config, x: int) -> int:
    """Following(x)"""
    if x + 1 < c.first[c.unit_of[x] + 1]:
        return x + 1
    return END
