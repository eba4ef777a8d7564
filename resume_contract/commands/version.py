"""``resume-contract version``."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version

import typer

from resume_contract.commands.options import JarOption, JavaOption, JsonOption
from tlc_runner import TLCError, find_jar, find_java

__all__ = ["version_command"]

_PACKAGES = ("resume-contract", "numba", "numpy", "jpype1", "langgraph", "langgraph-checkpoint-sqlite")


def version_command(as_json: JsonOption = False, tlc_jar: JarOption = None, java: JavaOption = None) -> None:
    """Say the versions of everything that takes part."""
    found = {"python": platform.python_version()} | {name: _installed(name) for name in _PACKAGES}
    try:
        jar = find_jar(tlc_jar)
        found |= {"tlc": jar.version, "tla2tools_sha256": jar.sha256}
    except TLCError as error:
        found["tlc"] = f"none: {error}"
    try:
        found["java"] = find_java(java).version
    except TLCError as error:
        found["java"] = f"none: {error}"
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for name, text in found.items():
        typer.echo(f"{name:<28} {text}")


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
