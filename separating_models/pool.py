"""Calls made in processes of their own, several at a time; one that fails does not lose the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple, NoReturn, TypeVar

from pymodel.errors import EngineError
from separating_models.errors import SeparationError
from tlc_runner.errors import TLCError

__all__ = ["Failure", "call_all"]

T = TypeVar("T")


class Failure(NamedTuple):
    """Why a call failed, in one line."""

    reason: str


def call_all(
    calls: Sequence[Callable[[], T]],
    *,
    jobs: int,
    ahead: int | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[T | Failure]:
    """Make calls, `jobs` at a time; their answers, in the order of the calls.

    Args:
        calls: what can be sent to another process.
        jobs: processes.
        ahead: how many of the last calls wait for the first of them: it compiles what they all need.
        on_done: told the number of each call that has ended.
    """
    found: list[T | Failure] = [Failure("it was not run")] * len(calls)
    if not calls:
        return found
    waiting_for = len(calls) - ahead if ahead else None
    pool = ProcessPoolExecutor(
        max_workers=min(jobs, len(calls)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_end_politely,
    )
    places: dict[Future[T | Failure], int] = {}

    def submit(numbers: range) -> set[Future[T | Failure]]:
        futures = {pool.submit(_attempt, calls[i]): i for i in numbers}
        places.update(futures)
        return set(futures)

    try:
        if waiting_for is None:
            waiting = submit(range(len(calls)))
        else:
            waiting = submit(range(waiting_for, waiting_for + 1)) | submit(range(waiting_for))
        while waiting:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for done in ready:
                i = places[done]
                try:
                    found[i] = done.result()
                except BrokenProcessPool:
                    found[i] = Failure("its process died: run it alone to see why")
                if on_done is not None:
                    on_done(i)
                if i == waiting_for:
                    waiting |= submit(range(i + 1, len(calls)))
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


def _attempt(call: Callable[[], T]) -> T | Failure:
    try:
        return call()
    except SystemExit:
        os._exit(128 + signal.SIGTERM)  # the call has cleaned up; raised, it would only end this call
    except (TLCError, EngineError, SeparationError, OSError, MemoryError) as error:
        return Failure(" ".join(str(error).split()) or type(error).__name__)


def _end_politely() -> None:
    """A request to end takes TLC along; Ctrl-C reaches the whole group, and the parent asks."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
