"""Virtual environments of the systems under test: each gets the pinned packages of its extra, and nothing else.

The pins stand in `pyproject.toml`, one extra for each system.  If this interpreter has them all, it is used; otherwise an
environment is made under the user's cache folder (`$RESUME_CONTRACT_ENVIRONMENTS` names another) the first time
it is asked for.  The packages of this project that a recorded process needs are linked into it.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import trace_check
from trace_check.errors import RecordingError

__all__ = ["environment_python", "environments_folder", "pinned_version", "requirements"]

_PROJECT: Final = "resume-contract"
_PIN: Final = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?==(?P<version>[^;, ]+)")
_LINKS: Final = "recorder"


def environments_folder() -> Path:
    """Where environments are kept."""
    chosen = os.environ.get("RESUME_CONTRACT_ENVIRONMENTS")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "resume-contract" / "environments"


def requirements(extra: str) -> tuple[str, ...]:
    """The requirements of one of this project's extras, as they are pinned.

    Raises:
        RecordingError: there is no such extra, or the project is not installed.
    """
    try:
        declared = importlib.metadata.requires(_PROJECT) or []
    except importlib.metadata.PackageNotFoundError:
        raise RecordingError(f"{_PROJECT} is not installed", "make setup") from None
    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    found = tuple(line.partition(";")[0].strip() for line in declared if marker.search(line))
    if not found:
        raise RecordingError(f"{_PROJECT} has no extra {extra!r}", "install the project again: make setup")
    return found


def pinned_version(extra: str, distribution: str) -> str:
    """The version to which an extra pins a distribution.

    Raises:
        RecordingError: it does not.
    """
    for requirement in requirements(extra):
        pin = _PIN.match(requirement)
        if pin and _normal(pin["name"]) == _normal(distribution):
            return pin["version"]
    raise RecordingError(f"the extra {extra!r} does not pin {distribution}", "pin it in pyproject.toml")


@cache
def environment_python(extra: str) -> tuple[str, dict[str, str]]:
    """An interpreter that has an extra's packages, and the variables that its processes need to find this project.

    Raises:
        RecordingError: the environment cannot be made; the message has the installer's last words.
    """
    wanted = requirements(extra)
    if _are_installed_here(wanted):
        return sys.executable, {}
    name = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:12]
    folder = environments_folder() / f"{extra}-{name}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one maker at a time
        if not (folder / ".ready").exists():
            _make(folder, wanted)
    links = folder / _LINKS
    return str(folder / "bin" / "python"), {"PYTHONPATH": _joined(str(links))}


def _make(folder: Path, wanted: tuple[str, ...]) -> None:
    """Make an environment; one that was left half made is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    python = folder / "bin" / "python"
    try:
        _call([sys.executable, "-m", "venv", str(folder)])
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        _call([str(python), "-m", "pip", "install", *quiet, "msgspec", *wanted])
        (folder / _LINKS).mkdir()
        (folder / _LINKS / "trace_check").symlink_to(Path(trace_check.__file__).parent)
        (folder / ".ready").touch()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _call(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise RecordingError(
            f"the environment cannot be made ({said[-1] if said else f'status {done.returncode}'})",
            "see that the package index is within reach, and try again",
        )


def _are_installed_here(wanted: tuple[str, ...]) -> bool:
    for requirement in wanted:
        pin = _PIN.match(requirement)
        if pin is None:
            return False
        try:
            if importlib.metadata.version(pin["name"]) != pin["version"]:
                return False
        except importlib.metadata.PackageNotFoundError:
            return False
    return True


def _joined(path: str) -> str:
    before = os.environ.get("PYTHONPATH")
    return f"{path}{os.pathsep}{before}" if before else path


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
