"""Trace files of any size and any number, over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from trace_check.checker import DEFAULT_BUDGET, Verdict, check_file
from trace_check.printing import printable

__all__ = ["SMALL", "check_any", "check_files"]

SMALL = 500_000
"""Bytes of a trace that is read whole: loading the scanner would take longer."""

_SMALL_PACKED = 10_000

OnProgress = Callable[[str], None]


def check_any(
    path: str | Path,
    *,
    allow_torn: bool = False,
    budget: int = DEFAULT_BUDGET,
    jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Verdict:
    """Check a trace in the way that its size asks for: `check_file` or `check_stream`, which give the same verdict."""
    path = Path(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
    except OSError:
        size, packed = 0, False  # check_file says what is wrong
    if size <= (_SMALL_PACKED if packed else SMALL):
        return check_file(path, allow_torn=allow_torn, budget=budget)
    from trace_check.streaming.checking import check_stream

    return check_stream(path, allow_torn=allow_torn, budget=budget, jobs=jobs, on_progress=on_progress)


def check_files(
    paths: Sequence[Path],
    *,
    allow_torn: bool = False,
    budget: int = DEFAULT_BUDGET,
    jobs: int = 1,
    on_progress: Callable[[Path, str], None] | None = None,
) -> Iterator[Verdict]:
    """Check traces, several at a time; of a single one, its threads.

    Args:
        paths: the files.
        allow_torn: leave out a last line that was cut short, with a warning.
        budget: places of the search to expand at most, for each thread.
        jobs: processes.
        on_progress: told which file is being checked and how far that is.

    Yields:
        a verdict for each file, in their order.
    """

    def say(path: Path, text: str) -> None:
        if on_progress is not None:
            on_progress(path, text)

    if jobs == 1 or len(paths) == 1:
        for path in paths:
            say(path, "")
            yield check_any(
                path, allow_torn=allow_torn, budget=budget, jobs=jobs, on_progress=partial(say, path)
            )
        return
    from separating_models.pool import Failure, call_all

    calls = [partial(check_any, path, allow_torn=allow_torn, budget=budget) for path in paths]
    done: list[int] = []

    def count(number: int) -> None:
        done.append(number)
        say(paths[number], f"{len(done)} of {len(paths)} traces checked")

    for path, found in zip(paths, call_all(calls, jobs=jobs, on_done=count), strict=True):
        if isinstance(found, Failure):
            found = Verdict(str(path), "unchecked", error=printable(f"{path}: {found.reason}"))
        yield found
