"""The vocabulary of a trace: one header, then one event a line, as typed and validated records.

Every kind of event is a :class:`msgspec.Struct`; the field ``event`` of the JSON object selects the kind.
The records here check the shape of *one* line (fields, types, ranges). What holds between lines (sequence
numbers, brackets, steps that the program knows) is checked by :mod:`trace_check.reader`. The meaning of each
kind is written down in ``docs/trace-format.md``.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = [
    "ACTION_KINDS",
    "BRACKETED_KINDS",
    "EVENT_KINDS",
    "EVENT_TYPES",
    "FORMAT_VERSION",
    "POINT_KINDS",
    "REFUSAL_CLOSES",
    "ROOT_BRANCH",
    "Answer",
    "AnyEvent",
    "CheckpointRead",
    "Committed",
    "Completed",
    "Computed",
    "Continued",
    "Crashed",
    "EffectFired",
    "Event",
    "Failed",
    "Forked",
    "GatePassed",
    "Header",
    "Loaded",
    "MemoUsed",
    "Parked",
    "Paused",
    "Phase",
    "ProgramStep",
    "ProgramUnit",
    "Recorded",
    "Refusal",
    "Refused",
    "ResumeFailed",
    "ResumeGaveUp",
    "StepKind",
    "StoreRead",
    "Value",
    "encode_line",
    "event_about",
    "event_kind",
    "value_key",
]

FORMAT_VERSION: Final = 1
"""The version of the format, the header's ``v``."""

ROOT_BRANCH: Final = "main"
"""The branch that every thread starts with; any other branch is introduced by a ``forked`` event."""

Value: TypeAlias = str | int | bool | None
"""An outcome or an answer: a JSON scalar, or the digest (a string) of anything larger."""

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]

StepKind = Literal["pure", "effect", "gate"]
Phase = Literal["begin", "end"]
Refusal = Literal["load", "gate", "record", "commit", "outcome", "delivery"]


class ProgramStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step of a unit: its name, its kind, and the steps of the same unit that come before it."""

    step: Name
    kind: StepKind
    after: list[Name] = []


class ProgramUnit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one checkpoint seals: a name and a partially ordered set of steps."""

    name: Name
    steps: Annotated[list[ProgramStep], Meta(min_length=1)]


class Header(Struct, frozen=True, kw_only=True, tag_field="event", tag="header", forbid_unknown_fields=True):
    """The first line: what was recorded, with which sink, which program, and what the recorder always shows.

    ``observes`` names kinds of events: an action of such a kind happened only where the trace shows it.
    """

    v: Literal[1]
    system: Name
    version: str
    store: Name
    sink: Literal["plain", "keyed"]
    scenario: Name
    program: Annotated[list[ProgramUnit], Meta(min_length=1)] | Literal["dynamic"]
    observes: list[Name]

    def units(self) -> list[ProgramUnit]:
        """The program's units in order; empty when the program is dynamic."""
        return [] if isinstance(self.program, str) else self.program


class Event(
    Struct, frozen=True, kw_only=True, tag_field="event", forbid_unknown_fields=True, omit_defaults=True
):
    """What every event has.

    Attributes:
        seq: the actor's own count of its lines: 1, 2, 3, … in the order of the file.
        thread: the workflow instance.
        branch: the line of checkpoints that the event is about; the root is ``main``.
        actor: one incarnation of a process, or ``harness``.
        t: monotonic nanoseconds, never going back within one actor.
        phase: ``begin`` or ``end`` of an operation's bracket; None for an event that is one line.
        op: names the operation that a begin and its end share.
        inferred: the recorder concluded this (from a difference of the store, say) and did not see it happen.
    """

    seq: Positive
    thread: Name
    branch: Name
    actor: Name
    t: Count
    phase: Phase | None = None
    op: Name | None = None
    inferred: bool = False


class Loaded(Event, frozen=True, tag="loaded"):
    """A process read the branch to go on from there (Load).

    Attributes:
        checkpoint: the newest unit-sealing checkpoint it goes on from, None when no unit is sealed; unset
            on a begin line.
        index: how many units are sealed up to and including that checkpoint; unset on a begin line.
    """

    checkpoint: Name | UnsetType | None = UNSET
    index: Count | UnsetType = UNSET


