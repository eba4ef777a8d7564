"""The scanner, compiled, and kept on disk."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from pymodel.engine.compiling import compile_functions

__all__ = ["Kernels", "kernels"]


class Kernels(NamedTuple):
    """The functions of `scanner.py` that Python calls."""

    scan: Any
    enter: Any
    rehash_names: Any
    rehash_letters: Any
    rehash_nodes: Any
    rehash_operations: Any


@cache
def kernels() -> Kernels:
    """The compiled functions, from memory, from disk or new (which takes a while)."""
    from trace_check.streaming import scanner

    return Kernels(**compile_functions(scanner, Kernels._fields))
