"""TLA+ values as Python values, and their text.

====================  ==========================================================
TLA+                  Python
====================  ==========================================================
``1``, ``TRUE``       ``int``, ``bool``
``"a"``               ``str``
model value           `ModelValue`
sequence, tuple       ``tuple`` (also every function whose domain is ``1..n``)
set, interval         ``frozenset``
record, function      `FrozenMap` (the empty function is the empty sequence)
====================  ==========================================================

All of them are immutable and hashable. Python holds ``True == 1``, TLC refuses to compare the two; a set or a
domain that mixes them can therefore be written here but never comes from TLC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, TypeAlias, Union

from lark import Lark, Transformer, v_args
from lark.exceptions import LarkError, UnexpectedInput, VisitError

from .errors import ValueSyntaxError

__all__ = [
    "FrozenMap",
    "ModelValue",
    "Opaque",
    "Value",
    "format_value",
    "from_json",
    "function",
    "is_field_name",
    "parse_state",
    "parse_value",
    "to_json",
]


# A type checker takes no dict[str, int] for a Mapping[Value, Value], so the constructors below are lax.
_Pairs: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Any, Any]]


@dataclass(frozen=True, slots=True, order=True)
class ModelValue:
    """A TLC model value: equal to itself and to nothing else."""

    name: str

    def __repr__(self) -> str:
        return f"ModelValue({self.name!r})"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value without a finite Python counterpart (``SUBSET Nat``, say), as the text TLC printed."""

    text: str


class FrozenMap(Mapping["Value", "Value"]):
    """A record (keys are ``str``) or a function with any other domain than ``1..n``.

    Raises
    ------
    ValueError
        If the domain is empty or ``1..n``: such a function is a sequence, use `function`.
    """

    __slots__ = ("_data", "_hash")

    def __init__(self, data: _Pairs) -> None:
        self._data: dict[Value, Value] = dict(data)
        self._hash: int | None = None
        if _is_sequence_domain(self._data):
            raise ValueError("a function whose domain is 1..n is a tuple: build it with function()")

    def __getitem__(self, key: Value) -> Value:
        return self._data[key]

    def __iter__(self) -> Iterator[Value]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._data.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self._data == other._data
        return self._data == other if isinstance(other, dict) else NotImplemented

    def __repr__(self) -> str:
        return f"FrozenMap({self._data!r})"

    @property
    def is_record(self) -> bool:
        """Whether every key is a string, so that TLA+ can write it as a record."""
        return all(isinstance(key, str) for key in self._data)


Value: TypeAlias = Union[
    bool, int, str, ModelValue, "tuple[Value, ...]", "frozenset[Value]", FrozenMap, Opaque
]


def _is_sequence_domain(data: Mapping[Value, Value]) -> bool:
    # bool is excluded by its type: a function from {TRUE} is no sequence although True == 1.
    return all(type(key) is int for key in data) and all(index in data for index in range(1, len(data) + 1))


def function(pairs: _Pairs) -> Value:
    """The function with these pairs in its one representation: a ``tuple`` if its domain is ``1..n``."""
    data: dict[Value, Value] = dict(pairs)
    if _is_sequence_domain(data):
        return tuple(data[index] for index in range(1, len(data) + 1))
    return FrozenMap(data)


# ---------------------------------------------------------------------------------------------- printing

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)
_UNESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_FIELD = re.compile(r"[0-9_]*[A-Za-z][A-Za-z0-9_]*\Z")


def _sort_key(value: Value) -> tuple[Any, ...]:
    """A total order over all values, so that the text of a set or a function is unique."""
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, int):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, ModelValue):
        return (3, value.name)
    if isinstance(value, tuple):
        return (4, len(value), tuple(map(_sort_key, value)))
    if isinstance(value, frozenset):
        return (5, len(value), tuple(sorted(map(_sort_key, value))))
    if isinstance(value, Opaque):
        return (7, value.text)
    return (6, len(value), tuple(sorted((_sort_key(key), _sort_key(item)) for key, item in value.items())))


def is_field_name(text: str) -> bool:
    """Whether TLA+ can write ``text`` as the name of a record's field."""
    return _FIELD.match(text) is not None