class Computed(Event, frozen=True, tag="computed"):
    """A pure step's code ran to its outcome (Compute)."""

    step: Name
    outcome: Value
    valid: bool


class EffectFired(Event, frozen=True, tag="effect_fired"):
    """The sink received an effect (Fire), as the sink itself writes it.

    Attributes:
        key: the key that the caller sent with it.
        applied: whether the world changed (a plain sink always applies; a keyed one only the first of a key).
        outcome: what the sink answered; None when the recorder does not know.
        valid: whether that answer keeps the step's schema.
    """

    step: Name
    key: str
    applied: bool
    outcome: Value = None
    valid: bool = True


class Recorded(Event, frozen=True, tag="recorded"):
    """A step's outcome became durable before its unit's checkpoint (Record)."""

    step: Name
    outcome: Value


class MemoUsed(Event, frozen=True, tag="memo_used"):
    """A recorded outcome was used in place of running the step (Memo)."""

    step: Name


class Parked(Event, frozen=True, tag="parked"):
    """A gate was durably parked: the workflow waits for an answer (Park)."""

    gate: Name


class Answer(Event, frozen=True, tag="answer"):
    """An answer was handed to the framework (Deliver).

    ``branch`` is the branch whose gate the answer addresses.

    Attributes:
        delivery: the delivery's id; a redelivery bears the same one.
        accepted: whether the caller was told that it was taken; unset on a begin line.
    """

    gate: Name
    delivery: Name
    value: Value
    accepted: bool | UnsetType = UNSET


class GatePassed(Event, frozen=True, tag="gate_passed"):
    """A runner went through a gate (Claim or TakeOver); never written before the gate let it through.

    Attributes:
        value: the answer that the code behind the gate saw; unset on a begin line.
    """

    gate: Name
    value: Value | UnsetType = UNSET


class Refused(Event, frozen=True, tag="refused"):
    """Something was refused (Refuse, Reject, Stale, a refused load, commit or delivery).

    Either one line of its own, or the end of the bracket that the refused operation began.

    Attributes:
        what: what was refused.
        error: the class of the error that the framework raised, None where it told so without one.
        gate, step, unit, delivery: whichever it was about.
    """

    what: Refusal
    error: str | None = None
    gate: Name | None = None
    step: Name | None = None
    unit: Name | None = None
    delivery: Name | None = None


class Committed(Event, frozen=True, tag="committed"):
    """A checkpoint that seals a unit was stored (Commit).

    Attributes:
        unit: the unit that it seals.
        steps: the unit's steps that ran or were reused for it.
        outcomes: the outcome of each of them.
        checkpoint: its id.
        parent: the id of the checkpoint that sealed the unit before, None for the first.
        valid: whether what was stored keeps the schema.
        next: the units that the checkpoint itself declares to come next; empty at the end.
    """

    unit: Name
    steps: list[Name]
    outcomes: dict[str, Value]
    checkpoint: Name
    parent: Name | None
    valid: bool
    next: list[Name]


class Crashed(Event, frozen=True, tag="crashed"):
    """The actor's process ended in the middle (Crash); written by its parent after it waited for it.

    Attributes:
        signal: the signal's name (``SIGKILL``), None when it exited by itself.
        status: the exit status, None when a signal ended it.
    """

    signal: Name | None = None
    status: int | None = None


class Paused(Event, frozen=True, tag="paused"):
    """The parent stopped a process with a signal; it can go on.

    ``process`` is the actor that was stopped, where the line stands in its parent's name.
    """

    signal: Name
    process: Name | None = None


class Continued(Event, frozen=True, tag="continued"):
    """The parent let a stopped process go on; ``process`` as for :class:`Paused`."""

    signal: Name
    process: Name | None = None


class Forked(Event, frozen=True, tag="forked"):
    """A branch came to be (Fork); ``branch`` is the one that it was forked from.

    Attributes:
        checkpoint: the newest unit-sealing checkpoint of the copied prefix, None for an empty prefix.
        index: how many units that prefix holds.
        child: the new branch.
        declared: whether somebody asked for a fork; False when a resume made it silently.
    """

    checkpoint: Name | None
    index: Count
    child: Name
    declared: bool


