"""Configurations examined by engines, several at a time, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from separating_models.by_mirror import examine_by_mirror
from separating_models.by_tlc import Tlc, examine_by_tlc
from separating_models.configuration import Configuration
from separating_models.examination import Examination
from separating_models.pool import Failure, call_all

__all__ = ["Task", "examine", "examine_all"]


class Task(NamedTuple):
    """A configuration to be examined by an engine."""

    configuration: Configuration
    engine: str


def examine(task: Task, tlc: Tlc | None = None) -> Examination:
    """Examine one configuration.

    Raises:
        TLCError, EngineError, SeparationError: it cannot be examined.
    """
    if task.engine == "tlc":
        return examine_by_tlc(task.configuration, tlc=tlc)
    return examine_by_mirror(task.configuration)


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
    # TLC's take long, so they come first; of the mirror's one goes ahead, and the others find it compiled
    order = sorted(range(len(tasks)), key=lambda i: tasks[i].engine != "tlc")
    found = call_all(
        [partial(examine, tasks[i], tlc) for i in order],
        jobs=jobs,
        ahead=sum(task.engine != "tlc" for task in tasks),
        on_done=None if on_done is None else lambda k: on_done(order[k]),
    )
    answers = dict(zip(order, found, strict=True))
    return [answers[i] for i in range(len(tasks))]
