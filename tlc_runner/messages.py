"""The framed messages of ``tlc2.TLC -tool``, read as they come.

A message is ``@!@!@STARTMSG code:severity @!@!@``, its text and ``@!@!@ENDMSG code @!@!@``. Messages nest,
and a frame may open in the middle of a line. Text outside every frame is SANY's, or what the spec printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Message", "MessageParser", "Unframed", "parse_messages"]

_FRAME = re.compile(r"@!@!@(?:STARTMSG (\d+)(?::(\d+))?|ENDMSG (\d+)) @!@!@")


@dataclass(frozen=True, slots=True)
class Message:
    """One framed message.

    Attributes
    ----------
    code
        TLC's message code (2193 is success, and so on).
    severity
        0 plain, 1 error, 2 TLC bug, 3 warning, 4 state.
    text
        Its text, that of nested messages included where it stood.
    nested
        The messages inside it.
    complete
        False if the output ended before the message did.
    """

    code: int
    severity: int
    text: str
    nested: tuple[Message, ...] = ()
    complete: bool = True

    def walk(self) -> Iterator[Message]:
        """This message and all in it, outermost first."""
        yield self
        for inner in self.nested:
            yield from inner.walk()


@dataclass(frozen=True, slots=True)
class Unframed:
    """One line outside every message, without its line end."""

    text: str


@dataclass(slots=True)
class _Open:
    code: int
    severity: int
    parts: list[str] = field(default_factory=list)
    nested: list[Message] = field(default_factory=list)

    def close(self, *, complete: bool) -> Message:
        text = "".join(self.parts).removeprefix("\n").rstrip("\n")
        return Message(self.code, self.severity, text, tuple(self.nested), complete)


class MessageParser:
    """Turns lines into messages and unframed lines, in their order.

    >>> parser = MessageParser()
    >>> lines = ["@!@!@STARTMSG 2193:0 @!@!@", "Done.", "@!@!@ENDMSG 2193 @!@!@"]
    >>> [[item.text for item in parser.feed(line)] for line in lines]
    [[], [], ['Done.']]
    """

    def __init__(self) -> None:
        self._stack: list[_Open] = []

    def feed(self, line: str) -> Iterator[Message | Unframed]:
        """Takes one line (with or without its line end); yields what is complete with it."""
        line = line.rstrip("\r\n")
        position = 0
        framed = False
        for frame in _FRAME.finditer(line):
            framed = True
            yield from self._text(line[position : frame.start()])
            position = frame.end()
            if frame[1] is not None:
                self._stack.append(_Open(int(frame[1]), int(frame[2] or 0)))
            else:
                yield from self._end(int(frame[3]))
        rest = line[position:]
        if framed:
            yield from self._text(rest)
        elif self._stack:
            self._stack[-1].parts.append(rest + "\n")
        else:
            yield Unframed(rest)

    def close(self) -> Iterator[Message]:
        """Ends the stream: yields a message the output broke off in, as incomplete."""
        while self._stack:
            yield from self._pop(complete=False)

    def _text(self, text: str) -> Iterator[Unframed]:
        if not text.strip():
            return
        if self._stack:
            self._stack[-1].parts.append(text)
        else:
            yield Unframed(text)

    def _end(self, code: int) -> Iterator[Message]:
        if all(frame.code != code for frame in self._stack):
            return  # the end of something that never began: nothing to hand out
        while self._stack[-1].code != code:
            yield from self._pop(complete=False)
        yield from self._pop(complete=True)

    def _pop(self, *, complete: bool) -> Iterator[Message]:
        message = self._stack.pop().close(complete=complete)
        if self._stack:
            self._stack[-1].nested.append(message)
            self._stack[-1].parts.append(message.text + "\n")
        else:
            yield message


def parse_messages(lines: Iterable[str]) -> Iterator[Message | Unframed]:
    """All messages and unframed lines of a whole output."""
    parser = MessageParser()
    for line in lines:
        yield from parser.feed(line)
    yield from parser.close()
