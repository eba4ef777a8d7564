"""Errors of the trace tools: each message is one line that names the file, the place and the mend."""

from __future__ import annotations

from pathlib import Path

from trace_check.printing import printable

__all__ = ["RecordingError", "TraceError"]


class TraceError(ValueError):
    """A trace that cannot be checked.

    Args:
        path: the trace file.
        line: line number, counted from 1; None where the whole file is meant.
        what: what is wrong.
        mend: what to do about it.
        torn: the file ends in the middle of a line, and all before that is sound.

    The message is ``file:line: what; mend`` (``file: what; mend`` without a line), always one line.
    """

    def __init__(
        self, path: str | Path, line: int | None, what: str, mend: str, *, torn: bool = False
    ) -> None:
        self.path = Path(path)
        self.torn = torn
        self.line = line
        self.what = printable(what)
        self.mend = printable(mend)
        place = str(path) if line is None else f"{path}:{line}"
        super().__init__(f"{printable(place)}: {self.what}; {self.mend}")


class RecordingError(RuntimeError):
    """A recording that could not be made: a missing framework, an unknown scenario, a child that went astray.

    The message is one line that ends with the mend.
    """

    def __init__(self, what: str, mend: str) -> None:
        self.what = printable(what)
        self.mend = printable(mend)
        super().__init__(f"{self.what}; {self.mend}")
