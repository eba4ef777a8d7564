"""One pass over a trace: every rule of the format checked, every thread folded to a node of the tree of behaviours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trace_check.events import Header
from trace_check.reader import TraceStream, decode_line, is_cut_short
from trace_check.streaming.blocks import Block, blocks
from trace_check.streaming.compiling import kernels
from trace_check.streaming.forms import Letter
from trace_check.streaming.lines import Irregular, plain_line, text_of
from trace_check.streaming.scanner import layout as s
from trace_check.streaming.tables import Memory

__all__ = ["Located", "Scan", "TooLong", "locate", "scan"]

OnBlock = Callable[[int], None]


class TooLong(Exception):
    """A thread has more lines than can be searched.

    Attributes:
        line: the line that is one too many.
        thread: its thread.
    """

    def __init__(self, line: int, thread: str) -> None:
        super().__init__(line, thread)
        self.line = line
        self.thread = thread


@dataclass(slots=True)
class Scan:
    """What a trace comes to.

    Attributes:
        path, header: the trace.
        memory: the scanner's tables.
        warnings: what was left out of it.
        events: how many there are.
    """

    path: Path
    header: Header
    memory: Memory
    warnings: list[str] = field(default_factory=list)
    events: int = 0

    @property
    def threads(self) -> int:
        return int(self.memory.tables.meta[s.THREADS])

    @property
    def ends(self) -> NDArray[np.int32]:
        """For each thread, in the order in which they begin, the node at which it ends."""
        return self.memory.tables.t_node[: self.threads]

    def letters(self, node: int) -> list[Letter]:
        """What a thread that ends at a node has shown, line by line."""
        tables = self.memory.tables
        found: list[Letter] = []
        while node:
            letter = int(tables.n_letter[node])
            start = int(tables.l_offset[letter])
            found.append(tables.tokens[start : start + int(tables.l_length[letter])].tolist())
            node = int(tables.n_parent[node])
        return found[::-1]

    def thread_name(self, thread: int) -> str:
        """The name of a thread, by its number from 0."""
        tables, used = self.memory.tables, int(self.memory.tables.meta[s.NAMES])
        wanted = (tables.e_scope[:used] == s.OF_THREADS) & (tables.e_id[:used] == thread)
        return text_of(self.memory.name_of(int(np.flatnonzero(wanted)[0])))

    def names(self, thread: int) -> dict[int, str]:
        """The names and (as JSON) values of a thread, by their numbers in it."""
        tables, meta = self.memory.tables, self.memory.tables.meta
        used = int(meta[s.NAMES])
        found = {
            int(tables.e_id[entry]): text_of(self.memory.name_of(int(entry)))
            for entry in np.flatnonzero(tables.e_scope[:used] == thread)
        }
        of_actors = tables.e_scope[:used] == s.OF_ACTORS
        for actor in np.flatnonzero(tables.a_thread[: int(meta[s.ACTORS])] == thread):
            (entry,) = np.flatnonzero(of_actors & (tables.e_id[:used] == actor))
            found[int(tables.a_number[actor])] = text_of(self.memory.name_of(int(entry)))
        return found


@dataclass(frozen=True, slots=True)
class Located:
    """An event that was looked for: its number in the trace, its line, its thread, and what was wanted of it (bits)."""

    position: int
    line: int
    thread: int
    wanted: int


class _Feeder:
    """Gives blocks to the scanner."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._scan = kernels().scan
        self._at = np.zeros(4 * s.FIELD_COUNT + 8, np.int64)
        self._inner = np.zeros_like(self._at)
        self._tokens = np.zeros(1 << 12, np.int64)
        self._who = np.zeros(4, np.int64)

    def _run(self, data: NDArray[np.uint8], start: int) -> int:
        return int(
            self._scan(
                data, start, len(data), self.memory.tables,
                self._at, self._inner, self._tokens, self._who,
            )
        )  # fmt: skip

    def feed(self, data: bytes, on_full: Callable[[], None] | None = None) -> None:
        """Take whole lines.

        Raises:
            Irregular: a line that the scanner can't take.
            TooLong: a thread has too many lines.
        """
        buffer = np.frombuffer(data, np.uint8)
        start = 0
        while True:
            status = self._run(buffer, start)
            start = int(self.memory.tables.meta[s.POSITION])
            if status == s.DONE:
                return
            if status == s.SLOW:
                start = self._slowly(data, start, on_full)
            else:
                self._mend(status, data[start : data.index(b"\n", start)], on_full)

    def _slowly(self, data: bytes, start: int, on_full: Callable[[], None] | None) -> int:
        """Take one line by way of its plain form: where the next one starts."""
        end = data.index(b"\n", start)
        line = np.frombuffer(plain_line(data[start:end]), np.uint8)
        while (status := self._run(line, 0)) != s.DONE:
            if status == s.SLOW:
                if len(self._tokens) > 4 * len(line) + 64:
                    raise Irregular
                self._tokens = np.zeros(2 * len(self._tokens), np.int64)  # it may be only a long one
                continue
            self._mend(status, data[start:end], on_full)
        return end + 1

    def _mend(self, status: int, raw: bytes, on_full: Callable[[], None] | None) -> None:
        if status == s.GROW:
            self.memory.grow()
        elif status == s.FULL and on_full is not None:
            on_full()
        elif status == s.LONG:
            event = decode_line(raw)
            raise TooLong(int(self.memory.tables.meta[s.LINES]) + 1, getattr(event, "thread", ""))
        else:
            raise Irregular


