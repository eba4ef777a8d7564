"""Makes recordings, several at a time; one that fails is said to be missing and does not lose the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from trace_check.conformance.plan import Recording
from trace_check.errors import RecordingError
from trace_check.recording.environments import environment_python
from trace_check.recording.harness import record
from trace_check.recording.system import load_system

__all__ = ["each_done", "make_recording", "require_environment"]

T = TypeVar("T")


def require_environment(system: str, store: str) -> None:
    """Make the environment of a system with a store if there is none.

    Raises:
        RecordingError: it can't be made here.
    """
    extra = load_system(system, store).extra
    if extra is not None:
        environment_python(extra)


def make_recording(recording: Recording, folder: Path) -> Path:
    """Record into a folder; returns the trace.

    Raises:
        RecordingError: the system or its recorder failed.
    """
    return record(
        recording.system,
        recording.scenario,
        folder,
        store=recording.store,
        sink=recording.sink,
        compress=True,
    )


def each_done(
    calls: Sequence[Callable[[], T]], jobs: int, on_start: Callable[[int], None] | None = None
) -> Iterator[tuple[int, T | RecordingError]]:
    """Make calls in threads of their own (each waits for processes), and give their answers as they come.

    Args:
        calls: what to call.
        jobs: how many at a time.
        on_start: told the number of each call that begins.

    On an error that isn't a RecordingError, Ctrl-C included, no further call is begun.
    """

    def attempt(number: int) -> T | RecordingError:
        if on_start is not None:
            on_start(number)
        try:
            return calls[number]()
        except RecordingError as error:
            return error

    with ThreadPoolExecutor(jobs) as pool:
        numbers: dict[Future[T | RecordingError], int] = {
            pool.submit(attempt, n): n for n in range(len(calls))
        }
        waiting = set(numbers)
        try:
            while waiting:
                ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for done in ready:
                    yield numbers[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
