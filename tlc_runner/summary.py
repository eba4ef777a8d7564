"""The outcome of a run in one line that names the file, the place and the mend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .outcome import Finding, Outcome

__all__ = ["one_line", "syntax_line"]

_NOISE = (
    "TLC threw an unexpected exception.",
    "This was probably caused by an error in the spec or model.",
    "See the User Output or TLC Console for clues to what happened.",
)
_MISSING = re.compile(r"Cannot find source file for module (\w+)(?: imported in module (\w+))?")
_NO_FILE = re.compile(r"File does not exist: (?:.*[/\\\\])?(\w+)\.tla while looking")
_PLACE = re.compile(r"line (\d+), col(?:umn)? (\d+)")
# The most telling first: the last names the root module wherever the error is.
_MODULES = (
    re.compile(r"of module (\w+)"),
    re.compile(r"parse module (\w+) from"),
    re.compile(r"in file (\w+)"),
)
_LIMIT = 300
_ADD_FOLDER = "add its folder to the module path"


def one_line(
    finding: Finding,
    spec: Path,
    cfg: Path,
    syntax_text: Sequence[str],
    heap: str | None,
    candidates: Sequence[str],
) -> str:
    """One line of at most some 400 characters that says what happened, where, and what mends it."""
    text = _squeeze(finding.text)
    match finding.outcome:
        case Outcome.SUCCESS:
            return f"{spec.name}: no error was found"
        case Outcome.INVARIANT_VIOLATED | Outcome.ACTION_PROPERTY_VIOLATED:
            kind = "invariant" if finding.outcome is Outcome.INVARIANT_VIOLATED else "action property"
            return f"{spec.name}: {kind} {finding.property or '(unnamed)'} is violated"
        case Outcome.LIVENESS_VIOLATED:
            names = finding.property or (f"one of {', '.join(candidates)}" if candidates else "(unnamed)")
            return f"{spec.name}: temporal property {names} is violated"
        case Outcome.DEADLOCK:
            return f"{spec.name}: deadlock: a reachable state has no successor"
        case Outcome.PARSE_ERROR:
            return syntax_line(spec, syntax_text)
        case Outcome.BAD_CONFIG:
            if "unrecognized option" in text or text.startswith("Error:"):
                return f"{spec.name}: TLC refuses its arguments: {text}"
            return f"{cfg}: {text}"
        case Outcome.OUT_OF_MEMORY:
            size = f" of {heap}" if heap else ""
            if "Could not reserve" in text:
                return f"{spec.name}: Java's heap{size} is more than this machine has: give a smaller heap ({text})"
            mend = "give a larger heap, or bound the model"
            return f"{spec.name}: Java's heap{size} is too small: {mend} ({text})"
        case Outcome.DISK_FULL:
            mend = "free some space, or set TMPDIR to a larger disk"
            return f"{spec.name}: the disk TLC works on is full: {mend} ({text})"
        case Outcome.TIMEOUT:
            return f"{spec.name}: {text}: give a longer timeout, or bound the model"
        case _:
            return f"{spec.name}: {finding.outcome.value}: {text}"


def _squeeze(text: str) -> str:
    for noise in _NOISE:
        text = text.replace(noise, " ")
    text = re.sub(r"The exception was an? [\w.]+", "", text)
    text = " ".join(text.split()).removeprefix(": ").strip()
    return text if len(text) <= _LIMIT else f"{text[:_LIMIT]}…"


def syntax_line(spec: Path, syntax_text: Sequence[str]) -> str:
    """Names the place of a syntax or semantic error, or the module that is missing."""
    text = "\n".join(syntax_text)
    files = {
        Path(name).stem: Path(name)
        for name in re.findall(r"^Parsing (?:file|module \w+ in file) (.+\.tla)\s*$", text, re.M)
    }
    if missing := _MISSING.search(text):
        module, importer = missing[1], missing[2] or spec.stem
        path = files.get(importer, spec)
        return f"{path}: module {module}, which {importer} uses, was not found: {_ADD_FOLDER}"
    if no_file := _NO_FILE.search(text):
        return f"{spec}: module {no_file[1]} was not found: {_ADD_FOLDER}"
    complaints = [
        line
        for line in syntax_text
        if not re.match(r"Parsing (?:file|module) |Semantic processing of module |Starting\.\.\. ", line)
    ]
    body = "\n".join(complaints).partition("Residual stack trace follows")[0]
    place = _PLACE.search(body)
    whole = "\n".join(complaints)
    module = next((found[1] for pattern in _MODULES if (found := pattern.search(whole))), spec.stem)
    path = files.get(module, spec)
    # A semantic error puts its place on a line of its own, before what is wrong; a syntax error has it
    # inside.
    wrong = re.sub(r"^line \d+, col \d+ to line \d+, col \d+ of module \w+\s*$", "", body, flags=re.M)
    wrong = re.split(r"\n(?:Fatal errors|Warnings:)|tla2sany\.", wrong)[0]
    wrong = re.sub(
        r"\*\*\*\s?Parse Error\s?\*\*\*|\*\*\* Errors: \d+|Semantic errors:|Could not parse module.*",
        "",
        wrong,
    )
    where = f" line {place[1]}, column {place[2]}" if place else ""
    return f"{path}{where}: {_squeeze(wrong) or 'SANY cannot read it'}"
