"""The child's side of the points at which a harness can stop a process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable

__all__ = ["Probe"]

_HARNESS_GONE = 71


class Probe:
    """Reports that a point is reached and waits until the harness lets the process go on, or kills it.

    Args:
        stops: the points at which to stop; at any other, :meth:`reach` does nothing.
        ask: the file descriptor on which the point's name is written.
        reply: the one on which the harness answers with one byte.

    A point stops a process the first time only. Several threads may reach points at once; they are answered
    one after another.
    """

    def __init__(self, stops: Iterable[str] = (), ask: int = -1, reply: int = -1) -> None:
        self._left = set(stops)
        self._ask = ask
        self._reply = reply
        self._lock = threading.Lock()

    def reach(self, point: str) -> None:
        """Stop here if the harness asked for it. The process exits when the harness is gone."""
        if point not in self._left:
            return
        with self._lock:
            self._left.discard(point)
            os.write(self._ask, point.encode() + b"\n")
            if os.read(self._reply, 1) == b"":
                os._exit(_HARNESS_GONE)
