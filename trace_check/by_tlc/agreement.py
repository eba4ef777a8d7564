"""Whether TLC agrees with a verdict."""

from __future__ import annotations

__all__ = ["Agreement"]


class Agreement:
    """What an opinion of TLC comes to.

    Attributes:
        differences: where TLC says otherwise, one line each.
        undecided: what it has not decided, one line each.
    """

    differences: tuple[str, ...]
    undecided: tuple[str, ...]

    @property
    def agrees(self) -> bool | None:
        """Whether TLC says what the verdict says; None: it has not decided all of it, and what it has agrees."""
        return False if self.differences else None if self.undecided else True

    @property
    def exit_status(self) -> int:
        """0 it agrees, 1 it differs, 2 undecided."""
        return {True: 0, False: 1, None: 2}[self.agrees]
