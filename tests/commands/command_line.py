"""What the tests of the commands share besides fixtures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Ended(NamedTuple):
    """What a command line came to."""

    status: int
    out: str
    err: str


Command = Callable[..., Ended]


def replace_in(path: Path, old: str, new: str) -> None:
    """Put one text in the place of another, which must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def one_line(err: str) -> str:
    """The only line of standard error, which tells an error."""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    return err.removeprefix("error: ").rstrip("\n")
