"""What judges the mutants is itself right: TLC says the same of every sort of state that is used."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from judges import WILD, Judge, instances, judges, outcomes

from pymodel.resume import actions, clauses, reading, transitions
from pymodel.resume.decoding import decode
from pymodel.resume.transitions import ACTIONS, LABEL_WIDTH
from resume_contract.agreement import action_name, oracle_for
from tlc_runner.values import Value


def reference_judges() -> list[Judge]:
    return [judge for judge in judges() if not judge.config.faults]


def test_next_offers_every_enabled_action_and_nothing_else() -> None:
    seen = 0
    for judge in reference_judges():
        c = judge.config
        rows = [bytearray(len(judge.states[0])) for _ in range(judge.fanout)]
        labels = [[0] * LABEL_WIDTH for _ in range(judge.fanout)]
        for state in judge.states:
            count = transitions.Next(c, state, rows, labels)
            offered = Counter(
                (ACTIONS[labels[i][0]], tuple(labels[i][1:]), bytes(rows[i])) for i in range(count)
            )
            enabled = Counter(
                (action, (*p, *[0] * (LABEL_WIDTH - 1 - len(p))), after)
                for action, parameters in instances(c).items()
                for p, after in outcomes(getattr(actions, action), c, state, parameters)
            )
            assert offered == enabled, judge.name
            seen += count
    assert seen > 20_000


def fits(judge: Judge, state: bytes) -> bool:
    """Is there room in the record for whatever may come next?"""
    c = judge.config
    full = any(state[reading.branch_at(c, b) + reading.LENGTH] == c.L for b in range(1, c.B + 1))
    longest = any(state[reading.branch_at(c, b) + reading.OWN_LENGTH] == c.L for b in range(1, c.B + 1))
    return not (full or longest)


@pytest.mark.slow
@pytest.mark.parametrize("name", WILD)
def test_tlc_agrees_on_states_that_no_behaviour_reaches(name: str) -> None:
    (judge,) = [j for j in judges() if j.name == f"{name} with 18 faults" and j.bounds.computations > 1]
    oracle = oracle_for(judge.program, judge.bounds)
    generator = random.Random(name)
    compared = 0
    for state in generator.sample([state for state in judge.states if fits(judge, state)], 120):
        known = decode(judge.config, state)
        mine: Counter[tuple[str, tuple[Value, ...]]] = Counter()
        overflown: set[str] = set()
        for action, parameters in instances(judge.config).items():
            for _, after in outcomes(getattr(actions, action), judge.config, state, parameters):
                if after[reading.OVERFLOW]:
                    overflown.add(action)
                else:
                    mine[action, key(decode(judge.config, after))] += 1
        theirs = Counter((action_name(tlc), key(after)) for tlc, _, after in oracle.successors(known))
        for counts in (mine, theirs):
            for edge in [edge for edge in counts if edge[0] in overflown]:
                del counts[edge]
        assert mine == theirs
        compared += mine.total()
    assert compared > 300


CLAUSES = ("PC", "EO", "FD1", "FD2", "CV", "COV", "COC", "RD", "FI")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Mixed", "Twice"])
def test_tlc_breaks_the_same_clauses(name: str) -> None:
    """The invariants themselves, in states where they hold and in others where they don't."""
    (judge,) = [j for j in judges() if j.name == f"{name} with 18 faults" and j.bounds.computations > 1]
    oracle = oracle_for(judge.program, judge.bounds)
    chosen = random.Random(name).sample(judge.states, 50)
    for clause in CLAUSES:
        chosen += [state for state in judge.states if not getattr(clauses, clause)(judge.config, state)][-8:]
    seen: set[tuple[str, bool]] = set()
    for state in dict.fromkeys(chosen):
        known = decode(judge.config, state)
        for clause in CLAUSES:
            mine = bool(getattr(clauses, clause)(judge.config, state))
            assert oracle.evaluate(clause, known) is mine, clause
            seen.add((clause, mine))
    assert seen == {(clause, holds) for clause in CLAUSES for holds in (True, False)}


def key(state: dict[str, Value]) -> tuple[Value, ...]:
    return tuple(state[name] for name in sorted(state))
