"""Recording of traces: event log, effect sinks, scenarios, systems, and a harness that kills and resumes."""

from __future__ import annotations

from trace_check.recording.harness import record
from trace_check.recording.scenarios import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario", "record"]
