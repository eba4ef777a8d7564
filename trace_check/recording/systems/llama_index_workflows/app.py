"""The workflow of a recorded program.

A step runs one part of a unit, and the parts of a unit at once; another gathers them and goes on to the next unit.  The
events are classes of this module, so that the framework finds them again when it reads a context.

Imported only when LlamaIndex Workflows is installed.
"""

# The base classes are Any where the framework is not installed.
# mypy: disallow-subclassing-any=False
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import uuid
from typing import Any

from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

from trace_check.errors import RecordingError
from trace_check.recording.systems.llama_index_workflows.session import Session

__all__ = ["Answer", "Ask", "Program"]


class Part(Event):
    """Run this part of a unit."""

    unit: int
    part: int


class PartDone(Event):
    """That part has run."""

    unit: int


class Ask(InputRequiredEvent):
    """A gate waits for an answer."""

    thread: str
    gate: str


class Answer(HumanResponseEvent):
    """An answer to a gate."""

    thread: str
    gate: str
    value: Any


class Program(Workflow):
    """The program; `session` tells its steps where they are."""

    def __init__(self, session: Session) -> None:
        super().__init__(timeout=None)
        self.session = session

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Part | None:
        """Send the parts of the first unit."""
        self._send(ctx, 0)
        return None

    @step(num_workers=8)
    async def run_part(self, ctx: Context, ev: Part) -> PartDone | None:
        """Run each step of a part that the context does not hold yet."""
        session = self.session
        try:
            for thread, name in session.parts[ev.unit][ev.part]:
                if name not in await self._outcomes(ctx, thread):
                    await self._take(ctx, thread, name)
        except RecordingError as error:
            session.failure = error
            raise
        # A context that was taken behind a wait of a step is resumed with that step twice.
        if (ev.unit, ev.part) in session.done:
            return None
        session.done.add((ev.unit, ev.part))
        return PartDone(unit=ev.unit)

    @step
    async def join(self, ctx: Context, ev: PartDone) -> Part | StopEvent | None:
        """When all parts of a unit have run, send those of the next, or stop."""
        count = len(self.session.parts[ev.unit])
        if ctx.collect_events(ev, [PartDone] * count, buffer_id=str(ev.unit)) is None:
            return None
        if ev.unit + 1 < len(self.session.parts):
            self._send(ctx, ev.unit + 1)
            return None
        last = self.session.program[-1].steps[-1].step
        return StopEvent(result={t: (await self._outcomes(ctx, t))[last] for t in self.session.threads})

    def _send(self, ctx: Context, unit: int) -> None:
        for part in range(len(self.session.parts[unit])):
            ctx.send_event(Part(unit=unit, part=part))

    async def _outcomes(self, ctx: Context, thread: str) -> dict[str, Any]:
        everything = await ctx.store.get("outcomes", default={})
        return dict(everything.get(thread, {}))

    async def _take(self, ctx: Context, thread: str, name: str) -> None:
        session = self.session
        kind = session.work.steps[name].kind
        content = session.before(name, await self._outcomes(ctx, thread))
        if kind == "gate":
            answer = await ctx.wait_for_event(
                Answer,
                waiter_event=Ask(thread=thread, gate=name),
                waiter_id=f"{thread}/{name}",
                requirements={"thread": thread, "gate": name},
                timeout=None,
            )
            session.passed.add((thread, name))
            value = await session.work.passed_async(name, answer.value, thread=thread)
        elif kind == "effect":
            value = await session.work.fire_async(name, uuid.uuid4().hex, content, thread)
        else:
            value = session.work.compute(name, content, thread=thread)
        await ctx.store.set(f"outcomes.{thread}.{name}", value)
        if kind != "gate":
            # A gate's answer is kept with the step behind it.
            session.keep_step(thread, name, value)
