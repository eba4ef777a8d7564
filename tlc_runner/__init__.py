"""Runs TLC, the TLA+ model checker, and reads what it says: for any spec.

TLC in this process, through JPype, is in `tlc_runner.oracle`; it is not imported from here, for it loads
much.
"""

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
