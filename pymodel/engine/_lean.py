"""Compiling a program of many functions as one.

Left alone, numba optimises every function on its own, translates it to machine code, and does both again with its
callees wherever it is called: a model of a hundred functions takes minutes. Here only the function that Python calls
is optimised and translated, with everything it calls as private parts of it. That is quicker to compile by half, and the
code is quicker too, since the optimiser knows every caller.

This reaches into numba. Where a version of numba lacks what is needed, its ordinary way is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
from numba import njit
from numba.core import codegen
from numba.core import types as numba_types
from numba.core.registry import cpu_target

__all__ = ["entry", "helper", "needs_reference_counts"]

types: Any = numba_types  # its annotations lack some of its names
_Library: Any = getattr(codegen, "JITCodeLibrary", object)
_USABLE = all(
    hasattr(_Library, name)
    for name in (
        "_optimize_final_module",
        "_finalize_final_module",
        "_finalize_dynamic_globals",
        "_verify_declare_only_symbols",
        "_ensure_finalized",
        "get_pointer_to_function",
    )
)


class _NoEnvironment:
    """A code generator that leaves out the one thing that needs machine code."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, *_: Any) -> None:
        pass


class _Part(_Library):  # type: ignore[misc]
    """The code of a function that is only linked into others."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class _Whole(_Library):  # type: ignore[misc]
    """The code of a function that Python calls, with all its parts."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvmlite.binding.Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


def _compile_as(dispatcher: Any, kind: Any) -> None:
    """Make the dispatcher's new code be a library of this kind."""
    if not _USABLE:
        return
    compile_ = dispatcher.compile

    def compile_as(signature: Any) -> Any:
        generator = cpu_target.target_context.codegen()
        before = generator._library_class
        generator._library_class = kind
        try:
            return compile_(signature)
        finally:
            generator._library_class = before

    dispatcher.compile = compile_as


def helper(function: Callable[..., Any], *, inline: bool = False, counted: bool = False) -> Any:
    """A dispatcher for a function that only compiled code calls.

    Every integer argument is int64, as it is uncompiled, so that one version serves callers that pass a byte of the
    state, an index or a constant.

    Args:
        function: what to compile.
        inline: always into its callers.
        counted: with numba's reference counts, without which a function cannot allocate.
    """
    dispatcher = njit(
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=inline,
        _nrt=counted,
    )(function)
    choose = dispatcher.get_call_template

    def widen(kind: Any) -> Any:
        kind = types.unliteral(kind)
        return (
            types.int64 if isinstance(kind, types.Boolean | types.Integer) and kind != types.uint64 else kind
        )

    def get_call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return choose(tuple(widen(kind) for kind in args), {name: widen(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = get_call_template
    _compile_as(dispatcher, _Part)
    return dispatcher


def entry(function: Callable[..., Any]) -> Any:
    """A dispatcher for a function that Python calls and that does not allocate."""
    dispatcher = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=False)(function)
    _compile_as(dispatcher, _Whole)
    return dispatcher


def needs_reference_counts(error: Exception) -> bool:
    """Whether compiling failed because a function allocates."""
    return "NRT required" in str(error)
