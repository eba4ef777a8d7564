"""Compiled twins of plain model modules, cached on disk under a digest of everything that enters them.

The functions of the listed modules are copied with new globals in which the functions call each other's compiled
twins; the plain ones stay as they are. Numba's own disk cache notices neither changed globals nor changed callees,
so every digest has a folder of its own, and nothing in it is ever out of date.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import EnumMeta
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pymodel.engine.model import Model
from pymodel.errors import ModelError

__all__ = [
    "CompiledModel",
    "EngineKernels",
    "cache_root",
    "compile_functions",
    "compile_model",
    "engine_kernels",
    "model_digest",
]

KEPT_DIGESTS = 16
"""How many digests stay on disk; the longest unused go first."""

_log = logging.getLogger(__name__)
_lock = threading.RLock()
_models: dict[tuple[str, Path], CompiledModel] = {}
_engines: dict[tuple[str, Path], EngineKernels] = {}


@dataclass(frozen=True)
class EngineKernels:
    """The compiled functions that do not depend on the model; `_kernels.py` says what they do.

    `cache` is the folder where the machine code is kept; None: nowhere.
    """

    cache: Path | None
    insert: Any
    intern: Any
    move_table: Any
    move_directory: Any
    repack: Any

    def are_cached(self) -> bool:
        """Whether machine code of all of them is on disk."""
        return self.cache is not None and len(list(self.cache.glob("*.nbc"))) >= len(ENGINE_ENTRIES)


@dataclass(frozen=True)
class CompiledModel:
    """The compiled functions that contain the model's; `_kernels.py` says what they do.

    `digest` names everything that enters the code, `cache` is the folder where it is kept (None: nowhere).
    """

    digest: str
    cache: Path | None
    expand: _ModelEntry
    step: _ModelEntry

    def compilations(self) -> int:
        """How many machine-code versions of the model exist in this process."""
        return len(self.expand.dispatcher.signatures) + len(self.step.dispatcher.signatures)


ENGINE_ENTRIES = ("insert", "intern", "move_table", "move_directory", "repack")
MODEL_ENTRIES = ("expand", "step")


def cache_root() -> Path:
    """The folder of the compile cache: `$RESUME_CONTRACT_CACHE`, else one under the user's cache folder."""
    chosen = os.environ.get("RESUME_CONTRACT_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "resume-contract"


def model_digest(model: Model) -> str:
    """A digest of the code of the model and the engine and of the versions that translate them."""
    from pymodel.engine._config_type import ConfigHandle

    return _digest(
        [*_engine_sources(), _describe_modules(model.modules), ConfigHandle(model.config).numba_type.name]
    )


def _engine_sources() -> list[object]:
    import llvmlite
    import llvmlite.binding
    import numba

    from pymodel import rows
    from pymodel.engine import _config_type, _intrinsics, _kernels, _row_loops

    return [
        sys.version,
        np.__version__,
        numba.__version__,
        llvmlite.__version__,
        llvmlite.binding.get_host_cpu_name(),
        numba.config.OPT,
        _describe_modules([_kernels, _intrinsics, _config_type, _row_loops, rows]),
        [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("compiling.py", "_lean.py")],
    ]


def _digest(sources: list[object]) -> str:
    return hashlib.sha256(repr(sources).encode()).hexdigest()[:24]


def compile_model(model: Model) -> CompiledModel:
    """The compiled functions of `model`, from memory, from disk or new.

    Compilation itself happens at their first call. Models that differ only in values (their config, their record's
    width) share them.
    """
    root = cache_root()
    digest = model_digest(model)
    with _lock:
        found = _models.get((digest, root))
        if found is None:
            folder = _open_folder(root / "numba", digest)
            entries = {name: _ModelEntry(model, name, folder) for name in MODEL_ENTRIES}
            found = _models[digest, root] = CompiledModel(digest, folder, **entries)
        return found


class _ModelEntry:
    """A function of `_kernels.py` with a model's functions in it.

    Without reference counts the code is twice as fast. A model that allocates cannot do without, which shows only
    when it is compiled; then it is compiled again.
    """

    def __init__(self, model: Model, name: str, folder: Path | None) -> None:
        self._functions = {role: model.function(role) for role in ("Next", "Check", "Sometimes")}
        self._modules = model.modules
        self._name = name
        self._folder = folder
        self._lock = threading.Lock()
        self.dispatcher = self._build(counted=False)

    def _build(self, counted: bool) -> Any:
        from pymodel import rows
        from pymodel.engine import _kernels, _row_loops
        from pymodel.engine._lean import helper

        def compile_(function: Callable[..., Any]) -> Any:
            return helper(function, counted=counted)

        loops = {id(getattr(rows, name)): compile_(getattr(_row_loops, name)) for name in rows.__all__}
        twins = _twins([*self._modules, rows], loops, compile_)
        roles = {role: twins[id(function)] for role, function in self._functions.items()}
        namespace = {**_kernel_namespace(_kernels), **roles}
        return _dispatcher(_copy(getattr(_kernels, self._name), namespace), self._folder)

    def prepare(self, *arguments: Any) -> Any:
        """Call it for the first time, or as if it were.

        Raises:
            ModelError: numba cannot compile the model.
        """
        from numba.core.errors import NumbaError

        from pymodel.engine._lean import needs_reference_counts

        with self._lock:
            try:
                return self.dispatcher(*arguments)
            except NumbaError as error:
                if not needs_reference_counts(error):
                    raise _not_compilable(self._modules[0], error) from error
            self.dispatcher = self._build(counted=True)
            try:
                return self.dispatcher(*arguments)
            except NumbaError as error:
                raise _not_compilable(self._modules[0], error) from error


def _not_compilable(module: ModuleType, error: Exception) -> ModelError:
    """The last lines of numba's complaint, which name the place, as one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    places = [line for line in lines if line.startswith(('File "', "During: "))]
    what = next(
        (line for line in lines if not line.startswith("Failed in nopython")), lines[0] if lines else ""
    )
    where = places[0] if places else ""
    return ModelError(
        f"module {module.__name__}: numba cannot compile it: {what} ({where}): use ints, loops and arrays"
    )


def engine_kernels() -> EngineKernels:
    """The compiled functions that serve every model, from memory, from disk or new."""
    from pymodel.engine import _kernels

    root = cache_root()
    digest = _digest(_engine_sources())
    with _lock:
        found = _engines.get((digest, root))
        if found is None:
            folder = _open_folder(root / "numba", digest)
            namespace = _kernel_namespace(_kernels)
            entries = {
                name: _dispatcher(_copy(getattr(_kernels, name), namespace), folder)
                for name in ENGINE_ENTRIES
            }
            found = _engines[digest, root] = EngineKernels(folder, **entries)
        return found


def compile_functions(modules: Sequence[ModuleType], names: Iterable[str]) -> dict[str, Any]:
    """The named functions of modules of plain functions over arrays, compiled, from disk or new.

    Those that they call are compiled into them.  Nothing in them may allocate.

    Args:
        modules: integers and functions, which call no function of this project outside these modules.
        names: those that Python calls, each defined in one of the modules.
    """
    from pymodel.engine._lean import helper

    folder = _open_folder(cache_root() / "numba", _digest([*_engine_sources(), _describe_modules(modules)]))
    twins = _twins(modules, {}, lambda function: helper(function, inline=True))
    functions = {
        name: value for module in modules for name, value in vars(module).items() if id(value) in twins
    }
    return {name: _dispatcher(twins[id(functions[name])].py_func, folder) for name in names}


def _kernel_namespace(kernels: ModuleType) -> dict[str, Any]:
    """The globals of `_kernels.py` with compiled functions in the place of plain ones."""
    from pymodel.engine._lean import helper

    twins = _twins([kernels], {}, lambda function: helper(function, inline=True))
    return {name: twins.get(id(value), value) for name, value in vars(kernels).items()}


def _twins(
    modules: Iterable[ModuleType], given: dict[int, Any], compile_: Callable[..., Any]
) -> dict[int, Any]:
    """Dispatchers for all functions of the modules, by the id of the plain function."""
    modules = list(dict.fromkeys(modules))
    twin_modules = {id(module): ModuleType(module.__name__) for module in modules}
    twins = dict(given)
    for module in modules:
        namespace = twin_modules[id(module)].__dict__
        for value in vars(module).values():
            if (
                isinstance(value, FunctionType)
                and value.__module__ == module.__name__
                and id(value) not in twins
            ):
                twins[id(value)] = compile_(_copy(value, namespace))
    for module in modules:
        namespace = twin_modules[id(module)].__dict__
        for name, value in vars(module).items():
            namespace[name] = twins.get(id(value)) or twin_modules.get(id(value)) or value
    return twins


def _copy(function: FunctionType, namespace: dict[str, Any]) -> FunctionType:
    twin = FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    return twin


def _dispatcher(function: Callable[..., Any], folder: Path | None) -> Any:
    """A dispatcher for a function of the engine that Python calls, kept in `folder`."""
    from pymodel.engine._disk_cache import disk_cache
    from pymodel.engine._lean import entry

    dispatcher = entry(function)
    if folder is not None:
        dispatcher._cache = disk_cache(function, folder)
    return dispatcher


def _open_folder(parent: Path, digest: str) -> Path | None:
    """The folder for a digest, marked as just used; None if it cannot be written."""
    folder = parent / digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".used-{os.getpid()}"
        probe.touch()
        os.replace(probe, folder / ".used")
    except OSError as error:
        _log.debug("compiling without a cache: %s", error)
        return None
    _prune(parent, folder)
    return folder


def _prune(parent: Path, current: Path) -> None:
    """Remove the digests that were not used for longest. A process that still uses one has it in memory."""

    def used(folder: Path) -> float:
        try:
            return (folder / ".used").stat().st_mtime
        except OSError:
            return 0.0

    with suppress(OSError):
        others = [folder for folder in parent.iterdir() if folder.is_dir() and folder != current]
        others.sort(key=used, reverse=True)
        for folder in others[KEPT_DIGESTS - 1 :]:
            shutil.rmtree(folder, ignore_errors=True)


# --- what enters the digest -----------------------------------------------------------------------------------------


def _describe_modules(modules: Iterable[ModuleType]) -> list[object]:
    """The code of every function and the value of every global it names.

    Taken from what is loaded, not from the files, which may have changed since.
    """
    seen: list[object] = []
    for module in modules:
        functions = [
            value
            for value in vars(module).values()
            if isinstance(value, FunctionType) and value.__module__ == module.__name__
        ]
        seen.append(module.__name__)
        for function in functions:
            seen.append(
                (function.__qualname__, repr(function.__defaults__), _describe_code(function.__code__))
            )
            for name in sorted(_names(function.__code__)):
                if name in function.__globals__:
                    seen.append((name, _describe_value(function.__globals__[name])))
    return seen


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _describe_code(code: CodeType) -> object:
    constants = [_describe_code(k) if isinstance(k, CodeType) else repr(k) for k in code.co_consts]
    # The first line is part of the name under which numba files the machine code.
    return (
        code.co_name,
        code.co_firstlineno,
        code.co_code.hex(),
        code.co_exceptiontable.hex(),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_argcount,
        constants,
    )


def _describe_value(value: object) -> object:
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes().hex())
    if isinstance(value, FunctionType):
        return ("function", value.__module__, value.__qualname__)
    if isinstance(value, ModuleType):
        if value.__name__.partition(".")[0] in ("numpy", "numba", "llvmlite", "math"):
            return ("module", value.__name__)
        constants = {k: repr(v) for k, v in vars(value).items() if isinstance(v, int | float | str | tuple)}
        constants.pop("__file__", None)
        constants.pop("__cached__", None)
        return ("module", value.__name__, sorted(constants.items()))
    if isinstance(value, EnumMeta):
        return ("enum", value.__qualname__, [(m.name, repr(m.value)) for m in value])  # type: ignore[var-annotated]
    if isinstance(value, type):
        return ("type", value.__qualname__, getattr(value, "_fields", ()))
    return (type(value).__qualname__, repr(value))