def scan(path: Path, *, allow_torn: bool, longest: int, on_block: OnBlock | None = None) -> Scan:
    """Read and check a whole trace, without keeping its events.

    Args:
        path: the file, plain or gzip.
        allow_torn: as for `TraceStream`.
        longest: lines that a thread may have.
        on_block: told how many events were taken so far.

    Raises:
        Irregular: something in it is wrong, or nothing that the scanner knows: the reader has to read it.
        TraceError: it can't be opened, or its header is wrong.
        TooLong: a thread has too many lines.
    """
    with TraceStream(path, allow_torn=allow_torn) as stream:
        header = stream.header
    if isinstance(header.program, str):
        raise Irregular
    found = Scan(path, header, Memory(kernels(), header, longest))
    feeder = _Feeder(found.memory)
    meta = found.memory.tables.meta
    for block in _without_header(path, allow_torn, meta):
        if block.is_tail:
            _take_tail(feeder, block, found, allow_torn)
        else:
            feeder.feed(block.data)
        if on_block is not None:
            on_block(int(meta[s.EVENTS]))
    found.events = int(meta[s.EVENTS])
    if not found.events:
        raise Irregular
    return found


def _without_header(path: Path, allow_torn: bool, meta: NDArray[np.int64]) -> Iterator[Block]:
    """The blocks after the first line that is not blank; the lines up to it are counted."""
    behind = False
    for block in blocks(path, allow_torn=allow_torn):
        start = 0
        while not behind and not block.is_tail and start < len(block.data):
            end = block.data.index(b"\n", start) + 1
            behind = bool(block.data[start:end].strip())
            start = end
            meta[s.LINES] += 1
        if not behind and block.is_tail:
            raise Irregular
        if start < len(block.data) or block.is_tail:
            yield Block(block.data[start:], block.offset + start, block.is_tail, block.is_cut)


def _take_tail(feeder: _Feeder, block: Block, found: Scan, allow_torn: bool) -> None:
    """What stands after the last newline: a whole line, or one that was cut short."""
    line = int(feeder.memory.tables.meta[s.LINES]) + 1
    if block.is_cut:
        found.warnings.append(f"{found.path}:{line}: the gzip stream is cut short here; what follows is lost")
        return
    try:
        feeder.feed(block.data + b"\n")
    except Irregular:
        if not (allow_torn and is_cut_short(block.data)):
            raise
        found.warnings.append(f"{found.path}:{line}: the last line was cut short and is left out")


def locate(found: Scan, form_of: NDArray[np.int32], starts: NDArray[np.int64], wanted: NDArray[np.int64],
           *, allow_torn: bool) -> Iterator[Located]:  # fmt: skip
    """Find events in a second pass: on which lines those are that are wanted of their threads.

    Args:
        found: the first pass.
        form_of: for each thread its form, or -1 where nothing is wanted of it.
        starts: for each form where its lines begin in `wanted`.
        wanted: for each line of each form what is wanted of it, as bits; 0: nothing.
        allow_torn: as before.

    Yields:
        them in the order of the file.
    """
    memory = found.memory
    memory.tables = memory.tables._replace(
        t_form=form_of,
        t_seen=np.zeros(found.threads, np.int32),
        wanted_at=starts,
        wanted=wanted,
        hits=np.zeros((1 << 14, 4), np.int64),
    )
    meta = memory.tables.meta
    meta[[s.LINES, s.EVENTS, s.HITS]] = 0
    meta[s.LOCATE] = 1
    feeder = _Feeder(memory)
    ready: list[Located] = []

    def collect() -> None:
        ready.extend(Located(*map(int, row)) for row in memory.tables.hits[: meta[s.HITS]])
        meta[s.HITS] = 0

    try:
        for block in _without_header(found.path, allow_torn, meta):
            if block.is_tail and found.warnings:
                break
            feeder.feed(block.data if not block.is_tail else block.data + b"\n", on_full=collect)
            collect()
            yield from ready
            ready.clear()
    finally:
        meta[s.LOCATE] = 0
