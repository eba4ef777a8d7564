"""The child's side of the points at which a harness can stop a process."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterable, Mapping

from trace_check.errors import RecordingError

__all__ = ["HOLD_SECONDS", "Probe"]

_HARNESS_GONE = 71

HOLD_SECONDS = 15.0
"""How long a thread is held for another that never gets where it should."""


class Probe:
    """Reports that a point is reached and waits until the harness lets the process go on, or kills it.

    Args:
        stops: the points at which to stop; at any other, :meth:`reach` does nothing but note it.
        ask: the file descriptor on which the point's name is written.
        reply: the one on which the harness answers with one byte.
        holds: points -> the point that has to have been reached, by whatever thread, before they are passed.

    A point stops a process the first time only. Several threads may reach points at once; they are answered
    one after another.
    """

    def __init__(
        self,
        stops: Iterable[str] = (),
        ask: int = -1,
        reply: int = -1,
        holds: Mapping[str, str] | None = None,
    ) -> None:
        self._left = set(stops)
        self._ask = ask
        self._reply = reply
        self._holds = dict(holds or {})
        self._lock = threading.Lock()
        self._reached = {point: threading.Event() for point in self._holds.values()}

    def reach(self, point: str) -> None:
        """Stop here if the harness asked for it. The process exits when the harness is gone.

        Raises:
            RecordingError: what this point is held for was not reached in time.
        """
        awaited = self._holds.get(point)
        if awaited is not None and not self._reached[awaited].wait(HOLD_SECONDS):
            raise _never(point, awaited)
        if point in self._left:
            self._stop(point)
        # Only now: who is held for this point stays so while the process is stopped here, or killed.
        if point in self._reached:
            self._reached[point].set()

    def _stop(self, point: str) -> None:
        with self._lock:
            self._left.discard(point)
            os.write(self._ask, point.encode() + b"\n")
            if os.read(self._reply, 1) == b"":
                os._exit(_HARNESS_GONE)

    async def free(self, point: str) -> None:
        """Let the event loop go on until `reach(point)` would not hold; to be awaited before it.

        Raises:
            RecordingError: what this point is held for was not reached in time.
        """
        awaited = self._holds.get(point)
        end = time.monotonic() + HOLD_SECONDS
        while awaited is not None and not self._reached[awaited].is_set():
            if time.monotonic() > end:
                raise _never(point, awaited)
            await asyncio.sleep(0.01)


def _never(point: str, awaited: str) -> RecordingError:
    return RecordingError(
        f"{point!r} waited {HOLD_SECONDS:g} s for {awaited!r}, which was not reached",
        "if the system cannot do that, say that the scenario is not applicable to it",
    )
