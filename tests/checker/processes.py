"""A workflow engine in small, with a thread for every step that may run: what its processes write as a trace.

It keeps the contract by construction and knows nothing of the mirror: a store with compare-and-set, a keyed sink, a
gate that one process claims at a time.  A scheduler picks at random who goes on.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from pymodel.resume.program import Program, Step
from trace_check.trials.rendering import Line, Rendering, header_of

__all__ = ["random_processes", "unordered_program"]


def unordered_program(rng: random.Random) -> Program:
    """Two or three units of up to four steps, most of them without an order."""
    units, number = [], 0
    for _ in range(rng.randint(2, 3)):
        unit: list[Step] = []
        for _ in range(rng.randint(1, 4)):
            number += 1
            kinds = ["pure", "effect", "effect"] + ["gate"] * all(s.kind != "gate" for s in unit)
            after = tuple(s.name for s in unit if rng.random() < 0.25)
            unit.append(Step(f"s{number}", rng.choice(kinds), after))
        units.append(tuple(unit))
    return Program("unordered", tuple(units))


@dataclass
class _Store:
    sealed: int = 0
    ledger: dict[str, str] = field(default_factory=dict)
    fired: set[str] = field(default_factory=set)
    parked: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    owner: dict[str, str] = field(default_factory=dict)


@dataclass
class _Thread:
    """One step being run: what it does next."""

    step: Step
    doing: str = "run"
    line: Line | None = None


@dataclass
class _Process:
    name: str
    loaded: int = -1
    threads: list[_Thread] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    waits: bool = False
    doing: str = "load"
    line: Line | None = None


class _Engine:
    def __init__(self, rng: random.Random, program: Program, at_once: int) -> None:
        self.rng, self.program, self.at_once = rng, program, at_once
        self.store = _Store()
        self.lines: list[Line] = []
        self.processes: list[_Process] = []
        self.dead: set[str] = set()
        self.count = 0

    # -- lines

    def write(
        self, actor: str, kind: str, phase: str | None = None, op: str | None = None, **fields: object
    ) -> Line:
        line = Line(len(self.lines), actor, kind, "main", dict(fields), phase, op)
        self.lines.append(line)
        return line

    def begin(self, actor: str, kind: str, **fields: object) -> Line:
        return self.write(actor, kind, "begin", f"op{len(self.lines)}", **fields)

    def end(self, begun: Line, kind: str | None = None, **fields: object) -> None:
        said = fields if kind else begun.fields | fields
        self.write(begun.actor, kind or begun.kind, "end", begun.op, **said)

    # -- what goes on

    def start(self) -> None:
        self.count += 1
        self.processes.append(_Process(f"p{self.count}"))

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            more = not self.processes or (self.rng.random() < 0.03 and len(self.processes) < self.at_once)
            if more and self.store.sealed < len(self.program.units):
                self.start()
            if not self.processes:
                return
            process = self.rng.choice(self.processes)
            if self.rng.random() < 0.02:
                self.write(process.name, "crashed", signal="SIGKILL")
                self.dead.add(process.name)
                self.processes.remove(process)
            else:
                self.go_on(process)
            self.answer()

    def answer(self) -> None:
        for gate in sorted(self.store.parked - self.store.answered):
            if self.rng.random() < 0.3:
                self.store.answered.add(gate)
                told = self.begin(f"client-{gate}", "answer", gate=gate, delivery="d1", value="yes")
                self.end(told, accepted=True)

    def go_on(self, process: _Process) -> None:
        if process.doing == "load":
            process.line = self.begin(process.name, "loaded")
            process.doing = "loading"
        elif process.doing == "loading":
            self.load(process)
        elif process.doing == "commit":
            self.commit(process)
        elif process.threads:
            self.go_on_with(process, self.rng.choice(process.threads))
        elif process.waits:
            self.processes.remove(process)
        else:
            unit = self.program.units[process.loaded]
            fields = {"unit": f"u{process.loaded + 1}", "steps": [s.name for s in unit]}
            outcomes = {s.name: self.store.ledger[s.name] for s in unit}
            process.line = self.begin(
                process.name,
                "committed",
                outcomes=outcomes,
                checkpoint="c",
                parent=None,
                valid=True,
                next=[],
                **fields,
            )
            process.doing = "commit"

    def load(self, process: _Process) -> None:
        assert process.line is not None
        store = self.store
        if store.sealed == len(self.program.units):
            self.end(process.line, "refused", what="load")
            self.processes.remove(process)
            return
        process.loaded, process.doing = store.sealed, "work"
        self.end(process.line, checkpoint=None, index=store.sealed)
        self.enter(process)

    def enter(self, process: _Process) -> None:
        process.threads, process.taken = [], set()
        for step in self.program.units[process.loaded]:
            self.take_up(process, step)

    def take_up(self, process: _Process, step: Step) -> None:
        """A thread for a step, if what comes before it is recorded and it is not."""
        before = self.program.predecessors(step.name)
        ready = all(self.is_recorded(process, name) for name in before)
        if ready and step.name not in process.taken and not self.is_recorded(process, step.name):
            process.taken.add(step.name)
            process.threads.append(_Thread(step))

    def is_recorded(self, process: _Process, name: str) -> bool:
        owner = self.store.owner.get(name, process.name)
        return name in self.store.ledger and owner == process.name

    def go_on_with(self, process: _Process, thread: _Thread) -> None:
        step, store = thread.step, self.store
        if thread.doing == "run" and step.kind == "gate":
            self.go_to_gate(process, thread)
        elif thread.doing == "run":
            outcome = f"o-{step.name}"
            if step.kind == "effect":
                applied = step.name not in store.fired
                store.fired.add(step.name)
                fields = {"step": step.name, "key": step.name, "applied": applied, "outcome": outcome}
                self.write(process.name, "effect_fired", None, None, **fields)
            else:
                self.write(process.name, "computed", None, None, step=step.name, outcome=outcome, valid=True)
            thread.doing = "record"
        elif thread.doing == "record":
            thread.line = self.begin(process.name, "recorded", step=step.name, outcome=f"o-{step.name}")
            thread.doing = "recording"
        elif thread.doing == "recording" and store.sealed == len(self.program.units):
            assert thread.line is not None
            self.end(thread.line, "refused", what="record", step=step.name)
            process.threads.remove(thread)
            process.waits = True
        elif thread.doing == "recording":
            store.ledger.setdefault(step.name, f"o-{step.name}")
            thread.doing = "recorded"
            self.done(process, thread)
        else:
            assert thread.line is not None
            self.end(thread.line)
            process.threads.remove(thread)

    def done(self, process: _Process, thread: _Thread) -> None:
        for step in self.program.units[process.loaded]:
            if thread.step.name in self.program.predecessors(step.name):
                self.take_up(process, step)

    def go_to_gate(self, process: _Process, thread: _Thread) -> None:
        gate, store = thread.step.name, self.store
        process.threads.remove(thread)
        owner = store.owner.get(gate)
        if gate in store.answered and (owner is None or owner in self.dead):
            store.owner[gate] = process.name
            store.ledger[gate] = "yes"
            self.write(process.name, "gate_passed", None, None, gate=gate, value="yes")
            self.done(process, thread)
        elif gate not in store.parked:
            store.parked.add(gate)
            process.waits = True
            self.end(self.begin(process.name, "parked", gate=gate))
        else:
            process.waits = True
            self.write(process.name, "refused", None, None, what="gate", gate=gate)

    def commit(self, process: _Process) -> None:
        assert process.line is not None
        if self.store.sealed != process.loaded:
            self.end(process.line, "refused", what="commit", unit=f"u{process.loaded + 1}")
            process.doing = "load"
            return
        self.store.sealed += 1
        self.end(process.line)
        process.loaded += 1
        process.doing = "work"
        if process.loaded == len(self.program.units):
            self.write(process.name, "completed", None, None, outcome="-")
            self.processes.remove(process)
        else:
            self.enter(process)


def random_processes(rng: random.Random, program: Program, ticks: int, at_once: int = 1) -> Rendering:
    """The trace of processes, at most so many at once, each until it has to wait, dies or is done."""
    engine = _Engine(rng, program, at_once)
    engine.run(ticks)
    return Rendering(header_of(program), engine.lines)
