"""Runs TLC on a spec."""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from .collect import Collector
from .config import Config, read_config
from .errors import SpecError
from .jar import Jar, find_jar
from .java import Java, find_java
from .messages import Message, MessageParser, Unframed
from .modules import unpack_modules
from .outcome import Finding, Outcome, classify
from .outputs import require_output
from .process import Ended, run_lines
from .result import Progress, TLCInterrupted, TLCResult
from .summary import one_line

__all__ = ["run_tlc", "tlc_command"]

PathLike: TypeAlias = "str | os.PathLike[str]"

# Minutes between two coverage reports. Only the one at the end is wanted.
_COVERAGE_MINUTES = "1440"


@dataclass(frozen=True, slots=True)
class _Options:
    """The arguments of `run_tlc` that shape the command line."""

    workers: int
    check_deadlock: bool | None
    coverage: bool
    continue_: bool
    simulate: int | None
    depth: int | None
    seed: int
    fp: int
    heap: str | None
    module_path: tuple[PathLike, ...]
    extra_jars: tuple[PathLike, ...]
    extra_args: tuple[str, ...]
    java_args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that is settled before TLC starts."""

    spec: Path
    config: Config
    java: Java
    jar: Jar
    options: _Options
    module_path: tuple[Path, ...]


def run_tlc(
    spec: PathLike,
    cfg: PathLike | None = None,
    *,
    workers: int = 1,
    check_deadlock: bool | None = None,
    coverage: bool = False,
    continue_: bool = False,
    simulate: int | None = None,
    depth: int | None = None,
    seed: int = 1,
    fp: int = 0,
    dump: PathLike | None = None,
    timeout: float | None = None,
    heap: str | None = None,
    java: PathLike | None = None,
    jar: PathLike | None = None,
    module_path: Sequence[PathLike] = (),
    extra_jars: Sequence[PathLike] = (),
    extra_args: Sequence[str] = (),
    java_args: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> TLCResult:
    """Runs TLC on one spec and waits for its end.

    Nothing is written beside the spec: TLC works in a private folder that is removed afterwards, and finds
    the spec's folder and ``module_path`` through its library path.

    Parameters
    ----------
    spec
        The root module's ``.tla`` file.
    cfg
        The configuration file; by default the one beside the spec with its name.
    workers
        Worker threads. Shortest counterexamples and reproducible depths need one.
    check_deadlock
        Whether a state without successors is an error. None: as CHECK_DEADLOCK in ``cfg`` says (honoured
        with every version of TLC), else yes.
    coverage
        Whether to count how often each action was taken.
    continue_
        Whether to go on after a violated invariant.
    simulate
        Random simulation of so many behaviours instead of an exhaustive search.
    depth
        The longest behaviour of a simulation.
    seed, fp
        TLC's random seed and fingerprint function; fixed so that runs can be repeated.
    dump
        File for all states; labelled graph text if its name ends in ``.dot``. Written only when TLC ends by
        itself.
    timeout
        Seconds; TLC is killed then and the outcome is `Outcome.TIMEOUT`.
    heap
        Java's largest heap, such as ``"4g"``.
    java, jar
        See `find_java` and `find_jar`.
    module_path
        Further folders with modules.
    extra_jars
        Further jars, put behind TLC's on the class path; the modules at their top are found too.
    extra_args, java_args
        Passed on to TLC and to Java as they are.
    on_progress
        Called with each progress report of TLC, about one a minute.

    Returns
    -------
    TLCResult
        Every way TLC can end is a result, not an exception.

    Raises
    ------
    SpecError
        If the spec or the configuration cannot be read, or an argument makes no sense.
    JarError, JavaError
        If there is no TLC or no Java to run it.
    TLCInterrupted
        On Ctrl-C (it is a `KeyboardInterrupt`), after TLC has been killed.
    """
    options = _Options(
        workers, check_deadlock, coverage, continue_, simulate, depth, seed, fp, heap,
        tuple(module_path), tuple(extra_jars), tuple(extra_args), tuple(java_args),
    )  # fmt: skip
    plan = _plan(spec, cfg, options, java, jar)
    if dump is not None:
        require_output(Path(dump), [plan.spec, plan.config.path, plan.jar.path])
    if timeout is not None and not 0 < timeout < math.inf:
        raise SpecError(f"timeout is {timeout} s: give a positive number of seconds")
    with tempfile.TemporaryDirectory(prefix="tlc-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        dump_file = None if dump is None else scratch / f"dump{Path(dump).suffix}"
        command = _command(plan, scratch, dump_file)
        result = _run(plan, command, scratch, timeout, on_progress)
        if dump is not None and dump_file is not None:
            _keep_dump(dump_file, Path(dump))
    return result


def tlc_command(
    spec: PathLike,
    cfg: PathLike | None = None,
    *,
    scratch: PathLike | None = None,
    workers: int = 1,
    check_deadlock: bool | None = None,
    coverage: bool = False,
    continue_: bool = False,
    simulate: int | None = None,
    depth: int | None = None,
    seed: int = 1,
    fp: int = 0,
    dump: PathLike | None = None,
    heap: str | None = None,
    java: PathLike | None = None,
    jar: PathLike | None = None,
    module_path: Sequence[PathLike] = (),
    extra_jars: Sequence[PathLike] = (),
    extra_args: Sequence[str] = (),
    java_args: Sequence[str] = (),
) -> list[str]:
    """The command line `run_tlc` would run, ready to be run from any folder.

    ``scratch`` is the folder TLC works in, made if need be and left in place; by default a new temporary
    one. The other parameters and what is raised are as for `run_tlc`.
    """
    options = _Options(
        workers, check_deadlock, coverage, continue_, simulate, depth, seed, fp, heap,
        tuple(module_path), tuple(extra_jars), tuple(extra_args), tuple(java_args),
    )  # fmt: skip
    plan = _plan(spec, cfg, options, java, jar)
    folder = Path(tempfile.mkdtemp(prefix="tlc-")) if scratch is None else Path(scratch).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return _command(plan, folder, None if dump is None else Path(dump).absolute())


def _plan(
    spec: PathLike, cfg: PathLike | None, options: _Options, java: PathLike | None, jar: PathLike | None
) -> _Plan:
    spec_path = Path(spec).absolute()
    if spec_path.suffix != ".tla":
        raise SpecError(f"{spec}: not the name of a module: give a .tla file")
    if not spec_path.is_file():
        raise SpecError(f"{spec}: no such file: give an existing .tla file")
    cfg_path = spec_path.with_suffix(".cfg") if cfg is None else Path(cfg).absolute()
    if options.workers < 1:
        raise SpecError(f"workers is {options.workers}: give at least 1")
    if options.heap is not None and not re.fullmatch(r"[1-9]\d*[kKmMgGtT]?", options.heap):
        raise SpecError(f"heap is {options.heap!r}: give a size such as 512m or 4g")
    folders = tuple(Path(folder).absolute() for folder in options.module_path)
    for folder in folders:
        if not folder.is_dir():
            raise SpecError(f"{folder}: no such folder: give an existing one in module_path")
    return _Plan(spec_path, read_config(cfg_path), find_java(java), find_jar(jar), options, folders)


def _command(plan: _Plan, scratch: Path, dump: Path | None) -> list[str]:
    options = plan.options
    # TLC unpacks its own modules into java.io.tmpdir; runs that share one race.
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    cfg = plan.config.path
    if plan.config.check_deadlock is not None:
        cfg = scratch / plan.config.path.name
        cfg.write_text(plan.config.portable_text, encoding="utf-8")
    wanted = options.check_deadlock
    check_deadlock = wanted if wanted is not None else plan.config.check_deadlock is not False
    command = [
        str(plan.java.path),
        "-XX:+UseParallelGC",
        "-Dfile.encoding=UTF-8",
        "-Dstdout.encoding=UTF-8",
        f"-Djava.io.tmpdir={temporary}",
        f"-DTLA-Library={os.pathsep.join(_library(plan, scratch))}",
    ]
    if options.heap is not None:
        command.append(f"-Xmx{options.heap}")
    command += options.java_args
    jars = [str(plan.jar.path), *(str(Path(extra).absolute()) for extra in options.extra_jars)]
    command += ["-cp", os.pathsep.join(jars), "tlc2.TLC", "-tool"]
    command += ["-config", str(cfg), "-metadir", str(scratch / "states"), "-workers", str(options.workers)]
    command += ["-fp", str(options.fp), "-seed", str(options.seed)]
    if plan.jar.version_tuple > (2, 15):
        command.append("-noGenerateSpecTE")  # newer versions write a trace spec beside the spec
    if not check_deadlock:
        command.append("-deadlock")  # this turns the check off
    if options.coverage:
        command += ["-coverage", _COVERAGE_MINUTES]
    if options.continue_:
        command.append("-continue")
    if options.simulate is not None:
        command += ["-simulate", f"num={options.simulate}"]
    if options.depth is not None:
        command += ["-depth", str(options.depth)]
    if dump is not None:
        command += ["-dump", *(["dot,actionlabels"] if dump.suffix == ".dot" else []), str(dump)]
    # By module name: an absolute configuration file goes with no absolute spec.
    return [*command, *options.extra_args, plan.spec.stem]


def _library(plan: _Plan, scratch: Path) -> list[str]:
    """The folders TLC looks for modules in; one whose name holds the separator goes through a link."""
    library: list[str] = []
    for index, folder in enumerate((plan.spec.parent, *plan.module_path)):
        name = str(folder)
        if os.pathsep in name:
            link = scratch / f"modules{index}"
            if not link.is_symlink():
                link.symlink_to(folder, target_is_directory=True)
            name = str(link)
        library.append(name)
    for index, jar in enumerate(plan.options.extra_jars):
        library.append(str(unpack_modules(Path(jar), scratch / f"jar{index}")))
    return library


def _run(
    plan: _Plan,
    command: list[str],
    scratch: Path,
    timeout: float | None,
    on_progress: Callable[[Progress], None] | None,
) -> TLCResult:
    collector = Collector()
    parser = MessageParser()
    start = time.monotonic()

    def take(item: Message | Unframed) -> bool:
        if collector.take(item) and on_progress is not None:
            counts = collector.counts
            elapsed = time.monotonic() - start
            on_progress(
                Progress(
                    counts.depth or 0, counts.generated or 0, counts.distinct or 0, counts.queue or 0, elapsed
                )
            )
        # TLC is about to exit: the moment of its largest memory.
        return isinstance(item, Message) and item.code == 2186

    def on_line(line: str) -> bool:
        asked = False
        for item in parser.feed(line):
            asked = take(item) or asked
        return asked

    with (scratch / "stderr").open("w+b") as stderr:
        ended = run_lines(command, cwd=scratch, stderr=stderr, timeout=timeout, on_line=on_line)
        for item in parser.close():
            take(item)
        stderr.seek(0)
        errors = stderr.read().decode("utf-8", "replace")
    result = _result(plan, command, collector, ended, errors, timeout)
    if ended.why == "interrupt":
        raise TLCInterrupted(result)
    return result


def _result(
    plan: _Plan, command: list[str], collector: Collector, ended: Ended, stderr: str, timeout: float | None
) -> TLCResult:
    counts = collector.counts
    if ended.why == "timeout":
        finding = Finding(Outcome.TIMEOUT, None, f"TLC was stopped after {timeout:g} s")
    elif ended.why == "interrupt":
        finding = Finding(Outcome.INTERRUPTED, None, "TLC was stopped by Ctrl-C")
    else:
        finding = classify(
            collector.messages,
            ended.exit_code,
            # Java complains on standard output when its virtual machine cannot start.
            stderr=stderr if collector.messages else "\n".join([stderr, *collector.printed]),
            simulation=plan.options.simulate is not None,
            continued=plan.options.continue_,
        )
    if finding.outcome is Outcome.SUCCESS and counts.initial == 0:
        # TLC calls this a success, but it has checked nothing.
        finding = Finding(
            Outcome.BAD_CONFIG, None, "no state satisfies the initial predicate: nothing was checked"
        )
    candidates: tuple[str, ...] = ()
    if finding.outcome is Outcome.LIVENESS_VIOLATED and finding.property is None:
        candidates = plan.config.properties
        if len(candidates) == 1:
            finding = replace(finding, property=candidates[0])
    details = finding.text
    if finding.outcome in (Outcome.PARSE_ERROR, Outcome.CRASHED):
        details = "\n".join([details, *collector.syntax_text, stderr]).strip()
    violations = tuple(
        replace(violation, property=finding.property)
        if violation.outcome is finding.outcome and violation.property is None
        else violation
        for violation in collector.violations
    )
    trace = next(
        (
            item.trace
            for item in violations
            if (item.outcome, item.property) == (finding.outcome, finding.property)
        ),
        collector.trace_of(finding),
    )
    return TLCResult(
        outcome=finding.outcome,
        property=finding.property,
        candidates=candidates,
        message=one_line(
            finding, plan.spec, plan.config.path, collector.syntax_text, plan.options.heap, candidates
        ),
        details=details,
        exit_code=ended.exit_code,
        generated=counts.generated,
        distinct=counts.distinct,
        queue=counts.queue,
        depth=counts.depth,
        initial=counts.initial,
        coverage=dict(collector.coverage),
        trace=trace,
        violations=violations,
        printed=tuple(collector.printed),
        seconds=ended.seconds,
        peak_memory_bytes=ended.peak_memory_bytes,
        tlc_version=collector.tlc_version or plan.jar.version,
        java_version=plan.java.version,
        jar_sha256=plan.jar.sha256,
        spec_sha256=_sha256(plan.spec),
        cfg_sha256=_sha256(plan.config.path),
        command=tuple(command),
        warnings=tuple(([plan.jar.warning] if plan.jar.warning else []) + collector.warnings),
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _keep_dump(source: Path, target: Path) -> None:
    """Moves TLC's dump to its place in one step; without the ending .dot TLC appends one of its own."""
    if not source.exists():
        source = source.with_name(source.name + ".dump")
    if not source.exists():
        return
    target = target.absolute()
    try:
        handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        shutil.copyfile(source, part)
        os.replace(part, target)
    except OSError as error:
        raise SpecError(
            f"{target}: the dump cannot be written ({error.strerror}): give another file"
        ) from None
