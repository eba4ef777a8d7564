"""Result files: written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from resume_contract.errors import ResumeContractError
from tlc_runner.outputs import wrong_with_output

__all__ = ["require_folder", "require_output", "write_atomically", "write_json", "write_text"]


def require_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output that would replace what the command reads, or what is no file: before the work, not after it.

    Args:
        path: the output; it need not exist.
        inputs: what is read; what isn't there is left to its reader.

    Raises:
        ResumeContractError: it is one of the inputs, or a folder, a device or the like.
    """
    if (wrong := wrong_with_output(path, inputs)) is not None:
        raise ResumeContractError(wrong)


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in its place in one step.

    The temporary file has the suffix of `path`.  If anything goes wrong, Ctrl-C included, `path` is what it was.

    Raises:
        OSError: the folder or the file cannot be written.
        ResumeContractError: `path` is a folder, a device or the like.
    """
    require_output(path)
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_beside(path, write)
    except OSError as error:
        error.filename = str(path)  # not the temporary one's
        raise


def _write_beside(path: Path, write: Callable[[Path], None]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    os.close(handle)
    part = Path(name)
    try:
        write(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(0o644)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_json(path: Path, data: Any) -> None:
    """Write `data` as indented JSON, in one step."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text, in one step."""
    write_atomically(path, lambda part: void(part.write_text(text, encoding="utf-8")))


def void(_: object) -> None:
    """Nothing, whatever was returned."""


def require_folder(path: Path) -> None:
    """Make a folder, and try that files can be made in it: before a long run, not after it.

    Raises:
        OSError: it cannot be made or written.
    """
    path.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        error.filename = str(path)
        raise
