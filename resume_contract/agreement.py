"""Do TLC and the mirror have the same transition relation?  Two ways to ask, both exact where they look.

:func:`compare_graphs` compares the whole labelled state graph, state by state and edge by edge; :func:`walk`
asks both for the successors of states on random walks, however large the model is.  TLC's side is the TLA+
itself, run by TLC; the mirror's side are its plain functions.  Transitions are compared as multisets: a step
that one of them has in two ways and the other in one is a difference.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pymodel.engine.values import changed, render_value
from pymodel.resume.layout import Bounds
from pymodel.resume.program import PROGRAMS, Program
from pymodel.resume.stepping import Stepper
from pymodel.resume.tla_constants import assignments, program_definitions
from pymodel.resume.transitions import ACTIONS
from tlc_runner import state_graph
from tlc_runner.oracle import SpecOracle
from tlc_runner.values import Value

__all__ = [
    "INVARIANTS",
    "SPECS",
    "Difference",
    "GraphReport",
    "Size",
    "WalkReport",
    "action_name",
    "compare_graphs",
    "model_text",
    "oracle_for",
    "walk",
    "write_model",
]

SPECS = Path(__file__).resolve().parents[1] / "specs" / "tla"
"""The folder of ``ResumeContract.tla`` and ``MCResumeContract.tla``."""

INVARIANTS = ("TypeOK", "BudgetsOK", "PC", "EO", "FD1", "FD2", "CV", "COV", "COC", "RD", "FI", "NeverStuck")
"""The invariants of a configuration, by their names in the TLA+."""

State = Mapping[str, Value]


class Difference(NamedTuple):
    """A transition that TLC and the mirror don't have equally often, or a state that only one reaches."""

    state: State
    """Where it starts."""
    action: str
    """Its action; "" if the whole state is in question."""
    successor: State | None
    """Where it leads; None if the whole state is in question."""
    tlc: int
    """How often TLC has it."""
    mirror: int
    """How often the mirror has it."""

    def describe(self) -> str:
        """The difference in one line."""
        counts = f"TLC {self.tlc}, mirror {self.mirror}"
        if self.successor is None:
            return f"state {render_value(self.state)}: {counts}"
        steps = changed(self.state, self.successor)
        what = ", ".join(f"{place}: {render_value(old)} -> {render_value(new)}" for place, old, new in steps)
        return f"{self.action} ({what or 'no change'}): {counts}, in state {render_value(self.state)}"


class Size(NamedTuple):
    """The three numbers of a search: initial states have depth 1 and count as generated."""

    distinct: int
    generated: int
    depth: int


@dataclass(frozen=True)
class GraphReport:
    """What :func:`compare_graphs` found.

    Attributes:
        tlc, mirror: the sizes of the two graphs.
        actions: transitions by action, in the mirror.
        differences: the first few; none: the graphs are equal.
    """

    tlc: Size
    mirror: Size
    actions: dict[str, int]
    differences: tuple[Difference, ...]

    @property
    def agree(self) -> bool:
        """Are the graphs, and all three numbers, equal?"""
        return not self.differences and self.tlc == self.mirror


@dataclass(frozen=True)
class WalkReport:
    """What :func:`walk` found.

    Attributes:
        states: different states whose successors were compared.
        transitions: transitions compared (the mirror's).
        actions: transitions compared by action (the mirror's); an action that never occurred is there with 0.
        restarts: how often the walk began again, at an end or after `length` steps.
        differences: all those of the first state where the two differ; none: they agree everywhere.
    """

    states: int
    transitions: int
    actions: dict[str, int]
    restarts: int
    differences: tuple[Difference, ...]

    @property
    def agree(self) -> bool:
        """Were the successors of every state the same, action by action?"""
        return not self.differences


def action_name(name: str) -> str:
    """The mirror's name of an action that TLC calls `name`: without the prefix of the MC module.

    A fault's step has the name of the action from which it deviates.
    """
    plain = name.removeprefix("MC").removeprefix("May")
    if plain == "Outlived":
        return "Stale"
    return max((action for action in ACTIONS if plain.startswith(action)), key=len, default=plain)


