"""Numba's disk cache, moved to a folder of our choice and never in the way of a result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache

__all__ = ["disk_cache"]

_log = logging.getLogger(__name__)


class _Locator:
    """Says to numba where one function's files are; the folder's name is the stamp of their content."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._folder = folder
        self._line = function.__code__.co_firstlineno
        self._py_file = function.__code__.co_filename

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)


def disk_cache(function: Callable[..., Any], folder: Path) -> Any:
    """A cache for numba's dispatcher of `function` that lives in `folder`.

    A cache that cannot be read or written (a full disk, a torn file) is as good as empty: the code is compiled anew.
    """
    implementation = type(
        "_Implementation",
        (FunctionCache._impl_class,),
        {"_locator_classes": [], "__init__": _locate(folder)},
    )
    kind = type(
        "_FolderCache",
        (FunctionCache,),
        {
            "_impl_class": implementation,
            "load_overload": _forgiving(FunctionCache.load_overload),
            "save_overload": _forgiving(FunctionCache.save_overload),
        },
    )
    return kind(function)


def _locate(folder: Path) -> Callable[[Any, Callable[..., Any]], None]:
    def init(self: Any, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function, folder)
        self._filename_base = f"{function.__module__}.{function.__qualname__}-{self._lineno}"

    return init


def _forgiving(method: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(self: Any, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except Exception as error:
            _log.debug("the compile cache is not usable: %s", error)
            return None

    return attempt
