"""Recording of traces: event log, effect sinks, scenarios, systems, and a harness that kills and resumes."""

from __future__ import annotations

from trace_check.recording.catalogue import SCENARIOS, race
from trace_check.recording.harness import record
from trace_check.recording.scenarios import Scenario

__all__ = ["SCENARIOS", "Scenario", "race", "record"]