class CheckpointRead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One unit-sealing checkpoint as the store holds it; ``digest`` is over the stored bytes."""

    id: Name
    parent: Name | None
    unit: Name | None
    outcomes: dict[str, Value]
    digest: Name
    valid: bool
    complete: bool
    next: list[Name]


class StoreRead(Event, frozen=True, tag="store_read"):
    """What the store holds of one branch, read by the harness while no recorded process runs.

    Attributes:
        checkpoints: the branch's line from the oldest unit to its head.
        answers: for each gate, every value that the store holds for it on this line.
        open_interrupts: the gates that wait for an answer.
    """

    checkpoints: list[CheckpointRead]
    answers: dict[str, list[Value]]
    open_interrupts: list[Name]


class Completed(Event, frozen=True, tag="completed"):
    """The caller was told that the workflow ended well; ``outcome`` is the last step's."""

    outcome: Value


class Failed(Event, frozen=True, tag="failed"):
    """The caller was told that the workflow ended in a declared failure."""

    outcome: Value


class ResumeFailed(Event, frozen=True, tag="resume_failed"):
    """A start or a resume raised; ``error`` is the error's class."""

    error: Name


class ResumeGaveUp(Event, frozen=True, tag="resume_gave_up"):
    """The harness's time was up before the process came back; ``seconds`` is that time."""

    seconds: Annotated[float, Meta(gt=0)]


AnyEvent: TypeAlias = (
    Loaded
    | Computed
    | EffectFired
    | Recorded
    | MemoUsed
    | Parked
    | Answer
    | GatePassed
    | Refused
    | Committed
    | Crashed
    | Paused
    | Continued
    | Forked
    | StoreRead
    | Completed
    | Failed
    | ResumeFailed
    | ResumeGaveUp
)


def event_kind(event: Event | Header | type[Event] | type[Header]) -> str:
    """The word in the field ``event`` that selects the record's kind."""
    return str(event.__struct_config__.tag)


def event_about(event: Event) -> str:
    """An event's kind, and the step, gate or unit that it is about: what is the same in another recording."""
    about = (getattr(event, name, None) for name in ("step", "gate", "unit", "what"))
    return " ".join([event_kind(event), *(name for name in about if isinstance(name, str))])


EVENT_TYPES: Final[dict[str, type[Event]]] = {event_kind(kind): kind for kind in get_args(AnyEvent)}
"""Kind of event -> its record type."""

EVENT_KINDS: Final = frozenset(EVENT_TYPES)

BRACKETED_KINDS: Final = frozenset({"recorded", "parked", "answer", "committed"})
"""Kinds that are always two lines: each changes a durable store."""

POINT_KINDS: Final = EVENT_KINDS - BRACKETED_KINDS - {"loaded", "gate_passed", "forked", "refused"}
"""Kinds that are always one line; what is in neither set may be either."""

ACTION_KINDS: Final = frozenset(
    {"loaded", "computed", "effect_fired", "recorded", "memo_used", "parked"}
    | {"answer", "gate_passed", "refused", "committed", "crashed", "forked"}
)
"""Kinds that stand for an action and so may be listed in a header's ``observes``."""

REFUSAL_CLOSES: Final[dict[str, frozenset[str]]] = {
    "load": frozenset({"loaded"}),
    "gate": frozenset({"gate_passed", "parked"}),
    "record": frozenset({"recorded"}),
    "commit": frozenset({"committed"}),
    "outcome": frozenset({"recorded", "committed"}),
    "delivery": frozenset({"answer"}),
}
"""What a ``refused`` end line may close: its ``what`` -> the kinds of the begin line."""

_ENCODER = msgspec.json.Encoder()


def encode_line(record: Event | Header) -> bytes:
    """One JSON object and a newline, ready to be appended in a single write."""
    return _ENCODER.encode(record) + b"\n"


def value_key(value: Value) -> tuple[str, Value]:
    """A key that tells apart what JSON tells apart (in Python ``True == 1``)."""
    return type(value).__name__, value
