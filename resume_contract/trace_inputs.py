"""Traces that a command line names, standard input and pipes among them.

What can be read only once is kept in a temporary file meanwhile, as a large trace is read twice.  Messages name it as
the command line does.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from resume_contract.errors import ResumeContractError
from resume_contract.trace_files import trace_files

if TYPE_CHECKING:
    from trace_check.checker import Verdict
    from trace_check.reader import Trace

__all__ = ["STANDARD_INPUT", "TraceInputs", "sources"]

STANDARD_INPUT = "-"


def sources(names: Iterable[str]) -> list[Path]:
    """The files that names of traces on a command line stand for, standard input's among them: no output may be one."""
    return [Path("/dev/stdin" if name == STANDARD_INPUT else name) for name in names]


class TraceInputs:
    """Traces by their names on a command line, to be used as a context manager.

    Args:
        names: files, folders of them, pipes, or `STANDARD_INPUT`.
        folders: a folder stands for the traces in it.

    Attributes:
        paths: the traces, folders resolved, as files that can be read again and again.

    Raises:
        ResumeContractError: a name is empty, or what it names cannot be kept; as for `trace_files`.
    """

    def __init__(self, names: Sequence[str], *, folders: bool = True) -> None:
        self._names = names
        self._folders = folders
        self._kept: dict[str, Path] = {}
        self._stack = ExitStack()
        self.paths: list[Path] = []

    def __enter__(self) -> TraceInputs:
        if "" in self._names:
            raise ResumeContractError(
                "the name of a trace is empty: give a file, a folder, or - for standard input"
            )
        with ExitStack() as stack:
            self._stack = stack
            paths = [self._path(name) for name in self._names]
            self.paths = trace_files(paths) if self._folders else paths
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        from trace_check.errors import TraceError

        if isinstance(error, TraceError) and (told := self.named(str(error))) != str(error):
            raise ResumeContractError(told) from None

    def named(self, told: Any) -> Any:
        """Text, or JSON values, with the names of the command line in place of those of temporary files."""
        if isinstance(told, str):
            for name, path in self._kept.items():
                told = told.replace(str(path), name)
            return told
        if isinstance(told, list | tuple):
            return type(told)(map(self.named, told))
        if isinstance(told, dict):
            return {key: self.named(value) for key, value in told.items()}
        return told

    def verdict(self, verdict: Verdict) -> Verdict:
        """A verdict in the names of the command line."""
        return replace(
            verdict,
            file=self.named(verdict.file),
            error=self.named(verdict.error),
            warnings=self.named(verdict.warnings),
        )

    def trace(self, trace: Trace) -> Trace:
        """A trace that was read, in the names of the command line."""
        return replace(trace, path=Path(self.named(str(trace.path))), warnings=self.named(trace.warnings))

    def _path(self, name: str) -> Path:
        if name not in self._kept:
            try:
                source = _source(name)
            except OSError as error:
                if name == STANDARD_INPUT:
                    raise ResumeContractError(
                        f"{name}: standard input cannot be read: {error.strerror}: give the trace as a file"
                    ) from None
                source = None  # whoever reads the file says why it can't be
            if source is None:
                return Path(name)
            with source:
                self._kept[name] = self._keep(name, source)
        return self._kept[name]

    def _keep(self, name: str, source: IO[bytes]) -> Path:
        try:
            folder = self._stack.enter_context(TemporaryDirectory(prefix="resume-contract-"))
            path = Path(folder) / "trace.jsonl"
            with path.open("wb") as copy:
                shutil.copyfileobj(source, copy)
        except OSError as error:
            raise ResumeContractError(
                f"{name}: cannot be read into a temporary file: {error.strerror}: give the trace as a file"
            ) from None
        return path


def _source(name: str) -> IO[bytes] | None:
    """What has to be kept to be read again: standard input, a pipe, a terminal; None: it is something else."""
    if name == STANDARD_INPUT:
        return open(0, "rb", closefd=False)
    mode = os.stat(name).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        return None
    file = open(name, "rb")  # noqa: SIM115  (the caller closes it)
    if stat.S_ISFIFO(mode) or file.isatty():
        return file
    file.close()
    return None
