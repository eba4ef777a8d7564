"""Compiled twins: what is compiled again and what is not, and what the disk cache may never do."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from engine_modules import load_module

from pymodel.engine import Model, ModelError, _kernels, compiling, explore, stepper
from pymodel.engine._config_type import ConfigHandle

COUNTER = '''
"""Counts to a top, in a way that a test may edit."""
import sys
from typing import NamedTuple
import numpy as np
from pymodel.engine import Model, copy_row, explore

STEP = 1

class Config(NamedTuple):
    top: int

def up(c, s, by):
    return s[1] + by <= c.top

def Next(c, s, out, labels):
    if up(c, s, STEP):
        copy_row(out, 0, s)
        out[0, 1] = s[1] + STEP
        labels[0, 0] = 0
        return 1
    return 0

def Check(c, s, t):
    return 0

def Sometimes(c, s):
    return 0

def build(top):
    return Model(
        name="counter", module=sys.modules[__name__], config=Config(top), width=2, fanout=1, label_width=1,
        initial=np.zeros((1, 2), np.uint8), actions=("Up",), invariants=(), sometimes=(), components=(0,),
        decode=lambda record: {"n": int(record[1])}, describe=lambda label: "Up",
    )

if __name__ == "__main__":
    from pymodel.engine import compiling
    model = build(10)
    found = explore(model, workers=1)
    compiled = compiling.compile_model(model)
    stats = compiled.expand.dispatcher.stats
    print(found.distinct, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), compiled.cache is not None)
'''


def run_counter(path: Path, cache: Path) -> list[str]:
    env = {**os.environ, "RESUME_CONTRACT_CACHE": str(cache)}
    run = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.slow
def test_disk_cache_is_used_and_never_stale(tmp_path: Path) -> None:
    path = tmp_path / "counter.py"
    path.write_text(COUNTER)
    cache = tmp_path / "cache"
    assert run_counter(path, cache) == ["11", "0", "1", "True"]
    assert run_counter(path, cache) == ["11", "1", "0", "True"]
    stamp = path.stat()
    path.write_text(COUNTER.replace("STEP = 1", "STEP = 2"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run_counter(path, cache) == ["6", "0", "1", "True"]
    path.write_text(COUNTER)
    assert run_counter(path, cache) == ["11", "1", "0", "True"]
    for file in cache.rglob("*.nb?"):
        file.write_bytes(b"torn")
    assert run_counter(path, cache)[0] == "11"


PARTS = {
    "numbers_here": "STEP = 1\n",
    "below": """
from numbers_here import STEP

def up(n):
    return n + STEP
""",
    "above": """
from below import up

def twice(n):
    return up(up(n))

if __name__ == "__main__":
    import above, below
    from pymodel.engine.compiling import compile_functions
    function = compile_functions((below, above), ["twice"])["twice"]
    print(function(5), sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()))
