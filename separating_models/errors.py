"""The error of this package."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SeparationError", "require"]


class SeparationError(RuntimeError):
    """A configuration cannot be examined, or a model does not verify.  The message is one line."""


def require(name: str, what: str, known: Iterable[str]) -> None:
    """Refuse a name that is none of the known ones.

    Raises:
        SeparationError: it lists those that there are.
    """
    names = list(known)
    if name not in names:
        raise SeparationError(f"{what} {name} is unknown: one of {', '.join(names)}")
