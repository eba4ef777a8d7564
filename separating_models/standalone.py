"""A configuration as one TLA+ module that stands alone: it opens in any TLA+ tool, and plain TLC checks it.

The module is put together from the specs: of their definitions those that this configuration needs, in their order,
with the constants defined and, of the faults' steps, only those of its own faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.resume.tla_constants import program_definitions
from separating_models.by_tlc import INVARIANT_OF, SPECS, constants
from separating_models.configuration import Configuration
from separating_models.errors import SeparationError

__all__ = ["LIVENESS", "Standalone"]

LIVENESS = "LV"
"""The clause that is a property of behaviours, not of states."""

_PARTS = {
    "ResumeContract": "The reference",
    "MCResumeContract": "Its steps within the budgets",
    "ResumeFaults": "The deviations",
    "MCResumeFaults": "The steps that there are, within the budgets",
}
_MODULES = tuple(_PARTS)
_CHUNK = re.compile(
    r"^(?:(\w+)(?:\([^)]*\))?\s*==|ASSUME\s+(\w+)\s*==|RECURSIVE\s+(\w+)|(VARIABLES?|CONSTANTS?)\b)"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_STRING = re.compile(r'"[^"]*"')
_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_DID = re.compile(r'\s*/\\ Did\("\w+"\)')  # notes that a fault acted: of no use here
_STEP_OF = re.compile(r'^(MC\w+)\(.*?Did\("(\w+)"\)', re.DOTALL | re.MULTILINE)
_WIDTH = 79


class _Chunk(NamedTuple):
    """A definition with the comment before it, and the module that it is from."""

    name: str
    text: str
    source: str = ""

    @property
    def names(self) -> set[str]:
        """The names that it uses, and its own."""
        return set(_NAME.findall(_COMMENT.sub(" ", _STRING.sub(" ", self.text))))


@dataclass(frozen=True)
class Standalone:
    """What to write.

    Attributes:
        name: the module's.
        configuration: what it is a model of.
        title: lines for the header: what the module shows and why.
        broken: the clauses that it breaks, LV among them.
        kept: the clauses that hold in it, LV among them if that was checked.
    """

    name: str
    configuration: Configuration
    title: tuple[str, ...]
    broken: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def live(self) -> bool:
        """Does it say something of LV, and so have fairness?"""
        return LIVENESS in (*self.broken, *self.kept)

    @property
    def text(self) -> str:
        """The module."""
        return "\n".join(_text(self)) + "\n"

    @property
    def cfg(self) -> str:
        """Its configuration file: plain TLC finds that what is broken is violated, among what is kept."""
        if LIVENESS in self.broken:
            return _cfg([LIVENESS])
        return _cfg([*self.broken, *(clause for clause in self.kept if clause != LIVENESS)])

    @property
    def cfg_of_the_others(self) -> str:
        """The configuration file without what is broken: plain TLC finds no error."""
        return _cfg(self.kept, types=True)


def _cfg(clauses: Sequence[str], *, types: bool = False) -> str:
    live = LIVENESS in clauses
    return (
        "\n".join(
            [
                f"SPECIFICATION {'FairSpec' if live else 'Spec'}",
                *(["INVARIANT TypeOK"] if types else []),
                *(f"INVARIANT {INVARIANT_OF[clause]}" for clause in clauses if clause != LIVENESS),
                *([f"PROPERTY {LIVENESS}"] if live else []),
            ]
        )
        + "\n"
    )


def _text(model: Standalone) -> Iterator[str]:
    configuration = model.configuration
    chunks = [chunk for module in _MODULES for chunk in _chunks(module)]
    defined = _constants(configuration, chunks)
    steps = [step for step, fault in _steps() if fault in configuration.faults]
    chunks = [
        _reduced(chunk, steps)
        for chunk in chunks
        if chunk.name not in {name for name, _ in defined} and chunk.name not in ("VARIABLES", "CONSTANTS")
    ]
    goals = ["MCInit", "MCRemainingStep", *(["MCFaultStep"] if steps else []), "mcvars", "FaultyTypeOK"]
    goals += [INVARIANT_OF[clause] for clause in (*model.broken, *model.kept) if clause != LIVENESS]
    if model.live:
        goals += ["FaultyFairness", LIVENESS]
    needed = _closure(goals, chunks, [text for _, text in defined])
    head, tail = f" MODULE {model.name} ", "=" * _WIDTH
    left = (_WIDTH - len(head)) // 2
    yield "-" * left + head + "-" * (_WIDTH - left - len(head))
    yield "(" + "*" * (_WIDTH - 2) + ")"
    for line in model.title:
        yield f"(* {line:<{_WIDTH - 6}} *)"
    yield "(" + "*" * (_WIDTH - 2) + ")"
    yield "EXTENDS Naturals, Sequences, FiniteSets, TLC"
    yield ""
    for _, text in defined:
        yield text
    yield ""
    variables = [chunk for module in _MODULES for chunk in _chunks(module) if chunk.name == "VARIABLES"]
    for chunk in variables:
        yield chunk.text
        yield ""
    source = ""
    for chunk in chunks:
        if chunk.name not in needed:
            continue
        if chunk.source != source:
            source = chunk.source
            yield "-" * _WIDTH
            yield f"(* {_PARTS[source]:<{_WIDTH - 6}} *)"
            yield ""
        yield chunk.text
        yield ""
    yield "-" * _WIDTH
    yield "TypeOK == FaultyTypeOK"
    yield ""
    fault = " \\/ MCFaultStep" if steps else ""
    yield "(* The last disjunct: to have nothing left to do is no deadlock.            *)"
    yield f"Next == MCRemainingStep{fault} \\/ UNCHANGED mcvars"
    yield "Spec == MCInit /\\ [][Next]_mcvars"
    if model.live:
        yield "FairSpec == Spec /\\ FaultyFairness"
    yield tail


def _chunks(module: str) -> Iterator[_Chunk]:
    """The definitions of a module, in order."""
    path = SPECS / f"{module}.tla"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SeparationError(f"{path}: cannot be read ({error.strerror}): run from a checkout") from None
    begin = next(i for i, line in enumerate(lines) if line.startswith("EXTENDS")) + 1
    name = ""
    text: list[str] = []
    comment: list[str] = []
    in_comment = False
    for line in lines[begin:]:
        if line.startswith(("----", "====")):
            continue
        found = _CHUNK.match(line)
        if found:
            if name:
                yield _Chunk(name, _DID.sub("", "\n".join(text).rstrip()), module)
            name = next(group for group in found.groups() if group)
            text, comment = [*comment, line], []
        elif line.startswith("(*") or in_comment:
            in_comment = "*)" not in line
            comment.append(line)
        elif not line.strip():
            comment = []
        else:
            text += [*comment, line]
            comment = []
    if name:
        yield _Chunk(name, _DID.sub("", "\n".join(text).rstrip()), module)


def _constants(configuration: Configuration, chunks: Sequence[_Chunk]) -> list[tuple[str, str]]:
    """The constants, defined: name and text."""
    prefix = "Here"
    values = dict(line.split(" == ", 1) for line in program_definitions(configuration.program, prefix))
    bodies = {chunk.name: chunk.text for chunk in chunks}
    found = []
    for line in constants(configuration, prefix):
        name, _, value = line.replace(" <- ", " = ").partition(" = ")
        if value in values:
            found.append((name, f"{name} == {values[value]}"))
        elif value in bodies:
            # an operator: the definition that stands in its place, under its name
            found.append((name, bodies[value].replace(f"{value}(", f"{name}(")))
        else:
            found.append((name, f"{name} == {value}"))
    # what others are defined by comes first
    return sorted(found, key=lambda each: "(" in each[1].split("==", 1)[0])


def _steps() -> list[tuple[str, str]]:
    """The bounded steps of the faults in MCResumeFaults, each with its fault."""
    text = (SPECS / "MCResumeFaults.tla").read_text(encoding="utf-8")
    return [(step, fault) for step, fault in _STEP_OF.findall(text) if step != "MC"]


def _reduced(chunk: _Chunk, steps: Sequence[str]) -> _Chunk:
    """The chunk; of the fault steps' disjunction only what is on."""
    if chunk.name != "MCFaultStep":
        return chunk
    lines = [line for line in chunk.text.splitlines() if any(f"{step}(" in line for step in steps)]
    return chunk._replace(text="\n".join(["MCFaultStep ==", *lines]))


def _closure(goals: Iterable[str], chunks: Sequence[_Chunk], texts: Iterable[str]) -> set[str]:
    """The names that the goals need, themselves included."""
    uses = {chunk.name: chunk.names for chunk in chunks}
    todo = [*goals, *(name for text in texts for name in _Chunk("", text).names)]
    needed: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in needed and name in uses:
            needed.add(name)
            todo += uses[name]
    return needed
