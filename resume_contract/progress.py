"""What a long run shows: one status line on a terminal, nothing when piped."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from trace_check.printing import printable

__all__ = ["SHOWN_AFTER", "Counts", "Report", "counts_text", "status_line"]

SHOWN_AFTER = 2.0
"""Seconds that a run may take before anything is shown."""


class Counts(Protocol):
    """How far a search is; both engines report it in this form."""

    @property
    def level(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def generated(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def seconds(self) -> float: ...


Report = Callable[[str], None]


@contextmanager
def status_line(what: str) -> Iterator[Report]:
    """A function that says how far `what` is, on a terminal and once it takes more than two seconds."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    status = Console(stderr=True).status(Text(printable(what)))
    timer = threading.Timer(SHOWN_AFTER, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda text: status.update(Text(printable(f"{what}: {text}")))
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def counts_text(counts: Counts) -> str:
    """How far a search is, in words."""
    return (
        f"depth {counts.level}, {counts.distinct:,} distinct, {counts.generated:,} generated, "
        f"{counts.queue:,} queued, {counts.seconds:.0f} s"
    )
