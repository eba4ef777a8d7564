"""TLC's own next-state relation, asked about single states inside this process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jpype

from .config import read_config
from .errors import OracleError, SpecError
from .jar import find_jar
from .java import find_java
from .jvm import TLCClasses
from .modules import unpack_modules
from .run import PathLike
from .summary import syntax_line
from .values import FrozenMap, ModelValue, Opaque, Value, format_value, is_field_name, parse_value

__all__ = ["SpecOracle", "State"]

State: TypeAlias = dict[str, Value]

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
# Java values kept for Python values already converted, by identity.
_KEPT = 1 << 16


class SpecOracle:
    """A spec whose initial states, transitions and operators TLC itself evaluates, without a search.

    Every oracle loads TLC anew (about half a second), so any number of them can live in one process. The
    Java that the first one finds serves all.

    Parameters
    ----------
    spec, cfg, module_path, extra_jars, jar, java
        As for `run_tlc`. Constraints and symmetry of the configuration do not restrict what is answered.

    Raises
    ------
    SpecError
        If TLC cannot read the spec or the configuration; the message names the place.
    JarError, JavaError
        If there is no TLC, or no Java with a virtual machine that can be loaded.

    Examples
    --------
    >>> oracle = SpecOracle("Counter.tla")                               # doctest: +SKIP
    >>> [(name, state) for name, _, state in oracle.successors({"x": 1})]  # doctest: +SKIP
    [('Inc', {'x': 2})]
    """

    def __init__(
        self,
        spec: PathLike,
        cfg: PathLike | None = None,
        *,
        module_path: Sequence[PathLike] = (),
        extra_jars: Sequence[PathLike] = (),
        jar: PathLike | None = None,
        java: PathLike | None = None,
    ) -> None:
        path = Path(spec).absolute()
        if path.suffix != ".tla" or not path.is_file():
            raise SpecError(f"{spec}: no such module: give an existing .tla file")
        config = read_config(path.with_suffix(".cfg") if cfg is None else Path(cfg).absolute())
        self._spec = path
        jars = [Path(name).absolute() for name in extra_jars]
        self._classes = TLCClasses(find_java(java), jars, find_jar(jar))
        library = [str(path.parent), *(str(Path(folder).absolute()) for folder in module_path)]
        with tempfile.TemporaryDirectory(prefix="tlc-oracle-") as folder:
            private = Path(folder) / "model.cfg"
            private.write_text(config.portable_text, encoding="utf-8")
            unpacked = [
                unpack_modules(path_of_jar, private.with_name(f"jar{at}"))
                for at, path_of_jar in enumerate(jars)
            ]
            library += map(str, unpacked)
            self._tool = self._load(library, private, config.path)
        self._setup()

    def _load(self, library: list[str], cfg: Path, shown_cfg: Path) -> Any:
        classes = self._classes
        tool_io = classes("util.ToolIO")
        tool_io.setMode(tool_io.TOOL)  # keep messages instead of printing them
        # Looked into before the library, so that a file of this process's own folder never shadows a module.
        tool_io.setUserDir(str(cfg.parent))
        classes("tlc2.util.FP64").Init(0)
        resolver = classes("util.SimpleFilenameToStream")(classes.strings(library))
        try:
            return classes("tlc2.tool.impl.FastTool")("", self._spec.stem, cfg.stem, resolver)
        except jpype.JException as error:
            # TLC's own messages are among SANY's; only SANY's lines can tell the place.
            lines = [line for message in tool_io.getAllMessages() for line in str(message).split("\n")]
            text = _reason(error)
            if "Parsing or semantic analysis failed" in text:
                raise SpecError(syntax_line(self._spec, lines)) from None
            raise SpecError(f"{shown_cfg}: {text}") from None

    def _setup(self) -> None:
        classes = self._classes
        self._context = classes("tlc2.util.Context")
        self._application = classes("tla2sany.semantic.OpApplNode")
        self._lazy = classes("tlc2.value.impl.LazyValue")
        self._java_value = classes("tlc2.value.impl.Value")
        self._empty = classes("tlc2.tool.TLCState").Empty
        unique = classes("util.UniqueString").uniqueStringOf
        self._names = tuple(str(node.getName().toString()) for node in self._empty.getVars())
        self._unique = [unique(name) for name in self._names]
        self._fields = {
            name: self._context.class_.getDeclaredField(name) for name in ("name", "value", "next")
        }
        for field in self._fields.values():
            field.setAccessible(True)
        self._to_java = _ToJava(classes)
        self._kept: dict[int, tuple[Value, Any]] = {}
        with self._errors("the actions of Next"):
            self._actions = [
                (action, str(action.getName().toString()), self._bound(action))
                for action in self._tool.getActions()
            ]
        root = self._tool.getSpecProcessor().getRootModule()
        self._operators = {str(node.getName().toString()): node for node in root.getOpDefs()}

    @property
    def variables(self) -> tuple[str, ...]:
        """The spec's variables, in TLC's order."""
        return self._names

    @property
    def actions(self) -> list[tuple[str, dict[str, Value]]]:
        """Name and arguments of every action TLC splits Next into, in its order.

        Arguments are the action's parameters and the quantified variables it stands under; those that
        depend on the state are left out here. An action of several disjuncts appears once for each. Where a
        quantifier's set depends on the state, TLC does not split: the action is then the operator that
        contains it, without its variable.
        """
        return [(name, self._params(bound, None)) for _, name, bound in self._actions]

    def initial_states(self) -> list[State]:
        """The states that satisfy Init, as often as TLC generates them.

        Raises
        ------
        OracleError
            If Init cannot be evaluated.
        """
        with self._errors("Init"):
            vector = self._tool.getInitStates()
            return [self._to_python(vector.elementAt(index)) for index in range(vector.size())]

    def successors(self, state: Mapping[str, Value]) -> list[tuple[str, dict[str, Value], State]]:
        """Every step from ``state``: action, arguments and next state, as often as TLC generates them.

        Raises
        ------
        OracleError
            If ``state`` has not exactly the spec's variables, an action cannot be evaluated, or leaves a
            variable without a value.
        """
        java_state = self._state(state)
        steps: list[tuple[str, dict[str, Value], State]] = []
        for action, name, bound in self._actions:
            with self._errors(f"action {name}"):
                vector = self._tool.getNextStates(action, java_state)
                size = vector.size()
                if not size:
                    continue
                params = self._params(bound, java_state)
                for index in range(size):
                    successor = vector.elementAt(index)
                    if not successor.allAssigned():
                        missing = ", ".join(sorted(str(node.getName()) for node in successor.getUnassigned()))
                        raise OracleError(f"{self._spec.name}: action {name} gives no value to {missing}")
                    steps.append((name, dict(params), self._to_python(successor)))
        return steps

    def evaluate(self, operator: str, state: Mapping[str, Value]) -> Value:
        """The value of an operator without parameters (an invariant, say) in ``state``.

        Raises
        ------
        OracleError
            If the root module has no such operator, it takes parameters, or it cannot be evaluated in one
            state.
        """
        node = self._operators.get(operator)
        if node is None:
            raise OracleError(f"{self._spec.name}: no operator {operator}: name one that the module defines")
        if node.getArity() != 0:
            raise OracleError(f"{self._spec.name}: operator {operator} takes parameters: name one without")
        java_state = self._state(state)
        with self._errors(f"operator {operator}"):
            # The configuration may put another operator or a constant in its place.
            found = self._tool.lookup(node, self._context.Empty, False)
            if not isinstance(found, self._java_value):
                found = self._tool.eval(found.getBody(), self._context.Empty, java_state)
            return self._value(found)

    def is_in_model(self, state: Mapping[str, Value]) -> bool:
        """Whether the CONSTRAINTs of the configuration let TLC explore ``state``."""
        java_state = self._state(state)
        with self._errors("a constraint"):
            return bool(self._tool.isInModel(java_state))

    # ------------------------------------------------------------------------------------- conversion

    def _to_python(self, java_state: Any) -> State:
        return {
            name: self._value(java_state.lookup(unique))
            for name, unique in zip(self._names, self._unique, strict=True)
        }

    def _value(self, java_value: Any) -> Value:
        # Text and a parser with a cache are several times faster than walking Java's objects one call at a
        # time.
        value = parse_value(str(java_value.toString()))
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        # By identity, because Python holds 1 == True. The entry keeps the Python value alive, so its id
        # stays its own.
        self._kept[id(value)] = (value, java_value)
        return value

    def _state(self, state: Mapping[str, Value]) -> Any:
        if state.keys() != set(self._names):
            odd = sorted(set(self._names) ^ state.keys())
            raise OracleError(
                f"{self._spec.name}: a state has exactly {', '.join(self._names)}: see {', '.join(odd)}"
            )
        java_state = self._empty.createEmpty()
        for name, unique in zip(self._names, self._unique, strict=True):
            value = state[name]
            kept = self._kept.get(id(value))
            if kept is None:
                try:
                    kept = (value, self._to_java(value))
                except (TypeError, ValueError, OverflowError) as error:
                    raise OracleError(f"{self._spec.name}: variable {name}: {error}") from None
            java_state.bind(unique, kept[1])
        return java_state

    def _bound(self, action: Any) -> list[tuple[str, Any]]:
        """The names an action has values for: its parameters first, then what is quantified in it."""
        definition = action.getOpDef()
        formals = list(definition.getParams()) if definition is not None else []
        chain: list[tuple[Any, Any]] = []  # innermost first
        context = action.con
        while context is not None:
            node = self._fields["name"].get(context)
            if node is not None:
                chain.append((node, self._fields["value"].get(context)))
            context = self._fields["next"].get(context)
        # By node, not by name: a caller's variable often has the name of the parameter.
        places = [
            next((at for at, (node, _) in enumerate(chain) if node == formal), None) for formal in formals
        ]
        own: list[tuple[Any, Any]] = []
        inner = chain
        if all(place is not None for place in places):
            known = [place for place in places if place is not None]
            own = [chain[place] for place in known]
            # What stands behind the parameters belongs to the caller.
            inner = (
                [pair for at, pair in enumerate(chain[: max(known)]) if at not in known] if known else chain
            )
        elif isinstance(action.pred, self._application) and action.pred.getOperator() == definition:
            # TLC leaves an application alone whose arguments depend on the state.
            deferred = [_Deferred(node, action.con) for node in action.pred.getArgs()]
            own, inner = list(zip(formals, deferred, strict=True)), []
        bound: dict[str, Any] = {}
        for node, value in (*own, *reversed(inner)):
            bound[str(node.getName().toString())] = self._deferred(value)
        return list(bound.items())

    def _deferred(self, value: Any) -> Any:
        return _Deferred(value.expr, value.con) if isinstance(value, self._lazy) else value

    def _params(self, bound: list[tuple[str, Any]], java_state: Any) -> dict[str, Value]:
        params: dict[str, Value] = {}
        for name, value in bound:
            if not isinstance(value, _Deferred):
                params[name] = self._value(value)
            elif java_state is not None:
                params[name] = self._value(self._tool.eval(value.expression, value.context, java_state))
        return params

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except jpype.JException as error:
            raise OracleError(f"{self._spec.name}: {what} cannot be evaluated: {_reason(error)}") from None


class _Deferred(NamedTuple):
    """An argument to evaluate in each state."""

    expression: Any
    context: Any


def _reason(error: Any) -> str:
    """TLC's message in one line."""
    message = error.getMessage()
    text = " ".join(str(message).split()) if message is not None else str(error.getClass().getName())
    return text if len(text) <= 300 else f"{text[:300]}…"


