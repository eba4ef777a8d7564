"""Runs TLC, the TLA+ model checker, and reads what it says: for any spec.

TLC in this process, through JPype, is in `tlc_runner.oracle`; it is not imported from here, for it loads
much.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import JarError, JavaError, OracleError, PlusCalError, SpecError, TLCError, ValueSyntaxError
    from .graph import read_dot, state_graph
    from .jar import KNOWN_JARS, Jar, find_jar
    from .java import Java, find_java
    from .messages import Message, MessageParser, Unframed, parse_messages
    from .outcome import Outcome
    from .pluscal import is_translation_current, translate
    from .result import Progress, TLCInterrupted, TLCResult, TraceState, Violation
    from .run import run_tlc, tlc_command
    from .values import (
        FrozenMap,
        ModelValue,
        Opaque,
        Value,
        format_value,
        from_json,
        function,
        parse_state,
        parse_value,
        to_json,
    )

__all__ = [
    "KNOWN_JARS",
    "FrozenMap",
    "Jar",
    "JarError",
    "Java",
    "JavaError",
    "Message",
    "MessageParser",
    "ModelValue",
    "Opaque",
    "OracleError",
    "Outcome",
    "PlusCalError",
    "Progress",
    "SpecError",
    "TLCError",
    "TLCInterrupted",
    "TLCResult",
    "TraceState",
    "Unframed",
    "Value",
    "ValueSyntaxError",
    "Violation",
    "find_jar",
    "find_java",
    "format_value",
    "from_json",
    "function",
    "is_translation_current",
    "parse_messages",
    "parse_state",
    "parse_value",
    "read_dot",
    "run_tlc",
    "state_graph",
    "tlc_command",
    "to_json",
    "translate",
]

_HOMES = {
    "FrozenMap": "values",
    "Jar": "jar",
    "JarError": "errors",
    "Java": "java",
    "JavaError": "errors",
    "KNOWN_JARS": "jar",
    "Message": "messages",
    "MessageParser": "messages",
    "ModelValue": "values",
    "Opaque": "values",
    "OracleError": "errors",
    "Outcome": "outcome",
    "PlusCalError": "errors",
    "Progress": "result",
    "SpecError": "errors",
    "TLCError": "errors",
    "TLCInterrupted": "result",
    "TLCResult": "result",
    "TraceState": "result",
    "Unframed": "messages",
    "Value": "values",
    "ValueSyntaxError": "errors",
    "Violation": "result",
    "find_jar": "jar",
    "find_java": "java",
    "format_value": "values",
    "from_json": "values",
    "function": "values",
    "is_translation_current": "pluscal",
    "parse_messages": "messages",
    "parse_state": "values",
    "parse_value": "values",
    "read_dot": "graph",
    "run_tlc": "run",
    "state_graph": "graph",
    "tlc_command": "run",
    "to_json": "values",
    "translate": "pluscal",
}
"""Where each name is: it is imported when it is first used, so that one part does not load the others."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
