"""Configurations examined by engines, several at a time, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple, NoReturn

from pymodel.engine.errors import EngineError
from separating_models.by_mirror import examine_by_mirror
from separating_models.by_tlc import Tlc, examine_by_tlc
from separating_models.configuration import Configuration
from separating_models.errors import SeparationError
from separating_models.examination import Examination
from tlc_runner.errors import TLCError

__all__ = ["Failure", "Task", "examine", "examine_all"]


class Task(NamedTuple):
    """A configuration to be examined by an engine; `together`: clauses of which a state is sought that breaks all."""

    configuration: Configuration
    engine: str
    together: tuple[str, ...] = ()


class Failure(NamedTuple):
    """Why a configuration could not be examined, in one line."""

    reason: str


def examine(task: Task, tlc: Tlc | None = None) -> Examination:
    """Examine one configuration.

    Raises:
        TLCError, EngineError, SeparationError: it cannot be examined.
    """
    if task.engine == "tlc":
        return examine_by_tlc(task.configuration, together=task.together, tlc=tlc)
    return examine_by_mirror(task.configuration, together=task.together)


def examine_all(
    tasks: Sequence[Task],
    *,
    jobs: int,
    tlc: Tlc | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[Examination | Failure]:
    """Examine many, `jobs` at a time; one that fails does not lose the others.

    Args:
        tasks: what to examine; the answers are in the same order.
        jobs: processes.
        tlc: what TLC is run with.
        on_done: told the number of each task that is done.
    """
    found: list[Examination | Failure] = [Failure("it was not examined")] * len(tasks)
    if not tasks:
        return found
    # TLC's take long, so they come first; of the mirror's one goes ahead, and the others find it compiled
    others = [i for i, task in enumerate(tasks) if task.engine != "tlc"]
    order = [*others[:1], *(i for i, task in enumerate(tasks) if task.engine == "tlc")]
    pool = ProcessPoolExecutor(
        max_workers=min(jobs, len(tasks)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_end_politely,
    )
    try:
        places: dict[Future[Examination | Failure], int] = {
            pool.submit(_attempt, tasks[i], tlc): i for i in order
        }
        waiting = set(places)
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
                if others and i == others[0]:
                    more = {pool.submit(_attempt, tasks[k], tlc): k for k in others[1:]}
                    places |= more
                    waiting |= more.keys()
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


def _attempt(task: Task, tlc: Tlc | None) -> Examination | Failure:
    try:
        return examine(task, tlc)
    except (TLCError, EngineError, SeparationError, OSError, MemoryError) as error:
        return Failure(" ".join(str(error).split()) or type(error).__name__)


def _end_politely() -> None:
    """A request to end takes TLC along; Ctrl-C reaches the whole group, and the parent asks."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
