"""What a run of TLC came to, from its messages and its exit status together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .messages import Message

__all__ = ["Finding", "Outcome", "classify", "findings"]


class Outcome(Enum):
    """How a run ended."""

    SUCCESS = "success"
    INVARIANT_VIOLATED = "invariant violated"
    ACTION_PROPERTY_VIOLATED = "action property violated"
    LIVENESS_VIOLATED = "liveness violated"
    DEADLOCK = "deadlock"
    ASSUMPTION_FAILED = "assumption failed"
    ASSERTION_FAILED = "assertion failed"
    EVALUATION_ERROR = "evaluation error"
    PARSE_ERROR = "parse error"
    BAD_CONFIG = "bad configuration"
    OUT_OF_MEMORY = "out of memory"
    DISK_FULL = "disk full"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    CRASHED = "crashed"

    @property
    def is_violation(self) -> bool:
        """Whether TLC judged the model and found it wanting."""
        return self in _VIOLATIONS

    @property
    def exit_status(self) -> int:
        """The status of a command that reports it: 0 success, 1 violation, 2 could not check."""
        return 0 if self is Outcome.SUCCESS else 1 if self.is_violation else 2


_VIOLATIONS = frozenset(
    {
        Outcome.INVARIANT_VIOLATED,
        Outcome.ACTION_PROPERTY_VIOLATED,
        Outcome.LIVENESS_VIOLATED,
        Outcome.DEADLOCK,
        Outcome.ASSUMPTION_FAILED,
        Outcome.ASSERTION_FAILED,
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that speaks against the run.

    Attributes
    ----------
    outcome, property
        What it is, and the name of the invariant or property if TLC gives it.
    text
        TLC's own words, over several lines.
    """

    outcome: Outcome
    property: str | None
    text: str


_BY_CODE: dict[int, Outcome] = {
    2107: Outcome.INVARIANT_VIOLATED,
    2110: Outcome.INVARIANT_VIOLATED,
    2108: Outcome.ACTION_PROPERTY_VIOLATED,
    2112: Outcome.ACTION_PROPERTY_VIOLATED,
    2116: Outcome.LIVENESS_VIOLATED,
    2114: Outcome.DEADLOCK,
    2115: Outcome.DEADLOCK,
    2104: Outcome.ASSUMPTION_FAILED,
    2105: Outcome.ASSUMPTION_FAILED,
    2132: Outcome.ASSERTION_FAILED,
    2171: Outcome.PARSE_ERROR,
    3002: Outcome.PARSE_ERROR,
    1001: Outcome.OUT_OF_MEMORY,
    1002: Outcome.OUT_OF_MEMORY,
    1101: Outcome.BAD_CONFIG,
    1102: Outcome.BAD_CONFIG,
    2118: Outcome.BAD_CONFIG,  # nothing satisfies Init
    2146: Outcome.BAD_CONFIG,  # an "invariant" that is no state predicate
    1005: Outcome.EVALUATION_ERROR,
    2102: Outcome.EVALUATION_ERROR,
    2106: Outcome.EVALUATION_ERROR,
    2109: Outcome.EVALUATION_ERROR,
    2111: Outcome.EVALUATION_ERROR,
    2113: Outcome.EVALUATION_ERROR,
    2147: Outcome.EVALUATION_ERROR,
    2172: Outcome.EVALUATION_ERROR,
    2282: Outcome.EVALUATION_ERROR,
}
# Everything TLC says of the configuration file or of formulas in it that it cannot use.
_CONFIG_CODES = frozenset(
    {*range(2222, 2246), *range(5001, 5010), 2213, 2214, 2249, 2253, 2279, 2280, 2281, 2284}
)
_MEMORY = re.compile(
    r"OutOfMemoryError|Java heap space|GC overhead limit|Out of memory|Could not reserve enough space"
    r"|Too small (?:maximum|initial) heap"
)
_DISK = re.compile(
    r"No space left on device|Disk quota exceeded|File too large|not enough space on the disk", re.I
)
_STACK = re.compile(r"StackOverflowError")
_NAMED = (
    re.compile(r"(?:Invariant|[Pp]roperty) (\S+) is violated"),
    re.compile(r"Temporal propert(?:y|ies) (\S+) (?:was|were|is) violated"),
    re.compile(r"Evaluating (?:invariant|.*?property) (\S+) failed"),
)

# What TLC's exit statuses stand for, for messages this module does not know.
_BY_EXIT: dict[int, Outcome] = {
    10: Outcome.ASSUMPTION_FAILED,
    11: Outcome.DEADLOCK,
    12: Outcome.INVARIANT_VIOLATED,
    13: Outcome.LIVENESS_VIOLATED,
    14: Outcome.ASSERTION_FAILED,
    75: Outcome.EVALUATION_ERROR,
    76: Outcome.EVALUATION_ERROR,
    77: Outcome.EVALUATION_ERROR,
    150: Outcome.PARSE_ERROR,
    151: Outcome.BAD_CONFIG,
    152: Outcome.EVALUATION_ERROR,
}
# The statuses that agree with an outcome read from messages; 1 and 255 are TLC's "some error" and fit any
# but success.
_AGREEING: dict[Outcome, frozenset[int]] = {
    Outcome.SUCCESS: frozenset({0}),
    Outcome.INVARIANT_VIOLATED: frozenset({12}),
    Outcome.ACTION_PROPERTY_VIOLATED: frozenset({12, 13}),
    Outcome.LIVENESS_VIOLATED: frozenset({13}),
    Outcome.DEADLOCK: frozenset({11}),
    Outcome.ASSUMPTION_FAILED: frozenset({10}),
    Outcome.ASSERTION_FAILED: frozenset({14, 75, 76, 77}),
    Outcome.EVALUATION_ERROR: frozenset({75, 76, 77, 152, 1, 255}),
    Outcome.PARSE_ERROR: frozenset({150, 1, 255}),
    Outcome.BAD_CONFIG: frozenset({150, 151, 1, 255, 75, 76}),
}


