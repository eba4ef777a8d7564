"""The process under test: does one job and ends; ``python -m … JOB ASK REPLY`` or ``JOB READINGS``."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path

import msgspec

from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.log import EventLog
from trace_check.recording.probe import Probe
from trace_check.recording.sink import open_sink
from trace_check.recording.system import RECORDER_FAILED, Job, System, load_system

__all__ = ["main"]


def main(argv: list[str]) -> int:
    """Do the job of the file ``argv[0]``, whose probe asks and is answered on the file descriptors that follow; or, with
    one more argument alone, read its store and write that file.

    Returns:
        0 when the action came back, 1 when the framework raised (the log says so),
        :data:`~trace_check.recording.system.RECORDER_FAILED` when the recorder failed.
    """
    job = msgspec.json.decode(Path(argv[0]).read_bytes(), type=Job)
    system = load_system(job.system, job.kept_in)
    if len(argv) == 2:
        return _read(system, job, Path(argv[1]))
    ask, reply = map(int, argv[1:])
    probe = Probe(job.stops, ask, reply, job.hold)
    status = _take(system, job, probe)
    if system.ends_at_once:
        sys.stderr.flush()
        os._exit(status)
    return status


def _take(system: System, job: Job, probe: Probe) -> int:
    with EventLog(Path(job.log), job.actor, job.thread) as log:
        sink = open_sink("keyed" if job.sink == "keyed" else "plain", Path(job.folder), log)
        for module in system.modules:
            importlib.import_module(module)
        probe.reach(points.STARTED)
        try:
            system.run(job, log, sink, probe)
        except (RecordingError, ImportError) as error:
            # What can't be imported is missing here, and says nothing about the framework.
            print(error, file=sys.stderr)
            return RECORDER_FAILED
        except Exception as error:
            traceback.print_exc()
            log.emit("resume_failed", error=type(error).__name__)
            return 1
    return 0


def _read(system: System, job: Job, output: Path) -> int:
    try:
        found = system.read_threads(Path(job.folder), job.threads, job.joined, job.program)
    except RecordingError as error:
        print(error, file=sys.stderr)
        return RECORDER_FAILED
    output.write_bytes(msgspec.json.encode(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
