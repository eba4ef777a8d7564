"""The one Java virtual machine of this process, and TLC loaded into class loaders of their own."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

import jpype

from .errors import JavaError
from .jar import Jar
from .java import Java

__all__ = ["TLCClasses"]


def _start(java: Java) -> None:
    if jpype.isJVMStarted():
        return
    # TLC unpacks its modules into java.io.tmpdir, where other processes do the same.
    temporary = tempfile.mkdtemp(prefix="tlc-jvm-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    # -Xrs leaves Ctrl-C to Python.
    arguments = ["-Xrs", f"-Djava.io.tmpdir={temporary}", "-Dfile.encoding=UTF-8"]
    if java.major >= 22:
        arguments.append("--enable-native-access=ALL-UNNAMED")  # else Java warns of JPype on standard error
    try:
        jpype.startJVM(str(java.libjvm), *arguments, convertStrings=False)
    except (OSError, RuntimeError) as error:
        raise JavaError(f"{java.libjvm}: cannot be loaded ({error}): use another Java") from None


class TLCClasses:
    """TLC's classes from one jar, in a new class loader.

    TLC keeps the spec it works on in static fields, so that each spec needs classes of its own.
    """

    def __init__(self, java: Java, jars: list[Path], jar: Jar) -> None:
        _start(java)
        java_net_url = jpype.JClass("java.net.URL")
        urls = [jpype.JClass("java.io.File")(str(path)).toURI().toURL() for path in (jar.path, *jars)]
        parent = jpype.JClass("java.lang.ClassLoader").getPlatformClassLoader()
        self._loader = jpype.JClass("java.net.URLClassLoader")(jpype.JArray(java_net_url)(urls), parent)

    def __call__(self, name: str) -> Any:
        """The class with this full name."""
        return jpype.JClass(name, loader=self._loader)

    @staticmethod
    def array(java_class: Any, items: list[Any]) -> Any:
        """A Java array of this ``java.lang.Class``."""
        # jpype.JArray cannot name a class that another loader than the system's has loaded.
        array = jpype.JClass("java.lang.reflect.Array").newInstance(java_class, len(items))
        array[:] = items
        return array

    @staticmethod
    def strings(items: list[str]) -> Any:
        """A Java array of strings."""
        return jpype.JArray(jpype.JClass("java.lang.String"))(items)
