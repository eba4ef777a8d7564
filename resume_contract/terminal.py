"""Text for a terminal or a pipe that can't show every character."""

from __future__ import annotations

import codecs
import sys
from typing import Final

__all__ = ["drawable", "never_fail"]

_PLAIN: Final = {
    "✗": "x", "◆": "*", "○": "o", "▷": ">", "◁": "<", "│": "|", "≤": "<=", "→": "->", "…": "...", "∞": "inf", "∅": "none",
}  # fmt: skip
_ERRORS: Final = "resume_contract_escapes"


def never_fail() -> None:
    """From now on what the streams' encoding lacks is written as JSON's escape: a backslash, u and four hex digits."""
    codecs.register_error(_ERRORS, _escaped)
    for stream in (sys.stdout, sys.stderr):
        # what was asked for by PYTHONIOENCODING, such as replace, stays
        if getattr(stream, "errors", "") in ("strict", "surrogateescape", "backslashreplace"):
            stream.reconfigure(errors=_ERRORS)  # type: ignore[union-attr]


def drawable(text: str) -> str:
    """Text for standard output: where its encoding lacks the signs that drawings are made of, others stand for them."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        "".join(_PLAIN).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return "".join(_PLAIN.get(char, char) for char in text)
    return text


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in pairs), error.end
