"""The constants of a PlusCal algorithm, as its mirror takes them: a mapping from names to numbers, truths and texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from pymodel.engine import ModelError

__all__ = ["Constant", "Constants", "number", "only", "option", "truth"]

Constant: TypeAlias = int | bool | str
Constants: TypeAlias = Mapping[str, Constant]


def only(algorithm: str, constants: Constants, names: Collection[str]) -> None:
    """Refuse a constant that the algorithm doesn't have, and the lack of one that it has.

    Raises:
        ModelError: the message lists what there is.
    """
    for name in (*constants, *names):
        if name not in names or name not in constants:
            problem = "is unknown" if name not in names else "has no value"
            raise ModelError(f"{algorithm}: constant {name} {problem}: give {', '.join(names)}")


def number(algorithm: str, constants: Constants, name: str, least: int, most: int) -> int:
    """A constant that is a number from `least` to `most`; ModelError if it isn't."""
    value = constants[name]
    if type(value) is not int or not least <= value <= most:
        raise ModelError(f"{algorithm}: constant {name} is {value!r}: give a number from {least} to {most}")
    return value


def truth(algorithm: str, constants: Constants, name: str) -> bool:
    """A constant that is TRUE or FALSE; ModelError if it isn't."""
    value = constants[name]
    if not isinstance(value, bool):
        raise ModelError(f"{algorithm}: constant {name} is {value!r}: give TRUE or FALSE")
    return value


def option(algorithm: str, constants: Constants, name: str, options: tuple[str, ...]) -> int:
    """The index in `options` of a constant that is one of them; ModelError if it isn't."""
    value = constants[name]
    if value not in options:
        raise ModelError(f"{algorithm}: constant {name} is {value!r}: give one of {', '.join(options)}")
    return options.index(str(value))