""",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "before", "after"),
    [("numbers_here", "STEP = 1", "STEP = 2"), ("below", "n + STEP", "n + STEP + 1")],
)
def test_functions_of_several_modules_are_never_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, before: str, after: str
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # Python's own cache goes by seconds
    for name, text in PARTS.items():
        (tmp_path / f"{name}.py").write_text(text)
    path, cache = tmp_path / "above.py", tmp_path / "cache"
    assert run_counter(path, cache) == ["7", "0", "1"]
    assert run_counter(path, cache) == ["7", "1", "0"]
    changed = tmp_path / f"{module}.py"
    changed.write_text(PARTS[module].replace(before, after))
    assert run_counter(path, cache) == ["9", "0", "1"]
    changed.write_text(PARTS[module])
    assert run_counter(path, cache) == ["7", "1", "0"]


@pytest.mark.slow
def test_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    path = tmp_path / "counter.py"
    path.write_text(COUNTER)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run_counter(path, blocked) == ["11", "0", "1", "False"]


def test_other_bounds_compile_nothing(sliders: ModuleType) -> None:
    first = sliders.build((2, 3), 3)
    explore(first)
    stepper(first, compiled=True)
    compiled = compiling.compile_model(first)
    assert compiled.compilations() == 2
    for other in (
        sliders.build((1,), 2),
        sliders.build((2, 3, 9), 5, stays=True),
        sliders.build((4,) * 6, 3),
    ):
        explore(other)
        stepper(other, compiled=True)(other.initial[0])
        assert compiling.compile_model(other) is compiled
        assert compiled.compilations() == 2


def test_digest_sees_code_globals_and_kinds_of_fields(tmp_path: Path) -> None:
    def digest(text: str, name: str) -> str:
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        module = load_module(path, "digested")
        return compiling.model_digest(module.build(3))

    base = digest(COUNTER, "a")
    assert digest(COUNTER, "b") == base
    assert digest(COUNTER.replace("STEP = 1", "STEP = 2"), "c") != base
    assert digest(COUNTER.replace("<= c.top", "< c.top"), "d") != base
    assert digest(COUNTER.replace("Config(top)", "Config(np.zeros(top))"), "e") != base
    model = load_module(tmp_path / "a.py", "digested").build(3)
    assert compiling.model_digest(replace(model, config=model.config._replace(top=9))) == base


def test_digest_sees_the_engine(sliders: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    model = sliders.build((2,), 2)
    before = compiling.model_digest(model)
    monkeypatch.setattr(_kernels, "LOOK_AHEAD", _kernels.LOOK_AHEAD + 1)
    assert compiling.model_digest(model) != before


def test_old_digests_are_pruned(tmp_path: Path) -> None:
    for number in range(compiling.KEPT_DIGESTS + 5):
        folder = compiling._open_folder(tmp_path, f"d{number}")
        assert folder is not None
        os.utime(folder / ".used", (number, number))
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left == {f"d{number}" for number in range(5, compiling.KEPT_DIGESTS + 5)}


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"RESUME_CONTRACT_CACHE": "/there"}, Path("/there")),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, Path("/xdg/resume-contract")),
        ("linux", {"HOME": "/home/x"}, Path("/home/x/.cache/resume-contract")),
        ("win32", {"RESUME_CONTRACT_CACHE": "/there"}, Path("/there")),
        ("win32", {"LOCALAPPDATA": "/local", "XDG_CACHE_HOME": "/xdg"}, Path("/local/resume-contract")),
    ],
)
def test_cache_folder(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: Path
) -> None:
    monkeypatch.setattr(compiling.sys, "platform", platform)
    for name in ("RESUME_CONTRACT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert compiling.cache_root() == expected


def test_plain_functions_stay_plain(sliders: ModuleType) -> None:
    before = {name: value for name, value in vars(sliders).items() if callable(value)}
    explore(sliders.build((2, 2), 3))
    assert {name: vars(sliders)[name] for name in before} == before
    assert type(sliders.Next).__name__ == "function"


class Mixed(NamedTuple):
    a: int
    b: object
    c: int


def test_config_fields() -> None:
    one = ConfigHandle(Mixed(1, np.zeros((2, 3), np.uint8), True))
    other = ConfigHandle(Mixed(int(np.int32(-5)), np.ones((7, 1), np.uint8)[::2], 0))
    assert one.numba_type == other.numba_type
    assert ConfigHandle(Mixed(1, np.zeros(3, np.uint8), 0)).numba_type != one.numba_type
    with pytest.raises(ModelError, match="config field b: it is a str"):
        ConfigHandle(Mixed(1, "text", 2))
    with pytest.raises(ModelError, match="config field a"):
        ConfigHandle(Mixed(2**63, np.zeros(1), 2))


def with_kernels(model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Start afresh with whatever `_kernels` holds now."""
    monkeypatch.setenv("RESUME_CONTRACT_CACHE", str(tmp_path))
    monkeypatch.setattr(compiling, "_models", {})
    monkeypatch.setattr(compiling, "_engines", {})


@pytest.mark.slow
def test_colliding_hashes_cost_time_only(
    sliders: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With hashes of three bits everything collides; all that is found is compared in full."""
    model = sliders.build((3, 9, 20), 12)
    text = Path(_kernels.__file__).read_text()
    good = "    return fold(fold(h, MIX_3) ^ MIX_1, MIX_2)\n"
    assert text.count(good) == 1
    bad = text.replace(good, "    return (fold(fold(h, MIX_3) ^ MIX_1, MIX_2) & np.uint64(7)) << S_44\n")
    (tmp_path / "bad.py").write_text(bad)
    with_kernels(model, monkeypatch, tmp_path / "cache")
    monkeypatch.setitem(sys.modules, "pymodel.engine._kernels", _kernels)  # to be put back
    worse = load_module(tmp_path / "bad.py", "pymodel.engine._kernels")
    monkeypatch.setattr(sys.modules["pymodel.engine"], "_kernels", worse)
    worse.Interner = _kernels.Interner  # type: ignore[attr-defined]
    worse.Layout = _kernels.Layout  # type: ignore[attr-defined]
    found = explore(model, workers=2)
    assert (found.distinct, found.generated) == (12**3, 1 + 3 * 11 * 12**2)
    assert len({record.tobytes() for record in found.records()}) == 12**3
    assert [partition.count for partition in found.store.partitions][1:] == [0] * 7


@pytest.mark.slow
def test_models_that_allocate_or_cannot_be_compiled(tmp_path: Path) -> None:
    path = tmp_path / "counter.py"
    path.write_text(COUNTER.replace("    if up(c, s, STEP):", "    t = s.copy()\n    if up(c, t, STEP):"))
    assert explore(load_module(path, "allocating").build(10)).distinct == 11
    path.write_text(COUNTER.replace("    if up(c, s, STEP):", "    if up(c, {}, STEP):"))
    with pytest.raises(ModelError, match="module uncompilable: numba cannot compile it: ") as caught:
        explore(load_module(path, "uncompilable").build(10))
    assert "\n" not in str(caught.value)
