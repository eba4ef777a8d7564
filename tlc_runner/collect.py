"""Gathers counts, coverage, traces and printed lines from a stream of messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .errors import ValueSyntaxError
from .messages import Message, Unframed
from .outcome import Finding, Outcome, finding_of
from .result import StateKind, TraceState, Violation
from .values import Value, parse_state, parse_value

__all__ = ["Collector", "Counts"]

_NUMBER = r"([\d,]+|-1)"
_STATS = re.compile(
    rf"{_NUMBER} states generated.*?{_NUMBER} distinct states found.*?{_NUMBER} states left", re.S
)
_LEVEL = re.compile(rf"Progress\({_NUMBER}\)")
_INITIAL = re.compile(rf"{_NUMBER} (?:distinct )?states? generated(?:, with {_NUMBER} of them distinct)?")
_DEPTH = re.compile(rf"search is {_NUMBER}")
_SIMULATED = re.compile(rf"states generated: {_NUMBER}|{_NUMBER} states (?:checked|generated)")
_COVERAGE = re.compile(r"<(\w[\w!]*)[^>]*>: (\d+):(\d+)")
_HEADER = re.compile(r"^(?:State )?(\d+): (.*)$")
_ACTION = re.compile(
    r"^<(?P<name>.*?)\s*(?P<place>line \d+, col \d+ to line \d+, col \d+ of module [^>]+)?>$"
)
_UNASSIGNED = re.compile(r"variables? (?:is|are) not assigned: ([^.]+)")


def _int(text: str | None) -> int | None:
    if text is None:
        return None
    number = int(text.replace(",", ""))
    return None if number < 0 else number


@dataclass(slots=True)
class Counts:
    """Numbers of states as last reported; None until then."""

    generated: int | None = None
    distinct: int | None = None
    queue: int | None = None
    depth: int | None = None
    initial: int | None = None


@dataclass(slots=True)
class _Open:
    """A finding and the trace that follows it."""

    finding: Finding
    states: list[TraceState] = field(default_factory=list)
    count: int = 1


class Collector:
    """Takes the items of a `MessageParser` one at a time; read its attributes at any moment."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.counts = Counts()
        self.coverage: dict[str, tuple[int, int]] = {}
        self.printed: list[str] = []
        self.syntax_text: list[str] = []
        self.warnings: list[str] = []
        self.tlc_version: str | None = None
        self.finished = False
        self._open: dict[tuple[Outcome, str | None], _Open] = {}
        self._current: list[TraceState] = []
        self._parsing = False
        self._unassigned: frozenset[str] = frozenset()

    def take(self, item: Message | Unframed) -> bool:
        """Takes one item; returns whether it changed the counts of a running search."""
        if isinstance(item, Unframed):
            if self._parsing:
                self.syntax_text.append(item.text)
            elif item.text or self.printed:
                self.printed.append(item.text)
            return False
        # States, coverage and progress need not be kept: a long run has very many of them.
        if item.code not in (2200, 2209, 2217, 2221, 2772):
            self.messages.append(item)
        self._take_finding(item)
        return self._take_message(item)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Each violated property, in the order of their first reports."""
        return tuple(
            Violation(entry.finding.outcome, entry.finding.property, tuple(entry.states), entry.count)
            for entry in self._open.values()
            if entry.finding.outcome.is_violation
        )

    def trace_of(self, finding: Finding) -> tuple[TraceState, ...]:
        """The trace TLC printed with a finding, empty if it printed none."""
        entry = self._open.get((finding.outcome, finding.property))
        if entry is None:
            return ()
        return tuple(entry.states)

    def _take_finding(self, message: Message) -> None:
        finding = finding_of(message)
        if finding is None:
            return
        key = (finding.outcome, finding.property)
        if key in self._open:
            self._open[key].count += 1
            self._current = []  # a further trace of the same property is not kept
        else:
            self._open[key] = _Open(finding)
            self._current = self._open[key].states
        match = _UNASSIGNED.search(message.text)
        self._unassigned = frozenset(re.split(r",\s*|\s+and\s+", match[1].strip())) if match else frozenset()
        # An initial state that breaks something stands in the message itself, without a header.
        if message.code in (2102, 2106, 2107, 2108):
            self._add_state("1: <Initial predicate>", message.text)

    def _take_message(self, message: Message) -> bool:
        code, text = message.code, message.text
        counts = self.counts
        if code in (2200, 2199):
            if match := _STATS.search(text):
                counts.generated, counts.distinct, counts.queue = map(_int, match.groups())
            if level := _LEVEL.search(text):
                counts.depth = _int(level[1])
            return code == 2200
        if code in (2209, 2210):
            if match := _SIMULATED.search(text):
                counts.generated = _int(match[1] or match[2])
            return code == 2209
        if code in (2190, 2191, 2207, 2208):
            if match := _INITIAL.search(text):
                counts.initial = _int(match[2] or match[1])
        elif code == 2194:
            if match := _DEPTH.search(text):
                counts.depth = _int(match[1])
        elif code == 2201:
            self.coverage = {}  # TLC reports coverage again and again: the last report counts
        elif code == 2772:
            self._take_coverage(text)
        elif code in (2216, 2217, 2218, 2122):
            header, _, body = text.partition("\n")
            self._add_state(header, body, back=code == 2122)
        elif code == 2220:
            self._parsing = True
        elif code == 2219:
            self._parsing = False
        elif code == 2262:
            match = re.search(r"Version (\d+(?:\.\d+)*)", text)
            self.tlc_version = match[1] if match else None
        elif code == 2186:
            self.finished = True
        elif message.severity == 3:
            self.warnings.append(" ".join(text.split()))
        return False

    def _take_coverage(self, text: str) -> None:
        if match := _COVERAGE.search(text):
            distinct, generated = self.coverage.get(match[1], (0, 0))
            self.coverage[match[1]] = (distinct + int(match[2]), generated + int(match[3]))

    def _add_state(self, header: str, body: str, *, back: bool = False) -> None:
        match = _HEADER.match(header.strip())
        if match is None:
            back_to = re.match(r"Back to state (\d+)(.*)", header.strip())
            if back_to is None:
                return
            match, back = back_to, True
        number, rest = int(match[1]), match[2].strip(" :")
        kind: StateKind = "normal"
        if back or rest.startswith("Back to state"):
            kind = "back_to"
            rest = rest.removeprefix("Back to state").strip(" :")
        elif rest == "Stuttering":
            kind = "stuttering"
        action, location, params = _parse_action(rest)
        self._current.append(
            TraceState(number, action, location, params, self._variables(kind, number, body), kind)
        )

    def _variables(self, kind: StateKind, number: int, body: str) -> dict[str, Value]:
        if kind == "normal":
            try:
                state = parse_state(body)
            except ValueSyntaxError:
                return {}  # a spec without variables, or an alias that prints nothing
            # 2.15 prints a variable that has no value yet as "null".
            return {
                name: value
                for name, value in state.items()
                if name not in self._unassigned or value_is_set(value)
            }
        wanted = number if kind == "back_to" else number - 1
        for state_before in self._current:
            if state_before.number == wanted:
                return dict(state_before.variables)
        return {}


def value_is_set(value: Value) -> bool:
    """Whether a printed value is more than the ``null`` that stands for an unassigned variable."""
    return getattr(value, "name", None) != "null"


def _parse_action(text: str) -> tuple[str | None, str | None, tuple[Value, ...] | None]:
    """Splits ``<Name(arguments) line … of module M>`` into name, location and arguments."""
    match = _ACTION.match(text)
    if match is None:
        return None, None, None
    name, place = match["name"].strip(), match["place"]
    params: tuple[Value, ...] | None = None
    if "(" in name and name.endswith(")"):
        name, _, arguments = name.partition("(")
        try:
            value = parse_value(f"<<{arguments[:-1]}>>")
            params = value if isinstance(value, tuple) else None
        except ValueSyntaxError:
            params = None
    if name in {"", "Initial predicate", "Action"}:
        return None, place, params
    return name, place, params
