"""Loading or compiling the engine's own kernels, in another process while this one compiles a model.

Run as `python -m pymodel.engine._warm`, it compiles them into the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType

import numpy as np

from pymodel.engine._kernels import PARTITIONS, REPORT, Interner, Layout
from pymodel.engine.compiling import EngineKernels, engine_kernels

__all__ = ["Warming", "call_on_nothing"]

PATIENCE_SECONDS = 120


def call_on_nothing(kernels: EngineKernels) -> None:
    """Call every kernel with arguments of the right types that leave it nothing to do."""
    signed = np.zeros(1, np.int64)
    words = np.zeros(2, np.uint64)
    layout = Layout(signed, words, words)
    interner = Interner(
        start=signed,
        stop=signed,
        owner=signed,
        words=signed,
        tail=words,
        stride=signed,
        base=signed,
        known=signed,
        capacity=signed,
        heap=words,
        directory=words,
    )
    emitted = np.zeros((1, 1, 2), np.uint64)
    order = np.zeros((1, PARTITIONS, 1), np.uint16)
    fill = np.zeros((1, PARTITIONS), np.int64)
    slow = np.zeros((1, 1), np.uint8)
    report = np.zeros(REPORT, np.int64)
    parents = np.zeros(1, np.uint32)
    kernels.intern(interner, layout, 1, 1, slow, slow[0], 1, words, 0, emitted[0], order[0], fill[0], report)
    cursor = np.zeros(3, np.int64)
    kernels.insert(
        1, 0, 0, emitted, order, fill, signed, PARTITIONS, words, parents, words, 1, 1, cursor, signed
    )
    kernels.move_table(words, words, 1)
    kernels.move_directory(interner, words)
    kernels.repack(words, layout, 1, words, layout, 1, 0, 0, words)


class Warming:
    """While entered, another process compiles the kernels, if they are not on disk yet and there is a processor for it.

    Should it fail, the kernels are compiled here when they are called: nothing depends on it but the time.
    """

    def __init__(self, kernels: EngineKernels) -> None:
        self._wanted = kernels.cache is not None and not kernels.are_cached() and (os.cpu_count() or 1) > 1
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        if not self._wanted or not sys.executable:
            return
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._process = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is None:
            return
        try:
            if error is None:
                self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()


if __name__ == "__main__":
    call_on_nothing(engine_kernels())