def findings(messages: Iterable[Message]) -> list[Finding]:
    """What the messages say against the run, in their order; without duplicates of the same name and kind."""
    found: dict[tuple[Outcome, str | None], Finding] = {}
    for message in messages:
        finding = finding_of(message)
        if finding is not None:
            found.setdefault((finding.outcome, finding.property), finding)
    return list(found.values())


def finding_of(message: Message) -> Finding | None:
    """What this one message says against the run, None if nothing."""
    codes = [inner.code for inner in message.walk()]
    if message.severity not in (1, 2) and message.code not in _BY_CODE:
        return None
    if _MEMORY.search(message.text):
        return Finding(Outcome.OUT_OF_MEMORY, None, message.text)
    if _DISK.search(message.text):
        return Finding(Outcome.DISK_FULL, None, message.text)
    if message.code in (2104, 2105):
        return Finding(Outcome.ASSUMPTION_FAILED, None, message.text)
    if 2132 in codes:
        return Finding(Outcome.ASSERTION_FAILED, _name(message.text), message.text)
    for code in codes:
        if code in _CONFIG_CODES:
            return Finding(Outcome.BAD_CONFIG, None, message.text)
        if code in _BY_CODE:
            return Finding(_BY_CODE[code], _name(message.text), message.text)
    if message.code == 1000:
        # TLC's frame around an exception while it evaluates the spec; anything else is a fault of its own.
        evaluating = _STACK.search(message.text) or re.search(
            r"EvalException|java\.lang\.RuntimeException", message.text
        )
        return Finding(Outcome.EVALUATION_ERROR if evaluating else Outcome.CRASHED, None, message.text)
    return None


def _name(text: str) -> str | None:
    for pattern in _NAMED:
        if match := pattern.search(text):
            return match[1].rstrip(".:,")
    return None


def classify(
    messages: Sequence[Message],
    exit_code: int,
    *,
    stderr: str = "",
    simulation: bool = False,
    continued: bool = False,
) -> Finding:
    """The outcome of a run that ended by itself.

    Parameters
    ----------
    messages
        All messages, in order.
    exit_code
        TLC's exit status; negative for a signal.
    stderr
        What it and Java wrote there.
    simulation
        Whether this was a random simulation, which ends without a success message.
    continued
        Whether ``-continue`` was given: TLC then exits 0 whatever it found.

    Returns
    -------
    Finding
        The first thing found, if messages and exit status agree; `Outcome.CRASHED` with both if they do not.
    """
    found = findings(messages)
    if not found:
        return _without_findings(messages, exit_code, stderr, simulation)
    first = found[0]
    # Running out of memory or disk can surface in any shape, and after other complaints that it caused.
    first = next(
        (item for item in found if item.outcome in (Outcome.OUT_OF_MEMORY, Outcome.DISK_FULL)), first
    )
    agreeing = _AGREEING.get(first.outcome)
    if agreeing is None or exit_code in agreeing or (continued and first.outcome.is_violation):
        return first
    return Finding(
        Outcome.CRASHED,
        None,
        f"TLC's exit status {exit_code} does not fit its message: {first.outcome.value}\n{first.text}",
    )


def _without_findings(messages: Sequence[Message], exit_code: int, stderr: str, simulation: bool) -> Finding:
    errors = [message.text for message in messages if message.severity in (1, 2)]
    text = "\n".join(errors) or stderr.strip()
    codes = {inner.code for message in messages for inner in message.walk()}
    if exit_code == 0 and not errors and (2193 in codes or (simulation and 2186 in codes)):
        return Finding(Outcome.SUCCESS, None, "no error was found")
    if _MEMORY.search(stderr):
        return Finding(Outcome.OUT_OF_MEMORY, None, stderr.strip())
    if _DISK.search(stderr):
        return Finding(Outcome.DISK_FULL, None, stderr.strip())
    if exit_code in (-2, -15, 130, 143):
        return Finding(Outcome.INTERRUPTED, None, "Java was told to stop by a signal")
    if exit_code < 0:
        return Finding(Outcome.CRASHED, None, f"Java was killed by signal {-exit_code}")
    if errors and exit_code in _BY_EXIT:
        return Finding(_BY_EXIT[exit_code], _name(text), text)
    return Finding(
        Outcome.CRASHED, None, f"TLC ended with exit status {exit_code} and no known message\n{text}".strip()
    )
