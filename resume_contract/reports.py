"""What reports of runs have in common: which came to no verdict, the exit status, errors and differences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Generic, Protocol, TypeVar

import typer

from resume_contract.errors import CHECKED, COULD_NOT_CHECK, DIFFERS

__all__ = ["Judged", "Report"]


class Judged(Protocol):
    """A run as a report sees it."""

    @property
    def name(self) -> str:
        """What its lines begin with."""

    @property
    def is_decided(self) -> bool:
        """Did it come to a verdict?"""

    @property
    def reason(self) -> str:
        """Why it did not, in one line."""

    @property
    def versions(self) -> Mapping[str, str]:
        """What ran, by name."""


R = TypeVar("R", bound=Judged)


class Report(ABC, Generic[R]):
    """Runs, and the differences found: one line each, those of a run beginning with its name."""

    differences: tuple[str, ...]

    @property
    @abstractmethod
    def judged(self) -> Sequence[R]:
        """The runs."""

    @property
    def undecided(self) -> tuple[R, ...]:
        """The runs that came to no verdict."""
        return tuple(run for run in self.judged if not run.is_decided)

    @property
    def exit_status(self) -> int:
        """0: all as expected; 1: a violation or a difference; 2: a run came to no verdict."""
        if self.undecided:
            return COULD_NOT_CHECK
        return DIFFERS if self.differences else CHECKED

    def is_unexpected(self, run: R) -> bool:
        """Does a run differ from what is expected of it?"""
        return any(line.startswith(f"{run.name}: ") for line in self.differences)

    @property
    def versions(self) -> dict[str, str]:
        """What ran, by name."""
        found = {"resume-contract": version("resume-contract")}
        for run in self.judged:
            found |= run.versions
        return found

    def tell(self) -> None:
        """Print the differences to standard error, and an error for each run that came to no verdict: not both."""
        undecided = tuple(f"{run.name}: " for run in self.undecided)
        for line in self.differences:
            if not line.startswith(undecided):
                typer.echo(f"difference: {line}", err=True)
        for run in self.undecided:
            typer.echo(f"error: {run.name}: {run.reason}", err=True)
