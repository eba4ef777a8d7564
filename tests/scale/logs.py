"""Logs of several threads: random behaviours of the mirror, of the reference and of faults, mingled line by line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from pymodel.resume.layout import Bounds
from pymodel.resume.model import FAULTS
from pymodel.resume.program import PROGRAMS
from trace_check.events import ACTION_KINDS, encode_line
from trace_check.trials.programs import random_program
from trace_check.trials.rendering import header_of, random_behaviour, render

__all__ = ["Json", "mingled", "random_log", "renumbered", "written"]

Json = dict[str, Any]


def renumbered(events: list[Json]) -> list[Json]:
    """The same with each actor's lines counted, and the clock, anew."""
    seq: dict[str, int] = {}
    for t, event in enumerate(events, 1):
        event["seq"] = seq[event["actor"]] = seq.get(event["actor"], 0) + 1
        event["t"] = t
    return events


def mingled(rng: random.Random, threads: list[list[Json]]) -> list[Json]:
    """The lines of several threads in a random order that keeps that of each."""
    places = [0] * len(threads)
    order = [number for number, events in enumerate(threads) for _ in events]
    rng.shuffle(order)
    found = []
    for number in order:
        found.append(threads[number][places[number]])
        places[number] += 1
    return renumbered(found)


def random_log(rng: random.Random, threads: int, faulty: float = 0.8) -> tuple[bytes, list[Json]]:
    """The header and the events of a log: reference behaviours, and by the probability `faulty` deviating ones."""
    program = rng.choice(list(PROGRAMS.values())) if rng.random() < 0.5 else random_program(rng)
    observes = frozenset(kind for kind in sorted(ACTION_KINDS) if rng.random() < 0.9)
    shown: list[list[Json]] = []
    for number in range(threads):
        bounds = Bounds(
            runners=rng.randint(1, 2), branches=rng.randint(1, 2), answers=2, values=3, crashes=1, expiries=1,
            invalid=rng.randint(0, 1), computations=3,
        )  # fmt: skip
        faults = [rng.choice(list(FAULTS))] if rng.random() < faulty else []
        behaviour = random_behaviour(rng, program, bounds, faults, length=rng.randint(5, 28))
        rendering = render(rng, behaviour, overlap=0.3, pending=0.3, observes=observes)
        rendering.thread = f"thread {number}"
        lines = [json.loads(line) for line in rendering.events()]
        shown.append(lines)
        if rng.random() < 0.5:  # the same once more under other names
            shown.append(
                [json.loads(json.dumps(line).replace(f"thread {number}", f"copy {number}")) for line in lines]
            )
    return encode_line(header_of(program, observes)), mingled(rng, shown)


def written(path: Path, header: bytes, events: list[Json]) -> Path:
    path.write_bytes(header + b"".join(json.dumps(event).encode() + b"\n" for event in events))
    return path
