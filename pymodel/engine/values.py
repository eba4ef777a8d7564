"""Decoded states in a form that can be compared, hashed and printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import Any

__all__ = ["FrozenDict", "changed", "decoded", "freeze", "render_value"]


class FrozenDict(Mapping[Any, Any]):
    """A mapping that cannot change, so that it can be an element of a set or a node of a graph."""

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self._items.items()))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"


def freeze(value: Any) -> Any:
    """`value` with every mapping, list and set in it made hashable."""
    if isinstance(value, Mapping):
        return FrozenDict({freeze(k): freeze(v) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    if isinstance(value, Set):
        return frozenset(freeze(item) for item in value)
    return value


def decoded(state: Mapping[str, Any]) -> FrozenDict:
    """What a model's `decode` gave, hashable."""
    frozen = freeze(state)
    assert isinstance(frozen, FrozenDict)
    return frozen


def render_value(value: Any) -> str:
    """A value as one line of text, the same for equal values."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Mapping):
        inner = sorted(
            (render_value(k) if not isinstance(k, str) else k, render_value(v)) for k, v in value.items()
        )
        return "[" + ", ".join(f"{k}: {v}" for k, v in inner) + "]"
    if isinstance(value, tuple | list):
        return "<<" + ", ".join(render_value(item) for item in value) + ">>"
    if isinstance(value, Set):
        return "{" + ", ".join(sorted(render_value(item) for item in value)) + "}"
    return str(value)


def changed(before: Any, after: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Where two values differ: ⟨place, value before, value after⟩, as deep as their shapes agree.

    Places read `name`, `name[key]`, `name[key][2]`; positions in tuples count from 1.
    """
    if before == after:
        return []
    if isinstance(before, Mapping) and isinstance(after, Mapping) and before.keys() == after.keys():
        pairs = [(key, before[key], after[key]) for key in before]
    elif isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        pairs = [(i, b, a) for i, (b, a) in enumerate(zip(before, after, strict=True), 1)]
    else:
        return [(path, before, after)]
    found = []
    for key, b, a in pairs:
        found += changed(b, a, f"{path}[{key}]" if path else str(key))
    return found
