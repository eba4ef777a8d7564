"""The workflows of a recorded program: asynchronous code as an application of DBOS has it.

Imported only when DBOS is installed.
"""

# Its decorators are Any where DBOS is not installed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import asyncio
from typing import Any, Final

from dbos import DBOS, SetWorkflowID, error

from trace_check.recording.systems.dbos.layout import Slot
from trace_check.recording.systems.dbos.session import Session

__all__ = ["register"]

_WAIT: Final = 100_000.0
"""Seconds that a gate waits for its answer."""


def register(session: Session) -> Any:
    """Define the program's workflows; returns the one that is to be started."""
    layout = session.layout

    @DBOS.workflow(name="part")
    async def part(thread: str) -> Any:
        """One instance of the program."""
        return await _Instance(session, str(DBOS.workflow_id), thread).run()

    @DBOS.workflow(name="program")
    async def program() -> dict[str, Any]:
        """The whole: returns the last outcome of each instance."""
        workflow = str(DBOS.workflow_id)
        if layout.joined != "parallel":
            instances = [_Instance(session, workflow, thread) for thread in layout.threads]
            return {instance.thread: await instance.run() for instance in instances}
        handles = []
        for thread in layout.threads:
            with SetWorkflowID(layout.workflow(thread)):
                handles.append(await DBOS.start_workflow_async(part, thread))
        return {
            thread: await handle.get_result() for thread, handle in zip(layout.threads, handles, strict=True)
        }

    return program


class _Instance:
    """One run, from the top, of one instance of the program in one workflow."""

    def __init__(self, session: Session, workflow: str, thread: str) -> None:
        self.thread = thread
        self._session = session
        self._workflow = workflow
        self._where = session.where(thread, workflow)
        self._sealed = session.load(workflow, thread)
        self._outcomes: dict[str, Any] = {}

    async def run(self) -> Any:
        """Run each unit; returns the last outcome."""
        layout = self._session.layout
        for number in range(len(layout.program)):
            for together in layout.rounds(self.thread, number):
                values = await asyncio.gather(*map(self._take, together))
                self._outcomes |= {
                    slot.step.step: value for slot, value in zip(together, values, strict=True)
                }
        return self._outcomes[layout.slots(self.thread)[-1].step.step]

    async def _take(self, slot: Slot) -> Any:
        return await (self._ask(slot) if slot.step.kind == "gate" else self._do(slot))

    async def _ask(self, slot: Slot) -> Any:
        session = self._session
        session.waiting.add(self._workflow)
        value = await DBOS.recv_async(session.layout.topic(slot), timeout_seconds=_WAIT)
        session.waiting.discard(self._workflow)
        if slot.unit < self._sealed:
            return value  # a replay of what is over: nothing behind the gate runs
        return await session.work.passed_async(slot.step.step, value, **self._where)

    async def _do(self, slot: Slot) -> Any:
        """Run an effect or a pure step as a step of DBOS's, which stores what it gives, or gives what is stored."""
        session, name = self._session, slot.step.step
        before = session.layout.before(slot, self._outcomes)
        ran = False

        async def body() -> Any:
            nonlocal ran
            ran = True
            if slot.step.kind == "effect":
                key = f"{self._workflow}:{DBOS.step_id}"
                value: Any = await session.work.fire_async(name, key, before, self.thread)
            else:
                value = session.work.compute(name, before, **self._where)
            session.keep(self._workflow, slot, value)
            return value

        try:
            value = await DBOS.run_step_async({"name": name}, body)
        except (error.DBOSWorkflowConflictIDError, Exception) as raised:
            if ran:
                is_lost = isinstance(raised, error.DBOSWorkflowConflictIDError)
                session.log.emit(
                    "refused",
                    what="record" if is_lost else "outcome",
                    error=type(raised).__name__,
                    step=name,
                    **self._where,
                )
            raise
        # What was stored when the execution began, the load has seen already.
        if not ran and not session.was_stored(self._workflow, slot):
            session.log.emit("memo_used", step=name, **self._where)
        return value