class _ToJava:
    """Builds TLC's value objects."""

    def __init__(self, classes: TLCClasses) -> None:
        package = "tlc2.value.impl"
        self._int = classes(f"{package}.IntValue").gen
        self._true = classes(f"{package}.BoolValue").ValTrue
        self._false = classes(f"{package}.BoolValue").ValFalse
        self._string = classes(f"{package}.StringValue")
        self._tuple = classes(f"{package}.TupleValue")
        self._set = classes(f"{package}.SetEnumValue")
        self._record = classes(f"{package}.RecordValue")
        self._function = classes(f"{package}.FcnRcdValue")
        self._value_class = classes(f"{package}.Value").class_
        self._name_class = classes("util.UniqueString").class_
        self._unique = classes("util.UniqueString").uniqueStringOf
        # Only model values the configuration declares exist; a new one would equal nothing.
        declared = classes(f"{package}.ModelValue").mvs or ()
        self._models = {str(model.toString()): model for model in declared if model is not None}

    def __call__(self, value: Value) -> Any:
        if isinstance(value, bool):
            return self._true if value else self._false
        if isinstance(value, int):
            if not _INT_MIN <= value <= _INT_MAX:
                raise ValueError(f"{value} does not fit TLC's 32-bit integers")
            return self._int(value)
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, ModelValue):
            if value.name not in self._models:
                raise ValueError(f"the configuration declares no model value {value.name}")
            return self._models[value.name]
        if isinstance(value, tuple):
            return self._tuple(self._array(value))
        if isinstance(value, frozenset):
            return self._set(self._array(value), False)
        if isinstance(value, FrozenMap):
            values = self._array(value.values())
            # TLC prints a record's fields as they are, so one that is no identifier could not be read back.
            if all(isinstance(key, str) and is_field_name(key) for key in value):
                names = TLCClasses.array(self._name_class, [self._unique(str(key)) for key in value])
                return self._record(names, values, False)
            return self._function(self._array(value), values, False)
        if isinstance(value, Opaque):
            raise ValueError(f"{format_value(value)} has no finite form")
        raise TypeError(f"not a TLA+ value: {value!r} is a {type(value).__name__}")

    def _array(self, items: Iterable[Value]) -> Any:
        return TLCClasses.array(self._value_class, [self(item) for item in items])