def format_value(value: Value) -> str:
    """The value as TLA+ text; sets and domains in one fixed order, so equal values have equal texts.

    Raises
    ------
    TypeError
        If ``value``, or anything in it, is not one of the types of this module.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPE_TABLE)}"'
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, tuple):
        return f"<<{', '.join(map(format_value, value))}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(format_value, sorted(value, key=_sort_key)))}}}"
    if isinstance(value, FrozenMap):
        keys = sorted(value, key=_sort_key)
        if all(isinstance(key, str) and is_field_name(key) for key in keys):
            return f"[{', '.join(f'{key} |-> {format_value(value[key])}' for key in keys)}]"
        return f"({' @@ '.join(f'{format_value(key)} :> {format_value(value[key])}' for key in keys)})"
    if isinstance(value, Opaque):
        return value.text
    raise TypeError(f"not a TLA+ value: {value!r} is a {type(value).__name__}")


def to_json(value: Value) -> Any:
    """The value as JSON-ready data; `from_json` reads it back.

    Numbers, booleans, strings and sequences stand for themselves; the rest are one-key objects: ``{"model":
    name}``, ``{"set": [...]}``, ``{"record": {...}}``, ``{"function": [[key, value], ...]}``, ``{"text":
    ...}``.
    """
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, ModelValue):
        return {"model": value.name}
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if isinstance(value, frozenset):
        return {"set": [to_json(item) for item in sorted(value, key=_sort_key)]}
    if isinstance(value, Opaque):
        return {"text": value.text}
    keys = sorted(value, key=_sort_key)
    if value.is_record:
        return {"record": {str(key): to_json(value[key]) for key in keys}}
    return {"function": [[to_json(key), to_json(value[key])] for key in keys]}


def from_json(data: Any) -> Value:
    """The value `to_json` made ``data`` from.

    Raises
    ------
    ValueSyntaxError
        If ``data`` has another shape.
    """
    if isinstance(data, (bool, int, str)):
        return data
    if isinstance(data, list):
        return tuple(map(from_json, data))
    if isinstance(data, dict) and len(data) == 1:
        kind, content = next(iter(data.items()))
        if kind == "model" and isinstance(content, str):
            return ModelValue(content)
        if kind == "set" and isinstance(content, list):
            return frozenset(map(from_json, content))
        if kind == "record" and isinstance(content, dict):
            return function((key, from_json(item)) for key, item in content.items())
        if kind == "function" and isinstance(content, list) and all(len(pair) == 2 for pair in content):
            return function((from_json(key), from_json(item)) for key, item in content)
        if kind == "text" and isinstance(content, str):
            return Opaque(content)
    raise ValueSyntaxError(f"not the JSON form of a TLA+ value: {str(data)[:80]}")


# ---------------------------------------------------------------------------------------------- parsing


def _unescape(match: re.Match[str]) -> str:
    return _UNESCAPES.get(match[1], match[1])


@v_args(inline=True)
class _Build(Transformer[Any, Any]):
    """Builds the Python value while the parser reduces, without a tree in between."""

    def start(self, value: Value) -> Value:
        return value

    def integer(self, token: str) -> int:
        return int(token)

    def string(self, token: str) -> str:
        body = token[1:-1]
        return re.sub(r"\\(.)", _unescape, body, flags=re.S) if "\\" in body else body

    def name(self, token: str) -> Value:
        if token == "TRUE":
            return True
        return False if token == "FALSE" else ModelValue(str(token))

    def interval(self, low: str, high: str) -> frozenset[Value]:
        return frozenset(range(int(low), int(high) + 1))

    def sequence(self, *items: Value) -> tuple[Value, ...]:
        return items

    def set(self, *items: Value) -> frozenset[Value]:
        return frozenset(items)

    def field(self, name: str, value: Value) -> tuple[Value, Value]:
        return str(name), value

    def pair(self, key: Value, value: Value) -> tuple[Value, Value]:
        return key, value

    def record(self, *pairs: tuple[Value, Value]) -> Value:
        return function(pairs)

    def function(self, *pairs: tuple[Value, Value]) -> Value:
        data = dict(pairs)
        # f @@ g prefers f where both are defined; a dict keeps the last.
        return function(data if len(data) == len(pairs) else dict(reversed(pairs)))

    def same(self, value: Value) -> Value:
        return value


@cache
def _parser() -> Lark:
    """Made when a value is first read: many who use this module only write them."""
    return Lark(
        (files(__package__) / "values.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        transformer=_Build(),
        maybe_placeholders=False,
    )


def parse_value(text: str) -> Value:
    """Reads one TLA+ value.

    Raises
    ------
    ValueSyntaxError
        If ``text`` is not exactly one value; the message names line, column and what stands there.
    """
    try:
        return _parse(text)
    except UnexpectedInput as error:
        found = error.get_context(text, span=20).split("\n")[0].strip()
        place = f"line {error.line}, column {error.column}" if error.line > 0 else "its end"
        raise ValueSyntaxError(f"not a TLA+ value at {place}: {found or text[:40]!r}") from None
    except (VisitError, LarkError, RecursionError) as error:
        raise ValueSyntaxError(f"not a TLA+ value: {str(error).splitlines()[0]}") from None


@lru_cache(maxsize=1 << 15)
def _parse(text: str) -> Value:
    # States of one run share most of their variables' texts, and values are immutable: cache by text.
    value: Value = _parser().parse(text)  # type: ignore[assignment]
    return value


_CONJUNCT = re.compile(r"^(?:/\\ )?([A-Za-z0-9_!]+) = ", re.M)


def parse_state(text: str) -> dict[str, Value]:
    r"""Reads a state as TLC prints it: ``/\ x = …`` a line, or ``x = …`` if there is one variable.

    A value that has no finite counterpart is kept as `Opaque`.

    Raises
    ------
    ValueSyntaxError
        If no variable is found at all.
    """
    marks = list(_CONJUNCT.finditer(text))
    if not marks:
        raise ValueSyntaxError(f"not a TLC state: {text[:60]!r}")
    state: dict[str, Value] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        body = text[mark.end() : following.start() if following else len(text)].strip()
        try:
            state[mark[1]] = parse_value(body)
        except ValueSyntaxError:
            state[mark[1]] = Opaque(body)
    return state