def model_text(program: Program, bounds: Bounds, invariants: Iterable[str] = INVARIANTS) -> tuple[str, str]:
    """Module and configuration of a program and bounds: the texts of ``Bounded.tla`` and ``Bounded.cfg``.

    The module extends ``MCResumeContract`` by the program, so any program will do; `length`, `computations`
    and `applied` are bounds of the mirror's record alone and don't occur.
    """
    name = "Bounded"
    module = "\n".join(
        [
            f"---- MODULE {name} ----",
            "EXTENDS MCResumeContract",
            *program_definitions(program, name),
            "====",
            "",
        ]
    )
    lines = [
        "SPECIFICATION MCSpec",
        "CONSTANTS",
        *(f"  {line}" for line in assignments(program, bounds, name)),
        *(f"INVARIANT {invariant}" for invariant in invariants),
        "CHECK_DEADLOCK FALSE",
    ]
    return module, "\n".join(lines) + "\n"


def write_model(
    program: Program, bounds: Bounds, folder: Path, invariants: Iterable[str] = INVARIANTS
) -> tuple[Path, Path]:
    """Write ``Bounded.tla`` and ``Bounded.cfg`` into `folder`; their paths.

    TLC needs `SPECS` in its `module_path` to read them.
    """
    module, config = folder / "Bounded.tla", folder / "Bounded.cfg"
    for path, text in zip((module, config), model_text(program, bounds, tuple(invariants)), strict=True):
        path.write_text(text, encoding="utf-8")
    return module, config


@contextmanager
def _written(program: Program, bounds: Bounds) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="resume-contract-") as folder:
        yield write_model(program, bounds, Path(folder))


def oracle_for(program: Program | str, bounds: Bounds, *, specs: Path = SPECS) -> SpecOracle:
    """TLC's next-state relation of a program (or the name of one of `PROGRAMS`) within bounds.

    Raises:
        TLCError: TLC, Java or the modules in `specs` can't be used.
    """
    with _written(_program(program), bounds) as (module, config):
        return SpecOracle(module, config, module_path=[specs])


