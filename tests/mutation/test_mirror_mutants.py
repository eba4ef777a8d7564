"""Every guard and every update of the mirror matters: a slip in any of them is caught.

The mirror's modules are mutated by program (`mutants.py`); a mutant is caught when an action, or Next, answers other
than the true one in one of the states of `judges.py`, on which TLC agrees with the true one.  Those that nothing can
tell from the truth are listed here, each with its reason.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest
from hunt import Hunt
from mutants import MODULES, Mutant, mutants_of

EQUIVALENT = {
    # reading
    "code: `for y in range(1, c.S + 1)`, `1` one less": "there is no step 0: it is no input of any",
    "outcome: `if fixed == NONE or seen < fixed`, `fixed == NONE or seen < fixed` without operand 2": (
        "computations are in order: the first with these inputs has the least outcome"
    ),
    "outcome: `if fixed == NONE or seen < fixed`, `seen < fixed` LtE": "to keep an equal one is to keep it",
    # actions
    **{
        f"note_computed: {change}": "no computation is kept twice, so two of them differ in some place before w"
        for change in (
            "`while j < w and t[before + j] == t[at + j]`, `j < w and t[before + j] == t[at + j]` without operand 1",
            "`while j < w and t[before + j] == t[at + j]`, `j < w` LtE",
            "`if j == w or t[before + j] < t[at + j]`, `j == w or t[before + j] < t[at + j]` without operand 1",
            "`if j == w or t[before + j] < t[at + j]`, `t[before + j] < t[at + j]` LtE",
        )
    },
    "note_content: `if u != NONE and u < c.unit_of[x]`, `u != NONE and u < c.unit_of[x]` without operand 1": (
        "no checkpoint is without a unit but where a trace asserts it"
    ),
    **{
        f"note_content: {change}": "of checkpoints in order the loop says the same"
        for change in (
            "`if in_order`, `in_order` never",
            "`in_order = counts_up(s, p + ENTRY_UNIT, c.entry, n, 1)`,"
            " `counts_up(s, p + ENTRY_UNIT, c.entry, n, 1)` is 0",
        )
    },
    "note_content: `gather(t, at, s, branch_at(c, b), c.sealed, c.inputs, row, 1, sealed)`, `sealed` one more": (
        "the step after these is written over it, or the outcome"
    ),
    "Commit: `if not arrives(c, s, b, u + 1, 0, NONE, x)`, `NONE` one more": (
        "takes step 1 for recorded, and that is never in a unit after the first"
    ),
    "Reject: `if s[p + PHASE] != HOLDS`, `s[p + PHASE] != HOLDS` never": (
        "only an outcome in hand is ever invalid; the guard stands for the reader, as in the TLA+"
    ),
    "Fork: `for a in range(1, child)`, `1` one more": "branch 1 is the root, and it exists",
    # transitions
    **{
        f"code_steps: {change}": "tries outcomes that the action itself refuses"
        for change in (
            "`o = outcome(c, s, s[p + BRANCH], s[p + STEP])`, `outcome(c, s, s[p + BRANCH], s[p + STEP])` is 0",
            "`o = outcome(c, s, s[p + BRANCH], s[p + STEP])`, `outcome(c, s, s[p + BRANCH], s[p + STEP])` is 0 (2)",
            "`if v == o or o == NONE`, `v == o or o == NONE` always",
            "`if v == o or o == NONE`, `v == o or o == NONE` always (2)",
            "`if s[k + APPLIED] != 0`, `s[k + APPLIED] != 0` always",
            "`o = int(s[k + ANSWER])`, `int(s[k + ANSWER])` is 0",
        )
    },
    **{
        f"arrivals_range: {change}": "tries steps that Arrivals itself refuses, or none as before"
        for change in (
            "`return (1, 1)`, `1` one more",
            "`return (1, 1)`, `1` one more (2)",
            "`return (1, 1)`, `1` is 0 (2)",
            "`return (c.first[u], c.first[u + 1])`, `c.first[u]` is 1",
        )
    },
    "environment_steps: `for u in range(1, c.U + 1)`, `1` one less": "there is no unit 0: it has no gate",
    "environment_steps: `for u in range(1, c.U + 1)`, `c.U + 1` one more": "there is no unit U + 1: it has no gate",
    "environment_steps: `for child in range(2, c.B + 1)`, `2` one less": "the root exists: Fork refuses it",
    "environment_steps: `for i in range(s[branch_at(c, b) + LENGTH] + 1)`, `s[branch_at(c, b) + LENGTH] + 1` one more": (
        "Fork refuses an index beyond the length"
    ),
}


# They read what stands before the first of a kind, or behind the last, as one more of it.  Whether that ever looks like
# one depends on the numbers of runners and steps, so these may be caught or not.
ACCIDENTAL = {
    "is_held: `for r in range(1, c.R + 1)`, `1` one less",
    "is_held: `for r in range(1, c.R + 1)`, `c.R + 1` one more",
    "code: `for other in range(1, c.B + 1)`, `1` one less",
}


@pytest.fixture(scope="module")
def hunt() -> Hunt:
    return Hunt()


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_mutant_is_caught_or_can_not_be(hunt: Hunt, module: ModuleType) -> None:
    mutants = mutants_of(module)
    judged = [mutant for mutant in mutants if mutant.name not in EQUIVALENT.keys() | ACCIDENTAL]
    assert [mutant.name for mutant in judged if hunt.caught(mutant) is None] == []
    # a wrong entry of the list would be caught early, too
    listed = [mutant for mutant in mutants if mutant.name in EQUIVALENT]
    assert [mutant.name for mutant in listed if hunt.caught(mutant, most=2000) is not None] == []
    assert len(judged) > 500


def test_the_list_of_equivalent_mutants_names_mutants() -> None:
    known = {mutant.name for module in MODULES for mutant in mutants_of(module)}
    assert EQUIVALENT.keys() | ACCIDENTAL <= known
    assert len(EQUIVALENT) + len(ACCIDENTAL) < len(known) / 50


def test_mutants_are_distinct_and_leave_no_function_out() -> None:
    for module in MODULES:
        mutants = mutants_of(module)
        assert len({mutant.name for mutant in mutants}) == len(mutants)
        functions = {
            node.name
            for node in ast.parse(inspect.getsource(module)).body
            if isinstance(node, ast.FunctionDef)
        }
        assert {mutant.function for mutant in mutants} == functions


def test_every_statement_of_an_action_is_changed_in_some_way() -> None:
    """Guards and updates: no `if`, assignment, call or answer is without a mutant."""
    for module in MODULES:
        heads = {mutant.name.split("`")[1] for mutant in mutants_of(module)}
        for function in ast.parse(inspect.getsource(module)).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.If | ast.While | ast.Assign | ast.Expr) and not (
                    isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                ):
                    assert ast.unparse(node).split("\n", 1)[0].rstrip(":") in heads


def test_the_unmutated_mirror_is_not_caught(hunt: Hunt) -> None:
    """Otherwise everything would be."""
    for function in ("outcome", "seal", "put"):
        hunt.mirror.names["kept"] = hunt.mirror.names[function]
        nothing = Mutant(function, "nothing is changed", compile(f"{function} = kept", "<same>", "exec"))
        assert hunt.caught(nothing) is None
