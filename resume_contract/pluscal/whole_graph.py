"""A module around a model that lets TLC search the whole graph, whatever fails, and print what it found on its way.

Plain TLC stops at the first broken invariant.  Here an invariant that is broken for the first time prints the depth and
counts as kept, and so does a measure that is greater than ever.  With one worker the search goes level by level, so the
first depth is the least.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tlc_runner import TLCResult

__all__ = ["Findings", "findings_of", "whole_graph_module"]

_MODULE = "WholeGraph"
# what TLC calls the level of the initial states differs between its versions
_FIRST = """WatchFirst == IF TLCGet(1) = 0 THEN TLCSet(1, 1) /\\ PrintT(<<"FIRST", TLCGet("level")>>) ELSE TRUE
"""
_FAILS = """Watch{name} == {name} \\/ (IF TLCGet({register}) = 0
  THEN TLCSet({register}, 1) /\\ PrintT(<<"FAILS", "{name}", TLCGet("level")>>) ELSE TRUE)
"""
_MOST = """Measure{name} == IF {name} > TLCGet({register})
  THEN TLCSet({register}, {name}) /\\ PrintT(<<"MOST", "{name}", {name}>>) ELSE TRUE
"""


class Findings(NamedTuple):
    """What such a run printed."""

    fails: dict[str, int]
    """Each broken invariant -> the least depth at which it is."""
    most: dict[str, int]
    """Each measure -> its greatest value."""


@contextmanager
def whole_graph_module(
    module: Path,
    invariants: tuple[str, ...],
    properties: tuple[str, ...],
    text: str,
    measures: tuple[str, ...],
) -> Iterator[tuple[Path, Path]]:
    """The module and its configuration, for one worker; TLC must be told of the folder of `module`.

    Args:
        module: what to search.
        invariants: its invariants, which are watched.
        properties: its properties, which TLC checks as ever.
        text: the configuration's text without invariants and properties.
        measures: operators of the module that are numbers.
    """
    names = (*invariants, *measures)
    watched = [
        (_MOST if name in measures else _FAILS).format(name=name, register=register)
        for register, name in enumerate(names, 2)
    ]
    resets = " /\\ ".join(f"TLCSet({register}, 0)" for register in range(1, len(names) + 2))
    with TemporaryDirectory(prefix="resume-contract-") as folder:
        path = Path(folder) / f"{_MODULE}.tla"
        path.write_text(
            f"---- MODULE {_MODULE} ----\nEXTENDS {module.stem}, TLC\n"
            + f"ASSUME {resets}\n"
            + "".join([_FIRST, *watched])
            + "====\n",
            encoding="utf-8",
        )
        lines = ["INVARIANT WatchFirst"]
        lines += [f"INVARIANT Watch{name}" for name in invariants]
        lines += [f"INVARIANT Measure{name}" for name in measures]
        lines += [f"PROPERTY {name}" for name in properties]
        cfg = path.with_suffix(".cfg")
        cfg.write_text("\n".join([text, *lines, ""]), encoding="utf-8")
        yield path, cfg


def findings_of(result: TLCResult, measures: tuple[str, ...]) -> Findings:
    """What a run of the module printed."""
    found = Findings({}, dict.fromkeys(measures, 0))
    first = 1
    for value in result.printed_values():
        match value:
            case ("FIRST", int(level)):
                first = level
            case ("FAILS", str(name), int(level)):
                found.fails[name] = level - first + 1
            case ("MOST", str(name), int(number)):
                found.most[name] = number
    return found
