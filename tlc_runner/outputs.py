"""Where an output may go."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from .errors import SpecError

__all__ = ["require_output", "wrong_with_output"]


def wrong_with_output(path: Path, inputs: Iterable[Path]) -> str | None:
    """What is wrong with an output that would replace what is read, or what is no file; None if nothing is.

    Args:
        path: the output; it need not exist.
        inputs: what is read; what isn't there is left to its reader.
    """
    if not path.exists():
        return None
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        return f"{path}: is {what}: name a file to write to"
    if any(each.exists() and os.path.samefile(path, each) for each in inputs):
        return f"{path}: would be written over and is read as well: name another file to write to"
    return None


def require_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse an output with which something is wrong; see `wrong_with_output`.

    Raises:
        SpecError: it says what.
    """
    if (wrong := wrong_with_output(path, inputs)) is not None:
        raise SpecError(wrong)
