"""The invariants of ``Sequencer.tla``, and situations that some state should be in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymodel.sequencer.reading import (
    AIM,
    ASK,
    AT,
    COMMIT,
    COMPUTE,
    EFFECT,
    END,
    EPOCH,
    GATE,
    INSERT,
    INSERTS,
    KEYS,
    LENGTH,
    LOAD,
    LOOK,
    NONE,
    PARKED,
    PC,
    RECEIVE,
    RECORD,
    SEND,
    TAKE_OVER,
    UNIT,
    WRITE,
    current,
    row_at,
    runner_at,
    running,
    sealed,
    stage,
)

if TYPE_CHECKING:
    from pymodel.sequencer.config import Config

INVARIANTS = ("AimIsAhead", "EffectOnce", "ClaimedOnce")

SITUATIONS = (
    "Finished",
    "WaitsForAnAnswer",
    "TakenOver",
    "RowsBehindTheAim",
    "TwoInsert",
    "SendsAgain",
    "HoldsAnOldClaim",
    "CommitsTooLate",
    "AtAGateThatIsGone",
)


def aim_is_ahead(c: Config, s: Any, r: int) -> bool:
    """AimIsAhead, of one runner."""
    p = runner_at(c, r)
    pc = s[p + PC]
    at = s[p + AT]
    aim = s[p + AIM]
    if pc == LOOK:
        return bool(aim == END or aim >= at)
    if pc == COMMIT:
        return bool(aim == END)
    if pc in (ASK, INSERT, TAKE_OVER):
        return bool(aim == at or (aim == END and sealed(c, s, s[p + UNIT])))
    if pc in (COMPUTE, SEND, RECEIVE, RECORD):
        return bool(aim == at)
    return True


def Check(c: Config, s: Any, t: Any) -> int:
    """A bit for each invariant that is violated."""
    broken = 0
    for r in range(1, c.R + 1):
        if not aim_is_ahead(c, s, r):
            broken |= 1
    for x in range(1, c.S + 1):
        k = row_at(c, x)
        if c.kind[x] == EFFECT and (s[k + KEYS] > 1 or (s[k + WRITE] != NONE and s[k + KEYS] != 1)):
            broken |= 2
        if c.kind[x] == GATE and s[k + INSERTS] > 1:
            broken |= 4
    return broken


def Sometimes(c: Config, s: Any) -> int:
    """A bit for each situation that the state is in."""
    seen = 0
    if not running(c, s):
        seen |= 1
    for x in range(1, c.S + 1):
        if c.kind[x] == GATE:
            if stage(c, s, x) == PARKED:
                seen |= 2
            if s[row_at(c, x) + EPOCH] > s[row_at(c, x) + INSERTS]:
                seen |= 4
    inserting = 0
    for r in range(1, c.R + 1):
        p = runner_at(c, r)
        pc = s[p + PC]
        if pc == LOOK and s[p + AIM] != s[p + AT]:
            seen |= 8
        if pc == INSERT:
            inserting += 1
        if pc == SEND and s[row_at(c, s[p + AT]) + KEYS] > 0:
            seen |= 32
        if pc != LOAD and not current(c, s, r):
            seen |= 64
        if pc == COMMIT and s[LENGTH] != s[p + UNIT] - 1:
            seen |= 128
        if pc in (ASK, INSERT, TAKE_OVER) and sealed(c, s, s[p + UNIT]):
            seen |= 256
    if inserting > 1:
        seen |= 16
    return seen
