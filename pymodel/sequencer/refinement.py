"""Does the sequencer refine the contract?  Asked of the two mirrors, state by state.

:class:`Refinement` maps a record of the sequencer to one of :mod:`pymodel.resume`, by the mapping that stands in
``Sequencer.tla``, and looks whether a transition of the one is a transition of the other, or none.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pymodel.errors import CapacityError
from pymodel.resume import layout as contract_layout
from pymodel.resume import reading as contract
from pymodel.resume.program import Program
from pymodel.resume.stepping import Stepper
from pymodel.sequencer import reading as at
from pymodel.sequencer import steps
from pymodel.sequencer.config import Config
from pymodel.sequencer.model import Bounds, build, describe

__all__ = ["Refinement", "Report", "Slip", "check_refinement"]

_STAGES = {
    at.CLOSED: contract.CLOSED,
    at.PARKED: contract.PARKED,
    at.ANSWERED: contract.ANSWERED,
    at.CLAIMED: contract.CLAIMED,
    at.LAPSED: contract.CLAIMED,
    at.CONSUMED: contract.CONSUMED,
}


class Slip(NamedTuple):
    """A transition of the sequencer that is neither a step of the contract nor a stuttering one."""

    state: bytes
    label: tuple[int, ...]
    successor: bytes

    def describe(self) -> str:
        """Which step it is."""
        return f"{describe(self.label)} is no step of the contract"


@dataclass(frozen=True)
class Report:
    """What :func:`check_refinement` found.

    Attributes:
        distinct, generated, depth: the search, in TLC's numbers.
        starts: does the initial state stand for the contract's?
        stuttering: transitions that the contract doesn't see.
        actions: the other transitions, by the contract's action (the first by name where two do the same).
        slip: the first transition, breadth first, that the contract doesn't have; None: it refines.
    """

    distinct: int
    generated: int
    depth: int
    starts: bool
    stuttering: int
    actions: dict[str, int]
    slip: Slip | None

    @property
    def refines(self) -> bool:
        """Is every behaviour of the sequencer one of the contract?"""
        return self.starts and self.slip is None


class Refinement:
    """The mapping, for one program within bounds.

    Raises:
        ModelError: the program or the bounds fit one of the two models only.
    """

    def __init__(self, program: Program, bounds: Bounds) -> None:
        self.model = build(program, bounds)
        self._c: Config = Config(
            *(v.tolist() if isinstance(v, np.ndarray) else v for v in self.model.config)  # quicker uncompiled
        )
        # Where the sequencer is wrong, gates and effects may have more than the contract has room for: a byte.
        self._contract = Stepper(
            program,
            contract_layout.Bounds(
                runners=bounds.runners,
                answers=bounds.answers,
                values=bounds.values,
                crashes=bounds.crashes,
                expiries=bounds.overruns,
            ),
        )
        self._rows = [bytearray(self.model.width) for _ in range(self.model.fanout)]
        self._labels = [[0] * steps.LABEL_WIDTH for _ in range(self.model.fanout)]
        self._allowed: dict[bytes, dict[bytes, str]] = {}

    @property
    def initial(self) -> bytes:
        """The sequencer's initial state."""
        return bytes(self.model.width)

    @property
    def contract_initial(self) -> bytes:
        """The contract's initial state."""
        return self._contract.initial

    def successors(self, state: bytes) -> Iterator[tuple[tuple[int, ...], bytes]]:
        """The sequencer's transitions out of a state, as label and successor.

        Raises:
            CapacityError: a successor doesn't fit the record.
        """
        count = steps.Next(self._c, state, self._rows, self._labels)
        found = [(tuple(self._labels[i]), bytes(self._rows[i])) for i in range(count)]
        for label, after in found:
            if after[0]:
                raise CapacityError(self.model.name, self.model.overflow[after[0]])
            yield label, after

    def image(self, state: bytes) -> bytes:
        """The state of the contract that a state of the sequencer stands for."""
        c, s = self._c, state
        k = self._contract.config
        t = bytearray(self._contract.layout.width)
        t[contract.CRASHES] = s[at.CRASHES]
        t[contract.EXPIRIES] = s[at.OVERRUNS]
        for r in range(1, c.R + 1):
            p, q = at.runner_at(c, r), contract.run_at(k, r)
            pc = s[p + at.PC]
            if pc == at.LOAD:
                continue
            holds = pc in (at.RECEIVE, at.RECORD)
            t[q + contract.PHASE] = contract.HOLDS if holds else contract.READY
            t[q + contract.BRANCH] = 1
            t[q + contract.UNIT] = s[p + at.UNIT]
            t[q + contract.BASE] = s[p + at.UNIT] - 1
            t[q + contract.STEP] = s[p + at.AIM]
            pending = pc == at.RECEIVE
            t[q + contract.OUT] = s[at.row_at(c, s[p + at.AT]) + at.REPLY] if pending else s[p + at.OUT]
            t[q + contract.EPOCH] = s[p + at.LEASE_EPOCH]
        branch = contract.branch_at(k, 1)
        t[branch + contract.STATUS] = contract.RUNNING if at.running(c, s) else contract.DONE
        t[branch + contract.DECLARED] = 1
        t[branch + contract.LENGTH] = t[branch + contract.OWN_LENGTH] = s[at.LENGTH]
        for u in range(1, s[at.LENGTH] + 1):
            for start, flags in ((k.ckpt, 0), (k.own, contract.ACKED)):
                entry = branch + start + (u - 1) * k.entry
                t[entry + contract.ENTRY_UNIT] = u
                t[entry + contract.ENTRY_FLAGS] = contract.VALID | contract.COMPLETE | flags
                for x in range(c.first[u], c.first[u + 1]):
                    t[entry + contract.ENTRY_OUT + k.place[x]] = s[at.row_at(c, x) + at.WRITE]
        for x in range(1, c.S + 1):
            row = at.row_at(c, x)
            t[contract.ledger_at(k, 1, x)] = s[row + at.WRITE]
            if c.kind[x] == at.EFFECT:
                q = contract.world_at(k, 1, x)
                t[q + contract.APPLIED] = s[row + at.KEYS]
                t[q + contract.ANSWER] = s[row + at.REPLY]
            elif c.kind[x] == at.GATE:
                q = contract.gate_at(k, 1, x)
                t[q + contract.GATE_STATUS] = _STAGES[at.stage(c, s, x)]
                t[q + contract.GATE_EPOCH] = s[row + at.EPOCH]
                t[q + contract.GATE_EXPIRED] = s[row + at.EXPIRED]
                t[q + contract.GATE_CLAIMS] = s[row + at.INSERTS]
                answer = s[row + at.ANSWER]
                if s[row + at.EPOCH]:
                    t[q + contract.GATE_PASSED] = answer
                if answer != at.NONE:
                    t[q + contract.GATE_ACKS] = 1
                    head = q + contract.GATE_HEAD
                    t[head + contract.ACK_TO] = 1
                    t[head + contract.ACK_ID] = t[head + contract.ACK_VALUE] = answer
            elif s[row + at.RAN]:
                t[contract.computed_at(k, 1, x)] = 1
                q = contract.computation_at(k, 1, x, 1)
                for y in range(1, x):
                    t[q + y - 1] = s[at.row_at(c, y) + at.WRITE]
                t[q + k.reads[x]] = at.code(c, s, x)
        return bytes(t)

    def action(self, before: bytes, after: bytes) -> str | None:
        """The contract's action from one of its states to another: "" for stuttering, None for none."""
        if before == after:
            return ""
        allowed = self._allowed.get(before)
        if allowed is None:
            found = sorted((step.action, step.state) for step in self._contract.successors(before))
            allowed = self._allowed[before] = {state: action for action, state in reversed(found)}
        return allowed.get(after)


def check_refinement(program: Program, bounds: Bounds) -> Report:
    """Search the sequencer, and ask of each transition whether the contract has it; stops at the first it hasn't.

    Raises:
        ModelError: the program or the bounds fit one of the two models only.
        CapacityError: a state doesn't fit its record.
    """
    mapping = Refinement(program, bounds)
    level = [mapping.initial]
    images = {mapping.initial: mapping.image(mapping.initial)}
    starts = images[mapping.initial] == mapping.contract_initial
    generated, depth, stuttering = 1, 0, 0
    actions: Counter[str] = Counter()
    slip: Slip | None = None
    while level and slip is None:
        depth += 1
        following = []
        for state in level:
            for label, after in mapping.successors(state):
                generated += 1
                image = images.get(after)
                if image is None:
                    image = images[after] = mapping.image(after)
                    following.append(after)
                action = mapping.action(images[state], image)
                if action is None:
                    slip = Slip(state, label, after)
                    break
                if action:
                    actions[action] += 1
                else:
                    stuttering += 1
            if slip is not None:
                break
        level = following
    return Report(len(images), generated, depth, starts, stuttering, dict(actions), slip)
