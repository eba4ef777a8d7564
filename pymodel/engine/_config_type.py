"""A model's config as compiled code sees it: one pointer, whose fields are read when they are named.

Numba passes a NamedTuple by value, field by field, and an array as seven values: with a config of some thirty fields
each call has a hundred arguments, and compiling takes minutes. Imported only when something is to be compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np import numpy_support
from numba.np.arrayobj import populate_array

from pymodel.errors import ModelError

__all__ = ["ConfigHandle", "ConfigType"]

INT = "int"

Kind = tuple[str, int]
"""What a field holds: ⟨"int", 0⟩ or ⟨dtype, dimensions⟩ of an array."""


class ConfigType(types.Type):
    """The numba type of configs whose NamedTuple has these fields of these kinds, whatever their values and shapes."""

    def __init__(self, owner: str, fields: tuple[tuple[str, Kind], ...]) -> None:
        self.fields = fields
        super().__init__(name=f"Config({owner}, {fields})")

    def position(self, name: str) -> int:
        """The first word of a field."""
        at = 0
        for field, (_, dimensions) in self.fields:
            if field == name:
                break
            at += 1 + dimensions
        return at

    def kind(self, name: str) -> Kind | None:
        """What a field holds; None if there is no such field."""
        return dict(self.fields).get(name)


class ConfigHandle:
    """A config laid out in memory: a word for an int, address and shape for an array."""

    def __init__(self, config: Any) -> None:
        fields: list[tuple[str, Kind]] = []
        words: list[int] = []
        self._arrays = []
        for name, value in zip(config._fields, config, strict=True):
            if isinstance(value, np.ndarray) and value.ndim > 0:
                array = np.array(value, order="C", copy=True)
                self._arrays.append(array)
                fields.append((name, (array.dtype.str, array.ndim)))
                words += [array.ctypes.data, *array.shape]
            elif isinstance(value, int | np.integer) and -(2**63) <= value < 2**63:
                fields.append((name, (INT, 0)))
                words.append(int(value))
            else:
                raise ModelError(
                    f"config field {name}: it is a {type(value).__name__}: use an int or an array"
                )
        self._words = np.array(words, np.int64)
        self.address = self._words.ctypes.data
        self.numba_type = ConfigType(type(config).__qualname__, tuple(fields))


@typeof_impl.register(ConfigHandle)  # type: ignore[untyped-decorator]
def _type_of(handle: ConfigHandle, _context: Any) -> ConfigType:
    return handle.numba_type


register_model(ConfigType)(models.OpaqueModel)


@unbox(ConfigType)  # type: ignore[untyped-decorator]
def _unbox(_type: ConfigType, handle: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(handle, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, ir.IntType(8).as_pointer()))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = ConfigType

    def generic_resolve(self, config: ConfigType, name: str) -> Any:
        kind = config.kind(name)
        if kind is None:
            return None
        dtype, dimensions = kind
        if dtype == INT:
            return types.int64
        return types.Array(numpy_support.from_dtype(np.dtype(dtype)), dimensions, "C", readonly=True)


@lower_getattr_generic(ConfigType)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, config: ConfigType, pointer: Any, name: str) -> Any:
    word = ir.IntType(64)
    words = builder.bitcast(pointer, word.as_pointer())
    first = config.position(name)
    constant = builder.module.add_metadata([])

    def load(position: int) -> Any:
        value = builder.load(builder.gep(words, [word(position)]))
        value.set_metadata("invariant.load", constant)
        return value

    dtype, dimensions = config.kind(name) or (INT, 0)
    if dtype == INT:
        return load(first)
    result = types.Array(numpy_support.from_dtype(np.dtype(dtype)), dimensions, "C", readonly=True)
    array = context.make_array(result)(context, builder)
    shape = [load(first + 1 + d) for d in range(dimensions)]
    size = np.dtype(dtype).itemsize
    strides: list[Any] = []
    stride = word(size)
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, extent)
    populate_array(
        array,
        data=builder.inttoptr(load(first), array.data.type),
        shape=shape,
        strides=strides,
        itemsize=word(size),
        meminfo=None,
    )
    return impl_ret_borrowed(context, builder, result, array._getvalue())
