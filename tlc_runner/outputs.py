"""Where an output may go."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from .errors import SpecError

__all__ = ["require_output"]


def require_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse an output that would replace what is read, or what is no file.

    Args:
        path: the output; it need not exist.
        inputs: what is read; what isn't there is left to its reader.

    Raises:
        SpecError: it is one of the inputs, or a folder, a device or the like.
    """
    if not path.exists():
        return
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise SpecError(f"{path}: is {what}: name a file to write to")
    for each in inputs:
        if each.exists() and os.path.samefile(path, each):
            raise SpecError(
                f"{path}: would be written over and is read as well: name another file to write to"
            )
