"""A synthetic model: sliders that only move up, each with a slice of the record of its own.

A slider at position v shows the bytes of `faces[slider, v]`, which may differ in their last byte alone. Its states
are counted by arithmetic: with n sliders of p positions there are p ** n, and n * (p - 1) * p ** (n - 1) moves.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import itertools
import sys
from typing import Any, NamedTuple

import numpy as np

from pymodel.engine import Model, copy_row

HEAD = 2
UP, STAY = 0, 1
OVERFLOWS = ("", "position")


class Config(NamedTuple):
    sliders: int
    last: int  # the last position
    limit: int  # the highest position that fits
    stays: int  # 1: every state is a successor of itself too
    stop_at: int  # the sum of positions from which on nothing moves; 0: never
    starts: Any
    lengths: Any
    faces: Any  # faces[slider, position, byte]


def position(c, s, slider):
    """Where a slider is, read off its bytes."""
    for v in range(c.last + 1):
        same = True
        for j in range(c.lengths[slider]):
            if s[c.starts[slider] + j] != c.faces[slider, v, j]:
                same = False
                break
        if same:
            return v
    return -1


def total(c, s):
    result = 0
    for slider in range(c.sliders):
        result += position(c, s, slider)
    return result


def Next(c, s, out, labels):
    n = 0
    moves = c.stop_at == 0 or total(c, s) < c.stop_at
    for slider in range(c.sliders):
        v = position(c, s, slider)
        if moves and v < c.last:
            copy_row(out, n, s)
            if v + 1 > c.limit:
                out[n, 0] = 1
            for j in range(c.lengths[slider]):
                out[n, c.starts[slider] + j] = c.faces[slider, v + 1, j]
            labels[n, 0] = UP
            labels[n, 1] = slider
            n += 1
    if c.stays:
        copy_row(out, n, s)
        labels[n, 0] = STAY
        labels[n, 1] = 0
        n += 1
    return n


def Check(c, s, t):
    broken = 0
    if position(c, s, 0) == c.last and position(c, s, c.sliders - 1) == 0:
        broken |= 1
    if total(c, s) > 1000:
        broken |= 2
    return broken


def Sometimes(c, s):
    seen = 0
    if total(c, s) == c.sliders * c.last:
        seen |= 1
    if position(c, s, 0) < 0:
        seen |= 2
    return seen


def build(
    lengths: tuple[int, ...],
    positions: int,
    *,
    limit: int = 255,
    stays: bool = False,
    stop_at: int = 0,
    wild: bool = False,
    fanout: int | None = None,
    initial: tuple[tuple[int, ...], ...] = (),
) -> Model:
    """Sliders with faces of these lengths; with `wild` the faces are random, else they differ in the last byte."""
    count = len(lengths)
    faces = np.full((count, positions, max(lengths)), 7, np.uint8)
    generator = np.random.default_rng(1)
    for slider, length in enumerate(lengths):
        if wild:
            faces[slider] = generator.integers(0, 256, faces[slider].shape)
        faces[slider, :, length - 1] = np.arange(positions)
    starts = np.array([HEAD, *itertools.accumulate(lengths)], np.int64)
    starts[1:] += HEAD
    width = int(starts[-1])
    rows = np.zeros((max(1, len(initial)), width), np.uint8)
    for row, where in zip(rows, initial or ((0,) * count,), strict=True):
        for slider, v in enumerate(where):
            row[starts[slider] : starts[slider + 1]] = faces[slider, v, : lengths[slider]]
    config = Config(
        sliders=count,
        last=positions - 1,
        limit=limit,
        stays=int(stays),
        stop_at=stop_at,
        starts=starts[:-1],
        lengths=np.array(lengths, np.int64),
        faces=faces,
    )

    def decode(record: Any) -> dict[str, Any]:
        return {"at": tuple(position(config, record, slider) for slider in range(count))}

    return Model(
        name="sliders",
        module=sys.modules[__name__],
        config=config,
        width=width,
        fanout=count + 1 if fanout is None else fanout,
        label_width=2,
        initial=rows,
        actions=("Up", "Stay"),
        invariants=("NotLastBeforeFirst", "NeverFar"),
        sometimes=("AllUp", "Unreadable"),
        components=(0, *(int(at) for at in starts[:-1])),
        overflow=OVERFLOWS,
        decode=decode,
        describe=lambda label: "Stay" if label[0] == STAY else f"Up({label[1]})",
    )
