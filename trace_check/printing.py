"""Names from a trace, a file or a command line in messages and tables."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    """Text in which what would break a line, steer a terminal or is nothing to XML is spelled out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
