"""The scanner, compiled, and kept on disk."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from pymodel.engine.compiling import compile_functions

__all__ = ["Kernels", "kernels"]


class Kernels(NamedTuple):
    """The functions of the scanner that Python calls."""

    scan: Any
    enter: Any
    rehash_names: Any
    rehash_letters: Any
    rehash_nodes: Any
    rehash_operations: Any


@cache
def kernels() -> Kernels:
    """The compiled functions, from memory, from disk or new (which takes a while)."""
    from trace_check.streaming.scanner import (
        behaviours,
        contents,
        cutting,
        heads,
        inside,
        loop,
        names,
        operations,
        taking,
        tokens,
    )

    modules = (names, behaviours, cutting, tokens, inside, heads, contents, operations, taking, loop)
    return Kernels(**compile_functions(modules, Kernels._fields))
