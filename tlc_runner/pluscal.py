"""Translates PlusCal algorithms with the translator in TLC's jar."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import PlusCalError
from .jar import find_jar
from .java import find_java
from .run import PathLike

__all__ = ["TRANSLATOR_OPTIONS", "is_translation_current", "translate"]

TRANSLATOR_OPTIONS = ("-nocfg", "-lineWidth", "78", "-unixEOL")
"""They shape the translation, so they never change; fairness belongs into the algorithm itself."""

_TIMEOUT = 120.0


def translate(
    path: PathLike, *, in_place: bool = False, java: PathLike | None = None, jar: PathLike | None = None
) -> str:
    """The module's text with the translation of its algorithm, the same for the same input.

    Parameters
    ----------
    path
        A ``.tla`` file with one PlusCal algorithm.
    in_place
        Whether to replace the file too, in one step and only if its text changes. Nothing else is left
        behind.
    java, jar
        See `find_java` and `find_jar`.

    Raises
    ------
    PlusCalError
        If the file cannot be read or holds no algorithm the translator accepts; ``line`` says where.
    JarError, JavaError
        If there is no translator or no Java to run it.
    """
    source = Path(path)
    before = _read(source)
    command = [str(find_java(java).path), "-cp", str(find_jar(jar).path), "pcal.trans", *TRANSLATOR_OPTIONS]
    with tempfile.TemporaryDirectory(prefix="pluscal-") as folder:
        copy = Path(folder) / source.name
        copy.write_text(before, encoding="utf-8", newline="")
        try:
            run = subprocess.run(
                [*command, copy.name],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise PlusCalError(f"{source}: the translator did not end within {_TIMEOUT:g} s") from None
        if run.returncode != 0:
            raise _error(source, run.stdout + run.stderr)
        after = _read(copy)
    if in_place and after != before:
        _replace(source, after)
    return after


def is_translation_current(
    path: PathLike, *, java: PathLike | None = None, jar: PathLike | None = None
) -> bool:
    """Whether translating the file again would leave it as it is; raises as `translate` does."""
    return translate(path, java=java, jar=jar) == _read(Path(path))


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise PlusCalError(f"{path}: cannot be read ({reason}): give a .tla file with an algorithm") from None


def _replace(path: Path, text: str) -> None:
    path = path.resolve()
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        shutil.copymode(path, part)
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _error(source: Path, output: str) -> PlusCalError:
    text = output.partition("Unrecoverable error:")[2] or output
    complaint = " ".join(text.replace(" -- ", " ").split()).rstrip(".")
    place = re.search(r"line (\d+), column (\d+)", text)
    if place is None:
        return PlusCalError(f"{source}: {complaint or 'the translator failed without a word'}")
    complaint = re.sub(r"\s*(?:at )?line \d+, column \d+", "", complaint, count=1).rstrip(" .")
    return PlusCalError(f"{source} line {place[1]}, column {place[2]}: {complaint}", int(place[1]))
