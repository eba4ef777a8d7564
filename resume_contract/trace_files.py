"""Traces that are named on a command line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from resume_contract.errors import ResumeContractError

__all__ = ["ENDINGS", "trace_files"]

ENDINGS = (".jsonl", ".jsonl.gz")


def trace_files(paths: Sequence[Path]) -> list[Path]:
    """The traces: files as they are, and for a folder all in it.

    Raises:
        ResumeContractError: a folder without traces, or with something that cannot be read.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(_inside(path))
        if not inside:
            raise ResumeContractError(f"{path}: no file in it ends in {' or '.join(ENDINGS)}: name a trace")
        found += inside
    return found


def _inside(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder, onerror=_refuse):
        for name in names:
            if name.endswith(ENDINGS):
                file = Path(place) / name
                if not file.is_file():
                    raise ResumeContractError(f"{file}: is no regular file: mend it, or move it away")
                yield file


def _refuse(error: OSError) -> NoReturn:
    raise ResumeContractError(
        f"{error.filename}: {error.strerror}: make it readable, or move it away"
    ) from None