def walk(
    program: Program | str,
    bounds: Bounds,
    *,
    states: int = 1000,
    seed: int = 0,
    length: int = 200,
    oracle: SpecOracle | None = None,
    stepper: Stepper | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> WalkReport:
    """Compare the successors of at least `states` different states on random walks.

    The action is chosen first, then one of its steps, so that rare actions are met as often as those with
    many parameters.  The first state at which the two differ ends the walk.

    Args:
        program, bounds: the model.
        states: how many different states to compare, fewer only if the walks meet no more of them.
        seed: the same seed gives the same walks.
        length: steps after which a walk starts again.
        oracle, stepper: use these instead of new ones for the model.
        on_progress: called with the number of states compared so far.

    Raises:
        TLCError: TLC, Java or the spec can't be used.
        CapacityError: a state doesn't fit the mirror's record.
    """
    program = _program(program)
    oracle = oracle or oracle_for(program, bounds)
    stepper = stepper or Stepper(program, bounds)
    generator = random.Random(seed)
    actions = dict.fromkeys(ACTIONS, 0)
    first = stepper.initial
    (start,) = oracle.initial_states()
    if stepper.decode(first) != start:
        return WalkReport(1, 0, actions, 0, (Difference(stepper.decode(first), "", None, 0, 1),))
    compared: set[bytes] = set()
    state, known = first, start
    taken = restarts = idle = 0
    while len(compared) < states and idle < 100 * length:
        steps = stepper.successors(state)
        mine = [(step.action, _key(stepper.decode(step.state))) for step in steps]
        answers = [(action_name(name), after) for name, _, after in oracle.successors(known)]
        theirs = {(action, _key(after)): after for action, after in answers}
        if state in compared:
            idle += 1
        else:
            idle = 0
            compared.add(state)
            for action, _ in mine:
                actions[action] += 1
            differences = _compare(
                known, Counter((name, _key(after)) for name, after in answers), Counter(mine)
            )
            if differences:
                return WalkReport(len(compared), sum(actions.values()), actions, restarts, differences)
            if on_progress is not None:
                on_progress(len(compared))
        taken += 1
        if not steps or taken > length:
            state, known, taken = first, start, 0
            restarts += 1
            continue
        action = generator.choice(sorted({name for name, _ in mine}))
        chosen = generator.choice([i for i, (name, _) in enumerate(mine) if name == action])
        # TLC's own value of the state spares a conversion
        state, known = steps[chosen].state, theirs[mine[chosen]]
    return WalkReport(len(compared), sum(actions.values()), actions, restarts, ())


def compare_graphs(
    program: Program | str,
    bounds: Bounds,
    *,
    model: tuple[Path, Path] | None = None,
    specs: Path = SPECS,
    stepper: Stepper | None = None,
    most: int = 10,
) -> GraphReport:
    """Compare all states and all labelled transitions of a small model: TLC's dump against the mirror's.

    Args:
        program, bounds: the model.
        model: module and configuration of the same model; by default they are written for this.
        specs: the folder of the modules.
        stepper: use this instead of a new one for the model.
        most: differences to report.

    Raises:
        TLCError: TLC, Java or the spec can't be used.
        CapacityError: a state doesn't fit the mirror's record.
    """
    program = _program(program)
    with nullcontext(model) if model is not None else _written(program, bounds) as (module, config):
        graph = state_graph(module, config, module_path=[specs])
    numbers: dict[_Key, int] = {}
    states: list[State] = []

    def number(state: State) -> int:
        found = numbers.setdefault(_key(state), len(states))
        if found == len(states):
            states.append(state)
        return found

    keys = {node: number(state) for node, state in graph.nodes(data="state")}
    theirs: Counter[_Edge] = Counter()
    for source, target, data in graph.edges(data=True):
        theirs[keys[source], action_name(data["action"]), keys[target]] += data["count"]

    stepper = stepper or Stepper(program, bounds)
    mine: Counter[_Edge] = Counter()
    known = {stepper.initial: number(stepper.decode(stepper.initial))}
    queue = deque([(stepper.initial, 1)])
    depth = 0
    while queue:
        record, depth = queue.popleft()
        for step in stepper.successors(record):
            if step.state not in known:
                known[step.state] = number(stepper.decode(step.state))
                queue.append((step.state, depth + 1))
            mine[known[record], step.action, known[step.state]] += 1

    differences: list[Difference] = []
    starts = Counter(keys[node] for node, initial in graph.nodes(data="initial") if initial)
    # as multisets: two records of one state would be a slip of the mirror's, too
    for theirs_of, mine_of in (
        (starts, Counter([known[stepper.initial]])),
        (Counter(keys.values()), Counter(known.values())),
    ):
        for at in theirs_of.keys() | mine_of.keys():
            if theirs_of[at] != mine_of[at]:
                differences.append(Difference(states[at], "", None, theirs_of[at], mine_of[at]))
    for edge in theirs.keys() | mine.keys():
        if theirs[edge] != mine[edge]:
            source, action, target = edge
            differences.append(Difference(states[source], action, states[target], theirs[edge], mine[edge]))
    actions = dict.fromkeys(ACTIONS, 0)
    for (_, action, _), count in mine.items():
        actions[action] += count
    result = graph.graph["result"]
    return GraphReport(
        Size(result.distinct, result.generated, result.depth),
        Size(len(known), 1 + mine.total(), depth),
        actions,
        tuple(differences[:most]),
    )


_Key = tuple[Value, ...]
_Edge = tuple[int, str, int]


def _key(state: State) -> _Key:
    return tuple(state[name] for name in sorted(state))


def _program(program: Program | str) -> Program:
    return PROGRAMS[program] if isinstance(program, str) else program


def _compare(
    state: State, theirs: Counter[tuple[str, _Key]], mine: Counter[tuple[str, _Key]]
) -> tuple[Difference, ...]:
    names = sorted(state)
    return tuple(
        Difference(state, action, dict(zip(names, key, strict=True)), theirs[action, key], mine[action, key])
        for action, key in theirs.keys() | mine.keys()
        if theirs[action, key] != mine[action, key]
    )
