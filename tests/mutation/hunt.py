"""Which mutants does no judge catch?"""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from judges import Judge, instances, judges, outcomes, steps
from mutants import MODULES, Endless, Mirror, Mutant

from pymodel.resume import faults, faulty
from pymodel.resume.transitions import ACTIONS

__all__ = ["Hunt"]


@cache
def _calls() -> dict[str, set[str]]:
    """For each function of the mirror the functions that it calls, itself and through others."""
    direct: dict[str, set[str]] = {}
    for module in (*MODULES, faults, faulty):
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.FunctionDef):
                name = "FaultyNext" if module is faulty and node.name == "Next" else node.name
                direct[name] = {
                    call.func.id
                    for call in ast.walk(node)
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
                }
    for called in direct.values():
        todo = list(called)
        while todo:
            for name in direct.get(todo.pop(), ()):
                if name not in called:
                    called.add(name)
                    todo.append(name)
    return {name: called | {name} for name, called in direct.items()}


class Hunt:
    """Holds mutants against the true mirror, state by state.

    A mutant of an action, or of what an action reads with, is judged by each action that runs it, with all
    parameters; one of Next, or of what a fault that is on reads with, by Next's labelled successors.  It is caught at
    the first state where the answer isn't the true one or an exception rises.
    """

    def __init__(self) -> None:
        self.mirror = Mirror()
        self._judges = judges()
        self._order = list(_round_robin([range(len(judge.states)) for judge in self._judges]))
        # Next is slow, and most of it is judged by the walks: fewer states that nothing reaches
        self._order_of_next = [(j, i) for j, i in self._order if i < 400]
        self._next = [steps(judge) for judge in self._judges]
        self._instances = [instances(judge.config) for judge in self._judges]
        self._true: dict[tuple[int, int, str], object] = {}
        # where mutants of a function were caught before: they are looked at first
        self._killers: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def _answer(self, action: str, j: int, i: int) -> object:
        judge = self._judges[j]
        if action == "Next":
            name = "FaultyNext" if judge.config.faults else "Next"
            return self._next[j](self.mirror.names[name], judge.states[i])
        function = self.mirror.names[action]
        return outcomes(function, judge.config, judge.states[i], self._instances[j][action])

    def _expected(self, action: str, j: int, i: int) -> object:
        key = (j, i, action)
        if key not in self._true:
            self._true[key] = self._answer(action, j, i)
        return self._true[key]

    def caught(self, mutant: Mutant, most: int | None = None) -> tuple[Judge, int] | None:
        """The judge, and the number of the state, that tell a mutant from the truth; None: there is none.

        `most`: look at so many states at most.
        """
        asked = [action for action in ACTIONS if mutant.function in _calls()[action]]
        in_faults = mutant.function in _calls()["FaultyNext"]
        killers = self._killers[mutant.function]
        for j, i in (*killers[:20], *(self._order if asked else self._order_of_next)[:most]):
            self.mirror.refuel()
            by_next = not asked or (in_faults and self._judges[j].config.faults != 0)
            for action in (*asked, *(("Next",) if by_next else ())):
                expected = self._expected(action, j, i)
                with self.mirror.mutated(mutant):
                    try:
                        same = self._answer(action, j, i) == expected
                    except (
                        ArithmeticError,
                        LookupError,
                        NameError,
                        TypeError,
                        ValueError,
                        Endless,
                        RecursionError,
                    ):
                        same = False
                if not same:
                    if (j, i) in killers:
                        killers.remove((j, i))
                    killers.insert(0, (j, i))
                    return self._judges[j], i
        return None


def _round_robin(sizes: list[range]) -> Iterator[tuple[int, int]]:
    for i in range(max(map(len, sizes))):
        for j, size in enumerate(sizes):
            if i < len(size):
                yield j, i
