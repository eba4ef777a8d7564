"""Logs of many threads, made of recorded ones: every thread a copy with names, values and times of its own.

Used by the benchmark.  The threads of a log are in flight together, and whose line comes next is drawn at random, so
that operations of different threads overlap; the order of the lines of one thread is that of its model.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from trace_check.events import ROOT_BRANCH, Header, encode_line
from trace_check.observations import HARNESS
from trace_check.reader import Trace

__all__ = ["MODELS", "lines", "write_log"]

MODELS = Path(__file__).parent / "models"
"""Recorded traces of one thread, four of LangGraph and one of the reference, which stay as they are for measurements."""

_OWN = frozenset(
    {
        "thread",
        "actor",
        "op",
        "key",
        "delivery",
        "checkpoint",
        "parent",
        "id",
        "branch",
        "child",
        "outcome",
        "value",
    }
)
"""Fields whose strings are the thread's own."""


_MARK = "\N{REPLACEMENT CHARACTER}thread\N{REPLACEMENT CHARACTER}"


@dataclass(slots=True)
class _InFlight:
    """A thread: what it shows, its name, how far it is, and its actors' counts of lines."""

    events: Sequence[tuple[bytes, str]]
    name: bytes
    next: int = 0
    seq: dict[str, int] = field(default_factory=dict)


def lines(models: Sequence[Trace], threads: int, *, at_once: int = 500, seed: int = 1) -> Iterator[bytes]:
    """The events of a log, a line each.

    Args:
        models: traces of one thread and one program; thread n is a copy of one after the other.
        threads: how many.
        at_once: how many of them are in flight together.
        seed: of the order.
    """
    mark = _MARK.encode()
    shown = [_templates(model) for model in models]
    rng = random.Random(seed)
    flying: list[_InFlight] = []
    begun = clock = of_harness = 0
    while flying or begun < threads:
        while len(flying) < at_once and begun < threads:
            flying.append(_InFlight(shown[begun % len(shown)], b"w%d" % begun))
            begun += 1
        place = int(rng.random() * len(flying))
        one = flying[place]
        body, actor = one.events[one.next]
        clock += 1000
        if actor == HARNESS:
            of_harness += 1
            number = of_harness
        else:
            number = one.seq[actor] = one.seq.get(actor, 0) + 1
        yield b'%s,"seq":%d,"t":%d}\n' % (body.replace(mark, one.name), number, clock)
        one.next += 1
        if one.next == len(one.events):
            flying[place] = flying[-1]
            flying.pop()


def _templates(model: Trace) -> list[tuple[bytes, str]]:
    """Of each event its line up to `seq` and `t`, with a mark for the thread's name, and its actor."""
    found = []
    for event in model.events:
        fields = _renamed(msgspec.to_builtins(event), _MARK)
        del fields["seq"], fields["t"]
        found.append((msgspec.json.encode(fields)[:-1], event.actor))
    return found


def write_log(path: Path, models: Sequence[Trace], threads: int, *, at_once: int = 500, seed: int = 1) -> int:
    """Write such a log, packed if the name ends in `.gz`: how many events it has."""
    count = 0
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
        out = cast("IO[bytes]", file)
        out.write(encode_line(_header_of(models)))
        for line in lines(models, threads, at_once=at_once, seed=seed):
            out.write(line)
            count += 1
    return count


def _header_of(models: Sequence[Trace]) -> Header:
    first = models[0].header
    if any(
        model.header.program != first.program or model.header.observes != first.observes for model in models
    ):
        raise ValueError("the models are of different programs: give those of one")
    return first


def _renamed(value: Any, prefix: str, name: str = "") -> Any:
    """A copy with names and values of a thread's own; `name` is that of the field that holds the value."""
    if isinstance(value, dict):
        of_steps = name in ("outcomes", "answers")
        return {
            key: _renamed(inside, prefix, "outcome" if of_steps else key) for key, inside in value.items()
        }
    if isinstance(value, list):
        return [_renamed(inside, prefix, name) for inside in value]
    if isinstance(value, str) and name in _OWN and value not in (HARNESS, ROOT_BRANCH):
        return f"{prefix}.{value}"
    return value
