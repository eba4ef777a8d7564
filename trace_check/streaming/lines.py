"""Lines that the scanner does not take as they are: read by the reader, and written again in plain form.

Plain form has no escapes.  A character that JSON would escape becomes the byte FF and its number in hexadecimal, and
as no UTF-8 has that byte, different names stay different.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from trace_check.events import Header
from trace_check.reader import decode_line

__all__ = ["Irregular", "plain_bytes", "plain_line", "text_of"]

_ESCAPED = re.compile('[\x00-\x1f"\\\\]')
_MARKED = re.compile(b"\xff(..)")
_MARK = "\udcff"  # what "surrogateescape" makes the byte FF of


class Irregular(Exception):
    """The file is left to the reader, which says what is wrong with it if anything is."""


def plain_bytes(text: str) -> bytes:
    """A name as the scanner sees it."""
    return _plain(text).encode("utf-8", "surrogateescape")


def text_of(plain: bytes) -> str:
    """The name that the scanner sees so."""
    return _MARKED.sub(lambda found: bytes([int(found[1], 16)]), plain).decode("utf-8")


def plain_line(raw: bytes) -> bytes:
    """A line in plain form, with its newline.

    Raises:
        Irregular: it is no event.
    """
    try:
        record = decode_line(raw)
    except (ValueError, RecursionError):
        raise Irregular from None
    if isinstance(record, Header):
        raise Irregular
    fields = _plain_value(msgspec.to_builtins(record))
    if "seconds" in fields:
        fields["seconds"] = 1  # any number above zero: it plays no part
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape") + b"\n"


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"{_MARK}{ord(found[0]):02x}", text)


def _plain_value(value: Any) -> Any:
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, dict):
        return {_plain(key): _plain_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain_value(one) for one in value]
    return value
