"""A DBOS application that runs a recorded program: what each process does with it.

Imported only when DBOS is installed.
"""

from __future__ import annotations

import time
from typing import Final

from dbos import DBOS, SetWorkflowID

from trace_check.errors import RecordingError
from trace_check.recording.scenarios import Answering, Forking, Start
from trace_check.recording.systems.dbos.layout import SHUT_DOWN
from trace_check.recording.systems.dbos.session import Session, recording_connection
from trace_check.recording.systems.dbos.store import ACTIVE, Tables, checkpoint_id, database, open_tables
from trace_check.recording.systems.dbos.workflows import register
from trace_check.recording.work import told

__all__ = ["act"]

_VERSION: Final = "1"
"""The application's version: DBOS recovers workflows of its own version only."""

_LOOK_EVERY: Final = 0.02


def act(session: Session) -> None:
    """Take the job's action, and stay until nothing is left for this process to do."""
    job, layout = session.job, session.layout
    # Before DBOS: once it runs, it may take the workflow over.
    before = _owner(session, layout.root)
    DBOS(
        config={
            "name": "recorded",
            "system_database_url": f"sqlite:///{database(session.folder)}",
            "db_engine_kwargs": {"connect_args": {"factory": recording_connection(session)}},
            "application_version": _VERSION,
            "notification_listener_polling_interval_sec": 0.05,
            "log_level": "CRITICAL",
        }
    )
    workflow = register(session)
    DBOS.launch()
    target = layout.root
    match job.action:
        case Start():
            with SetWorkflowID(target):
                DBOS.start_workflow(workflow)
        case Forking(child=child):
            target = _fork(session, child)
        case Answering():
            _answer(session, job.action)
    try:
        _stay(session, target, before)
    finally:
        if job.kept_in == SHUT_DOWN:
            DBOS.destroy()


def _answer(session: Session, action: Answering) -> None:
    layout = session.layout
    slot = next(slot for slot in layout.slots(action.thread) if slot.step.step == action.gate)
    operation = session.log.begin(
        "answer",
        gate=action.gate,
        delivery=action.delivery,
        value=action.value,
        thread=action.thread,
    )
    try:
        DBOS.send(
            layout.workflow(action.thread),
            action.value,
            layout.topic(slot),
            idempotency_key=action.delivery,
        )
    except Exception:
        operation.end(accepted=False)
        raise
    operation.end(accepted=True)


def _fork(session: Session, child: str) -> str:
    layout, log = session.layout, session.log
    thread = layout.threads[0]
    start = int(session.job.token or "1")
    units = len({slot.unit for slot in layout.slots(thread) if slot.function_id < start})
    operation = log.begin(
        "forked",
        checkpoint=checkpoint_id(layout, thread, layout.root, units - 1) if units else None,
        index=units,
        child=child,
        declared=True,
    )
    with SetWorkflowID(layout.workflow(thread, child)):
        handle = DBOS.fork_workflow(layout.root, start, application_version=_VERSION)
    operation.end()
    log.branch = child
    return str(handle.workflow_id)


def _owner(session: Session, workflow: str) -> str | None:
    if not database(session.folder).exists():
        return None
    with open_tables(session.folder) as tables:
        found = tables.status(workflow)
    return found.owner if found is not None else None


def _stay(session: Session, workflow: str, before: str | None) -> None:
    """Wait until the workflow ends, waits at its gates, or is run by another process."""
    layout = session.layout
    while True:
        with open_tables(session.folder) as tables:
            found = tables.status(workflow)
            if found is None:
                raise RecordingError(f"DBOS has no workflow {workflow!r}", "start it before")
            if found.status not in ACTIVE:
                break
            if _is_parked(session, tables, layout.branch(workflow)):
                return
        if found.status == "PENDING" and found.owner not in {None, before, *session.owned}:
            return
        time.sleep(_LOOK_EVERY)
    outcome = DBOS.retrieve_workflow(workflow).get_result()
    for thread in layout.threads:
        session.log.emit("completed", outcome=told(outcome[thread]), **session.where(thread, workflow))


def _is_parked(session: Session, tables: Tables, branch: str) -> bool:
    """Whether each workflow with steps is over, or is run here and waits at a gate."""
    layout = session.layout
    for workflow in {layout.workflow(thread, branch) for thread in layout.threads}:
        found = tables.status(workflow)
        waits = any(
            slot.step.kind == "gate" and tables.is_waiting(layout, slot, workflow)
            for thread in layout.threads_of(workflow)
            for slot in layout.slots(thread)
        )
        if found is None or (found.status in ACTIVE and not (waits and workflow in session.waiting)):
            return False
    return True
