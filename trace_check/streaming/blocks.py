"""The bytes of a trace in blocks of whole lines, plain or gzip."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trace_check.reader import MAX_LINE_BYTES, open_trace
from trace_check.streaming.lines import Irregular

__all__ = ["Block", "blocks"]

_BLOCK = 1 << 20  # bytes that are read at once


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its newline; or, last of all, what stands after the last newline.

    Attributes:
        data: the bytes.
        offset: how far into the file (unpacked) they begin.
        is_tail: they have no newline.
        is_cut: the gzip stream ends here before its end.
    """

    data: bytes
    offset: int
    is_tail: bool = False
    is_cut: bool = False


def blocks(path: Path, *, allow_torn: bool) -> Iterator[Block]:
    """The file's blocks.

    Raises:
        Irregular: it can't be read to its end, unless it is a gzip stream cut short and that is allowed; it has a
            line that is too long, or is not UTF-8.
        TraceError: it can't be opened.
    """
    rest, offset, ends = b"", 0, False
    with open_trace(path) as file:
        while not ends:
            pieces, size = [rest], 0
            cut = False
            try:
                while size < _BLOCK and not ends:
                    piece = file.read1(_BLOCK)
                    ends = not piece
                    pieces.append(piece)
                    size += len(piece)
            except EOFError:
                if not allow_torn:
                    raise Irregular from None
                ends = cut = True
            except (OSError, zlib.error):
                raise Irregular from None
            data = b"".join(pieces)
            _require_short_lines(data)
            end = data.rfind(b"\n") + 1
            whole, rest = data[:end], data[end:]
            if whole:
                _require_utf8(whole)
                yield Block(whole, offset)
            offset += end
            if cut:
                yield Block(b"", offset, is_tail=True, is_cut=True)
                return
    if rest:
        _require_utf8(rest)
        yield Block(rest, offset, is_tail=True)


def _require_short_lines(data: bytes) -> None:
    """A line that is too long fills a block."""
    if len(data) > MAX_LINE_BYTES and max(map(len, data.split(b"\n"))) > MAX_LINE_BYTES:
        raise Irregular


def _require_utf8(data: bytes) -> None:
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise Irregular from None
