"""Races of several processes through one gate."""

from __future__ import annotations

import random

from script import Script, effect, gate, unit

from trace_check.events import ProgramUnit

__all__ = ["GATE_ALONE", "all_pass", "one_passes", "parked", "random_race"]

PROGRAM = (unit("u1", effect("e1")), unit("u2", gate("g"), effect("e2", "g")))


GATE_ALONE = (unit("u1", effect("e1")), unit("u2", gate("g")), unit("u3", effect("e2")))


def parked(sink: str, program: tuple[ProgramUnit, ...] = PROGRAM) -> Script:
    """The first process has come to the gate."""
    script = Script(*program, sink=sink)
    script.load("p1", 0)
    script.fire("p1", "e1")
    script.record("p1", "e1")
    script.commit("p1", "u1", e1="ok")
    script.park("p1", "g")
    return script


def all_pass(count: int, sink: str) -> Script:
    """So many processes deliver one answer at once; all are past the gate, all fire, and all record it."""
    script = parked(sink)
    racers = [f"r{n}" for n in range(count)]
    begun = [script.begin(racer, "answer", gate="g", delivery="d1", value="yes") for racer in racers]
    for racer in racers:
        script.load(racer, 1)
    for racer in racers:
        script.pass_gate(racer, "g", "yes")
    for operation in begun:
        script.end(operation, accepted=True)
    for n, racer in enumerate(racers):
        script.fire(racer, "e2", applied=sink == "plain" or n == 0)
    for racer in racers:
        script.record(racer, "e2")
    return script


def one_passes(count: int) -> Script:
    """The last one passes, and commits; all others are refused at the gate."""
    script = parked("keyed")
    racers = [f"r{n}" for n in range(count)]
    begun = [script.begin(racer, "answer", gate="g", delivery="d1", value="yes") for racer in racers]
    for racer in racers:
        script.load(racer, 1)
    script.pass_gate(racers[-1], "g", "yes")
    for racer in racers[:-1]:
        script.line(racer, "refused", what="gate", gate="g")
    for operation in begun:
        script.end(operation, accepted=True)
    script.fire(racers[-1], "e2")
    script.record(racers[-1], "e2")
    script.commit(racers[-1], "u2", g="yes", e2="ok")
    return script


def random_race(rng: random.Random, count: int) -> Script:
    """Processes that do much the same, each at its own pace; some are refused, some stop or die early."""
    sink = rng.choice(("plain", "keyed"))
    script = parked(sink)
    script.answer("client", "g", "d1", "yes")
    todo: dict[str, list[str]] = {}
    for n in range(count):
        doing = ["load", "loaded", "pass" if rng.random() < 0.8 else "refused"]
        if doing[-1] == "pass":
            doing += ["fire", "record", "recorded", "commit", "committed"][: rng.choice((1, 3, 3, 3, 5))]
        if rng.random() < 0.15:
            doing = [*doing[: rng.randint(2, len(doing))], "crash"]
        todo[f"r{n}"] = doing
    begun = {}
    fired = False
    while any(todo.values()):
        left = [racer for racer, doing in todo.items() if doing]
        most = max(len(todo[racer]) for racer in left)
        behind = [racer for racer in left if len(todo[racer]) == most]
        racer = rng.choice(behind if rng.random() < 0.6 else left)
        match todo[racer].pop(0):
            case "load":
                begun[racer] = script.begin(racer, "loaded")
            case "loaded":
                script.end(begun[racer], checkpoint="c1", index=1)
            case "pass":
                script.pass_gate(racer, "g", "yes")
            case "refused":
                script.line(racer, "refused", what="gate", gate="g")
            case "fire":
                script.fire(racer, "e2", applied=sink == "plain" or not fired)
                fired = True
            case "record":
                begun[racer] = script.begin(racer, "recorded", step="e2", outcome="ok")
            case "commit":
                fields = script.commit_fields("u2", g="yes", e2="ok")
                begun[racer] = script.begin(racer, "committed", **fields)
            case "recorded" | "committed":
                script.end(begun[racer])
            case "crash":
                script.crash(racer)
    return script
