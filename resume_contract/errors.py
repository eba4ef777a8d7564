"""The root of this package's errors, and how any expected error becomes one line and which exit statuses there are."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable

from trace_check.printing import printable

__all__ = [
    "CHECKED",
    "COULD_NOT_CHECK",
    "DIFFERS",
    "INTERRUPTED",
    "ResumeContractError",
    "explain",
    "require",
]

CHECKED = 0
"""Exit status: everything is as expected."""
DIFFERS = 1
"""Exit status: a violation, or something that is not as expected."""
COULD_NOT_CHECK = 2
"""Exit status: bad input, or what a check needs is missing."""
INTERRUPTED = 130
"""Exit status: ended by Ctrl-C."""


class ResumeContractError(Exception):
    """Something the user can mend.  The message is one line: the file or option, the place, and the mend."""


def require(name: str, what: str, known: Iterable[str]) -> None:
    """Refuse a name that is none of the known ones.

    Raises:
        ResumeContractError: it lists those that there are.
    """
    names = list(known)
    if name not in names:
        raise ResumeContractError(f"{what} {name} is unknown: one of {', '.join(names)}")


def explain(error: BaseException) -> str | None:
    """The one line that tells the user of an expected error; None for one that nobody expected."""
    if isinstance(error, ResumeContractError):
        return _one_line(str(error))
    if isinstance(error, OSError):
        return _os_error(error)
    # looked up only if loaded: an error cannot come from a package that nobody has imported
    for module, name in _ROOTS:
        root = getattr(sys.modules.get(module), name, None)
        if isinstance(root, type) and isinstance(error, root):
            return _one_line(str(error))
    if isinstance(error, MemoryError):
        return "the machine's memory is not enough: check a smaller bound"
    if isinstance(error, ModuleNotFoundError):
        return f"the Python package {error.name} is missing: install resume-contract again, with its dependencies"
    return None


_ROOTS = (
    ("tlc_runner.errors", "TLCError"),
    ("pymodel.errors", "EngineError"),
    ("separating_models.errors", "SeparationError"),
    ("trace_check.errors", "TraceError"),
    ("trace_check.errors", "RecordingError"),
)


def _os_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    mend = {
        errno.ENOSPC: "make room on the disk",
        errno.EDQUOT: "make room on the disk",
        errno.ENOENT: "give the name of a file that exists",
        errno.EACCES: "give a place that you may use",
        errno.EPERM: "give a place that you may use",
        errno.EROFS: "give a place that you may write",
        errno.EISDIR: "give the name of a file, not of a folder",
        errno.ENOTDIR: "give the name of a folder",
    }.get(error.errno or 0, "give another file or folder")
    return _one_line(f"{where}{error.strerror or type(error).__name__}: {mend}")


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
