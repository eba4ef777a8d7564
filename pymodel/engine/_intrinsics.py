"""Machine instructions numba has no name for: unaligned access, prefetch, and two others that hashing and comparing want.

Imported only when something is to be compiled.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["BLOCK", "differences", "fold", "load64", "lowest_bit", "prefetch", "store64"]

BLOCK = 64
"""Bytes that `differences` compares."""

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_I128 = ir.IntType(128)
_BYTES = ir.VectorType(_I8, 64)


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


def _differences(typing_context: Any, left: Any, at_left: Any, right: Any, at_right: Any) -> Any:
    """Compare 64 bytes of two uint8 arrays from byte offsets on: bit i is set if the i-th bytes differ."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = []
        for position in (0, 2):
            array, offset = arguments[position], arguments[position + 1]
            address = _byte_address(context, builder, signature.args[position], array, offset)
            vectors.append(builder.load(builder.bitcast(address, _BYTES.as_pointer()), align=1))
        return builder.bitcast(builder.icmp_unsigned("!=", *vectors), _I64)

    return types.uint64(left, types.intp, right, types.intp), generate


def _lowest_bit(typing_context: Any, bits: Any) -> Any:
    """The position of the lowest set bit of a uint64 that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _fold(typing_context: Any, left: Any, right: Any) -> Any:
    """The two halves of the 128-bit product of two uint64, xored."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        product = builder.mul(*(builder.zext(argument, _I128) for argument in arguments))
        high = builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)
        return builder.xor(builder.trunc(product, _I64), high)

    return types.uint64(types.uint64, types.uint64), generate


differences = intrinsic(_differences)
fold = intrinsic(_fold)
lowest_bit = intrinsic(_lowest_bit)
load64 = intrinsic(_load64)
store64 = intrinsic(_store64)
prefetch = intrinsic(_prefetch)
