"""TLC's distinct states by depth: a module around a model that prints a line whenever the depth changes.

TLC judges invariants once on every new state, so one that counts sees each of them.  With one worker the search goes
level by level, and a count is complete when the next depth begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tlc_runner import TLCResult
from tlc_runner.config import read_config

__all__ = ["counting_module", "levels_of"]

_MODULE = "CountedLevels"
_TEXT = """---- MODULE {name} ----
EXTENDS {base}
ASSUME TLCSet(1, 0) /\\ TLCSet(2, 0)
CountLevel == LET level == TLCGet("level") IN
  IF level = TLCGet(1) THEN TLCSet(2, TLCGet(2) + 1)
  ELSE PrintT(<<"LEVEL", TLCGet(2)>>) /\\ TLCSet(1, level) /\\ TLCSet(2, 1)
====
"""


@contextmanager
def counting_module(module: Path, cfg: Path) -> Iterator[tuple[Path, Path]]:
    """A module and configuration that run as `module` and `cfg` do, and count.

    TLC must be told of the folder of `module`, which they extend.
    """
    read_config(cfg)  # refuse what TLC could not read
    text = cfg.read_text(encoding="utf-8")
    with TemporaryDirectory(prefix="resume-contract-") as folder:
        counted = Path(folder) / f"{_MODULE}.tla"
        counted.write_text(_TEXT.format(name=_MODULE, base=module.stem), encoding="utf-8")
        counted_cfg = counted.with_suffix(".cfg")
        counted_cfg.write_text(f"{text}\nINVARIANT CountLevel\n", encoding="utf-8")
        yield counted, counted_cfg


def levels_of(result: TLCResult) -> tuple[int, ...] | None:
    """Distinct states by depth; None when the search did not end or the counts do not cover it."""
    if result.distinct is None or result.depth is None or result.queue != 0:
        return None
    printed = [
        value for value in result.printed_values() if isinstance(value, tuple) and value[:1] == ("LEVEL",)
    ]
    counts = [count for _, count in printed if isinstance(count, int)]
    # the last depth has no successor to be printed by
    levels = (*counts, result.distinct - sum(counts))
    return levels if len(levels) == result.depth and min(levels) > 0 else None
