"""Mutants of the mirror, made by program from the sources of its modules.

Every guard and every update is changed in every way listed in :class:`_Mutator`, one at a time.  A mutant is a changed
function that takes the place of the true one in a copy of the modules; the copy is one namespace, so that whoever
calls the function calls the mutant.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from pymodel.resume import actions, faults, faulty, reading, transitions

__all__ = ["Endless", "Mirror", "Mutant", "mutants_of"]

MODULES = (reading, actions, transitions)
_FLIPPED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
}


class Endless(Exception):
    """A mutant's loop doesn't end."""


@dataclass(frozen=True)
class Mutant:
    """A changed function.

    Attributes:
        function: its name.
        name: what was changed; unique, and the same wherever the line stands.
        code: the changed function's definition, compiled.
    """

    function: str
    name: str
    code: CodeType


@dataclass(frozen=True)
class _Change:
    """A place in a function and what is done there: `path` leads to the node, field by field."""

    path: tuple[tuple[str, int | None], ...]
    what: str
    apply: Callable[[ast.AST], ast.AST | None]


class _Mutator:
    """All changes of one function definition.

    - a guard (an `if`, or the condition of a conditional) is never, always or wrongly taken;
    - an operand of `and` or `or` is left out or negated;
    - a comparison is turned round or moved by one;
    - an update (an assignment, also to a local name) is left out, or its value is one more, 0 or 1;
    - a call that writes is left out;
    - what is returned is negated, or one more;
    - an argument of a call is one more; a `range` begins or ends one earlier or later.
    """

    def __init__(self, definition: ast.FunctionDef, constants: dict[str, Any]) -> None:
        self.definition = definition
        self._constants = constants

    def _is(self, node: ast.expr, value: int) -> bool:
        """Is an expression this constant, by its name or as it stands?  Then to put it there changes nothing."""
        if isinstance(node, ast.Name):
            found = self._constants.get(node.id)
        else:
            found = node.value if isinstance(node, ast.Constant) else None
        return found is not None and type(found) is not bool and found == value

    def changes(self) -> Iterator[_Change]:
        for field, value in ast.iter_fields(self.definition):
            if field == "body":
                for i, statement in enumerate(value):
                    yield from self._statement(statement, (("body", i),))

    def _statement(self, node: ast.stmt, path: tuple[tuple[str, int | None], ...]) -> Iterator[_Change]:
        if isinstance(node, ast.If | ast.While):
            yield from self._condition(node.test, (*path, ("test", None)))
        elif isinstance(node, ast.For):
            yield from self._expression(node.iter, (*path, ("iter", None)))
        elif isinstance(node, ast.Return) and node.value is not None:
            yield from self._returned(node.value, (*path, ("value", None)))
        elif isinstance(node, ast.Assign | ast.AugAssign):
            yield _Change(path, "left out", lambda _: ast.Pass())
            if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Tuple):
                yield from self._values(node.value, (*path, ("value", None)))
            yield from self._expression(node.value, (*path, ("value", None)))
            if isinstance(node, ast.Assign):
                for i, target in enumerate(node.targets):
                    if isinstance(target, ast.Subscript):
                        yield from self._expression(target.slice, (*path, ("targets", i), ("slice", None)))
        elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            yield _Change(path, "left out", lambda _: ast.Pass())
            yield from self._expression(node.value, (*path, ("value", None)))
        elif isinstance(node, ast.Continue | ast.Break):
            yield _Change(path, "left out", lambda _: ast.Pass())
        for field in ("body", "orelse"):
            for i, statement in enumerate(getattr(node, field, [])):
                yield from self._statement(statement, (*path, (field, i)))

    def _condition(self, node: ast.expr, path: tuple[tuple[str, int | None], ...]) -> Iterator[_Change]:
        yield _Change(path, "never", lambda _: ast.Constant(False))
        yield _Change(path, "always", lambda _: ast.Constant(True))
        yield _Change(path, "negated", _negated)
        yield from self._expression(node, path)

    def _returned(self, node: ast.expr, path: tuple[tuple[str, int | None], ...]) -> Iterator[_Change]:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield _Change(path, "negated", _negated)
            return
        if isinstance(node, ast.Compare | ast.BoolOp) or _is_question(node):
            yield from self._condition(node, path)
            return
        if isinstance(node, ast.Tuple):
            for i, element in enumerate(node.elts):
                yield from self._values(element, (*path, ("elts", i)))
            return
        yield from self._values(node, path)
        yield from self._expression(node, path)

    def _values(self, node: ast.expr, path: tuple[tuple[str, int | None], ...]) -> Iterator[_Change]:
        if isinstance(node, ast.Compare | ast.BoolOp):
            return
        yield _Change(path, "one more", _one_more)
        for value in (0, 1):
            if not self._is(node, value):
                yield _Change(path, f"is {value}", lambda _, value=value: ast.Constant(value))  # type: ignore[misc]

    def _expression(self, node: ast.expr, path: tuple[tuple[str, int | None], ...]) -> Iterator[_Change]:
        if isinstance(node, ast.BoolOp):
            for i, operand in enumerate(node.values):
                yield _Change(path, f"without operand {i + 1}", lambda n, i=i: _without(n, i))  # type: ignore[misc]
                yield _Change((*path, ("values", i)), "negated", _negated)
                yield from self._expression(operand, (*path, ("values", i)))
        elif isinstance(node, ast.UnaryOp):
            yield from self._expression(node.operand, (*path, ("operand", None)))
        elif isinstance(node, ast.Compare):
            for other in _FLIPPED.get(type(node.ops[0]), ()):
                yield _Change(path, f"{other.__name__}", lambda n, other=other: _compared(n, other))  # type: ignore[misc]
            yield from self._expression(node.left, (*path, ("left", None)))
            yield from self._expression(node.comparators[0], (*path, ("comparators", 0)))
        elif isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Add | ast.Sub) and not self._is(node.right, 0):
                yield _Change(path, "+ and - swapped", _swapped)
            yield from self._expression(node.left, (*path, ("left", None)))
            yield from self._expression(node.right, (*path, ("right", None)))
        elif isinstance(node, ast.Subscript):
            yield from self._expression(node.slice, (*path, ("slice", None)))
        elif isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            for i, argument in enumerate(node.args):
                if isinstance(argument, ast.Name) and argument.id in {"c", "s", "t", "out", "labels", "n"}:
                    continue
                is_flag = isinstance(argument, ast.Constant) and isinstance(argument.value, bool)
                if called != "int" and not is_flag and not isinstance(argument, ast.Subscript):
                    yield _Change((*path, ("args", i)), "one more", _one_more)
                    if called == "range":
                        yield _Change((*path, ("args", i)), "one less", _one_less)
                yield from self._expression(argument, (*path, ("args", i)))


def _is_question(node: ast.expr) -> bool:
    if not (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "undo"
    return True


def _negated(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.expr)
    if isinstance(node, ast.Constant):
        return ast.Constant(not node.value)
    return ast.UnaryOp(ast.Not(), node)


def _one_more(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.expr)
    return ast.BinOp(node, ast.Add(), ast.Constant(1))


def _one_less(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.expr)
    return ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _without(node: ast.AST, i: int) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    rest = node.values[:i] + node.values[i + 1 :]
    return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _compared(node: ast.AST, other: type[ast.cmpop]) -> ast.AST:
    assert isinstance(node, ast.Compare)
    return ast.Compare(node.left, [other()], node.comparators)


def _swapped(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp)
    return ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)


def _at(root: ast.AST, path: tuple[tuple[str, int | None], ...]) -> ast.AST:
    for field, i in path:
        value = getattr(root, field)
        root = value if i is None else value[i]
    return root


def _put(root: ast.AST, path: tuple[tuple[str, int | None], ...], node: ast.AST) -> None:
    parent = _at(root, path[:-1])
    field, i = path[-1]
    if i is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[i] = node


class _Fuelled(ast.NodeTransformer):
    """Lets every `while` ask `_fuel()` before each turn."""

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [ast.Call(ast.Name("_fuel", ast.Load()), [], []), node.test])
        return node


def _compiled(definition: ast.FunctionDef, file: str) -> CodeType:
    module = _Fuelled().visit(ast.Module([definition], []))
    return compile(ast.fix_missing_locations(module), file, "exec")


def _definitions(module: ModuleType, left_out: Iterable[str]) -> list[ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(module))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name not in left_out]
    for node in found:
        del node.body[0]  # the docstring
        assert node.body, f"{node.name} has no docstring"
    return found


@cache
def mutants_of(module: ModuleType) -> tuple[Mutant, ...]:
    """All mutants of the functions of a module."""
    found: list[Mutant] = []
    for definition in _definitions(module, ()):
        names: Counter[str] = Counter()
        for change in _Mutator(definition, vars(module)).changes():
            mutated = copy.deepcopy(definition)
            node = _at(mutated, change.path)
            statement = _at(definition, change.path[: _statement_length(definition, change.path)])
            where = _head(statement)
            what = ast.unparse(node) if node is not _at(mutated, change.path[:-1]) else ""
            changed = change.apply(node)
            assert changed is not None
            _put(mutated, change.path, changed)
            name = f"{definition.name}: `{where}`"
            if what and what != where:
                name += f", `{what}`"
            name += f" {change.what}"
            names[name] += 1
            if names[name] > 1:
                name += f" ({names[name]})"
            found.append(Mutant(definition.name, name, _compiled(mutated, f"<mutant {name}>")))
    return tuple(found)


def _statement_length(root: ast.AST, path: tuple[tuple[str, int | None], ...]) -> int:
    """How much of a path leads to the innermost statement on it."""
    length, node = 0, root
    for i, step in enumerate(path, 1):
        node = _at(node, (step,))
        if isinstance(node, ast.stmt):
            length = i
    return length


def _head(statement: ast.AST) -> str:
    return ast.unparse(statement).split("\n", 1)[0].rstrip(":")


class Mirror:
    """A copy of the mirror's modules in which one function at a time can be a mutant.

    `names` is the namespace of the copy.  Its functions are those of `reading`, `actions`, `transitions`, `faults`
    and `faulty`; the Next of the last is called FaultyNext here.
    """

    def __init__(self, fuel: int = 100_000) -> None:
        self.names: dict[str, Any] = {}
        modules = (reading, actions, faults, transitions, faulty)
        for module in modules:
            for name, value in vars(module).items():
                if name.startswith("__") or name in ("Next", "Check"):
                    continue
                assert inspect.isfunction(value) or self.names.get(name, value) == value, (
                    f"two meanings: {name}"
                )
                self.names[name] = value
        self.names["_fuel"] = self._fuel
        self._most = self._left = fuel
        for module in modules:
            for definition in _definitions(module, ("Check",)):
                if module is faulty and definition.name == "Next":
                    definition.name = "FaultyNext"
                exec(_compiled(definition, f"<{module.__name__}>"), self.names)

    def _fuel(self) -> bool:
        self._left -= 1
        if self._left < 0:
            raise Endless
        return True

    def refuel(self) -> None:
        """Let loops turn as often as at first."""
        self._left = self._most

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """With the mutant in the place of its function."""
        kept = self.names[mutant.function]
        exec(mutant.code, self.names)
        try:
            yield
        finally:
            self.names[mutant.function] = kept
