"""An application of LlamaIndex Workflows: what each process does with the recorded workflow.

Imported only when LlamaIndex Workflows is installed.
"""

from __future__ import annotations

import asyncio
from typing import Any

from workflows import Context
from workflows.events import UnhandledEvent, WorkflowIdleEvent

from trace_check.errors import RecordingError
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering, Forking
from trace_check.recording.system import Job
from trace_check.recording.systems.llama_index_workflows.app import Answer, Ask, Program
from trace_check.recording.systems.llama_index_workflows.session import Session
from trace_check.recording.systems.llama_index_workflows.store import waiters_in
from trace_check.recording.work import Work, told

__all__ = ["act"]


def act(job: Job, log: EventLog, work: Work, probe: Probe) -> None:
    """Take the job's action; go on until the workflow ends or waits."""
    if isinstance(job.action, Forking):
        raise RecordingError("LlamaIndex Workflows declares no forks", "leave the fork out of the scenario")
    session = Session(job, log, work, probe)
    try:
        result = asyncio.run(_act(job, session))
    finally:
        if session.failure is not None:
            raise session.failure
    if result is not None:
        for thread in job.threads:
            log.emit("completed", outcome=told(result[thread]), thread=thread)


async def _act(job: Job, session: Session) -> dict[str, Any] | None:
    """Returns the last outcomes, or None where the workflow waits."""
    kept = session.load(job.token)
    workflow = Program(session)
    context = Context.from_dict(workflow, kept) if kept is not None else None
    handler = session.handler = workflow.run(ctx=context) if context is not None else workflow.run()
    is_due = isinstance(job.action, Answering)
    if isinstance(job.action, Answering):
        action = job.action
        operation = session.log.begin(
            "answer",
            thread=action.thread,
            gate=action.gate,
            delivery=action.delivery,
            value=action.value,
        )
        answer = Answer(thread=action.thread, gate=action.gate, value=action.value)
        handler.ctx.send_event(answer)
        operation.end(accepted=True)
        # Only a step that waited before it was loaded is sure to see it.
        is_due = kept is not None and f"{action.thread}/{action.gate}" in waiters_in(kept)
    async for event in handler.stream_events(expose_internal=True):
        if isinstance(event, Ask):
            session.keep_gate(event.thread, event.gate)
        elif isinstance(event, UnhandledEvent):
            is_due = False
        elif isinstance(event, WorkflowIdleEvent) and not (is_due and not session.passed):
            await handler.cancel_run()
            return None
    result: dict[str, Any] = await handler
    return result
