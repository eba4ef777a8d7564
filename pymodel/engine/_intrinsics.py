"""Three machine instructions numba has no name for: unaligned 64-bit access and prefetch.

Imported only when something is to be compiled.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["load64", "prefetch", "store64"]

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


def _byte_address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _I8.as_pointer()), [offset])


def _load64(typing_context: Any, array: Any, offset: Any) -> Any:
    """The 8 bytes at a byte offset of a uint8 array, as uint64; no alignment needed, no bounds checked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _byte_address(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(address, _I64.as_pointer()), align=1)

    return types.uint64(array, types.intp), generate


def _store64(typing_context: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write a uint64 to the 8 bytes at a byte offset of a uint8 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _byte_address(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store(arguments[2], builder.bitcast(address, _I64.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), generate


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of an element; harmless wherever it lies."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), _I8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [address.type, _I32, _I32, _I32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        read, keep, data_cache = (ir.Constant(_I32, value) for value in (0, 3, 1))
        builder.call(function, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


load64 = intrinsic(_load64)
store64 = intrinsic(_store64)
prefetch = intrinsic(_prefetch)
