"""The commands of ``python -m tlc_runner``. Exit status: 0 success, 1 a violation, 2 could not check."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import networkx as nx
import typer
from rich.console import Console

from .errors import SpecError, TLCError
from .graph import state_graph
from .outputs import require_output
from .pluscal import translate as translate_algorithm
from .result import Progress, TLCInterrupted, TLCResult, TraceState
from .run import run_tlc, tlc_command
from .values import format_value, parse_value, to_json

__all__ = ["app", "main"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Runs TLC, the TLA+ model checker. Exit status: 0 success, 1 a violation, 2 could not check.",
)

SpecArgument = Annotated[Path, typer.Argument(help="The root module's .tla file.")]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="Configuration file; by default the one beside the spec."),
]
WorkersOption = Annotated[int, typer.Option(help="Worker threads; one keeps counterexamples shortest.")]
TimeoutOption = Annotated[float | None, typer.Option(help="Seconds after which TLC is stopped.")]
HeapOption = Annotated[str | None, typer.Option(help="Java's largest heap, such as 4g.")]
JavaOption = Annotated[Path | None, typer.Option(help="The java executable.")]
JarOption = Annotated[Path | None, typer.Option(help="The tla2tools.jar.")]
ModulesOption = Annotated[
    list[Path] | None, typer.Option("--module-path", "-I", help="A further folder with modules; repeatable.")
]
JarsOption = Annotated[list[Path] | None, typer.Option("--extra-jar", help="A further jar; repeatable.")]
ArgsOption = Annotated[list[str] | None, typer.Option("--tlc-arg", help="Passed on to TLC; repeatable.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_SHOW_PROGRESS_AFTER = 2.0


@app.command()
def run(
    spec: SpecArgument,
    config: ConfigOption = None,
    workers: WorkersOption = 1,
    deadlock: Annotated[
        bool | None,
        typer.Option(
            "--deadlock/--no-deadlock", help="Check for deadlock; by default as CHECK_DEADLOCK says."
        ),
    ] = None,
    coverage: Annotated[bool, typer.Option(help="Count how often each action is taken.")] = False,
    continue_: Annotated[bool, typer.Option("--continue", help="Go on after a violated invariant.")] = False,
    simulate: Annotated[int | None, typer.Option(help="Simulate so many random behaviours instead.")] = None,
    depth: Annotated[int | None, typer.Option(help="Longest simulated behaviour.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
    fp: Annotated[int, typer.Option(help="Fingerprint function.")] = 0,
    dump: Annotated[
        Path | None, typer.Option(help="File for all states; a labelled graph if it ends in .dot.")
    ] = None,
    timeout: TimeoutOption = None,
    heap: HeapOption = None,
    java: JavaOption = None,
    jar: JarOption = None,
    module_path: ModulesOption = None,
    extra_jar: JarsOption = None,
    tlc_arg: ArgsOption = None,
    as_json: JsonOption = False,
    print_command: Annotated[
        bool, typer.Option("--print-command", help="Print the command line, run nothing.")
    ] = False,
) -> None:
    """Check one spec."""
    shared: dict[str, Any] = {
        "workers": workers,
        "check_deadlock": deadlock,
        "coverage": coverage,
        "continue_": continue_,
        "simulate": simulate,
        "depth": depth,
        "seed": seed,
        "fp": fp,
        "dump": dump,
        "heap": heap,
        "java": java,
        "jar": jar,
        "module_path": module_path or (),
        "extra_jars": extra_jar or (),
        "extra_args": tlc_arg or (),
    }
    with _one_line_errors():
        if print_command:
            typer.echo(shlex.join(tlc_command(spec, config, **shared)))
            return
        with _progress(spec.name) as on_progress:
            result = run_tlc(spec, config, timeout=timeout, on_progress=on_progress, **shared)
    if as_json:
        typer.echo(json.dumps(result.to_json(), indent=2))
    else:
        typer.echo("\n".join(_report(result)))
        for warning in result.warnings:
            typer.echo(f"warning: {warning}", err=True)
    raise typer.Exit(result.outcome.exit_status)


@app.command()
def graph(
    spec: SpecArgument,
    config: ConfigOption = None,
    workers: WorkersOption = 1,
    timeout: TimeoutOption = None,
    heap: HeapOption = None,
    java: JavaOption = None,
    jar: JarOption = None,
    module_path: ModulesOption = None,
    extra_jar: JarsOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the graph as JSON to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explore the whole state graph."""
    with _one_line_errors(), _progress(spec.name):
        if output is not None:
            require_output(output, [spec, spec.with_suffix(".cfg") if config is None else config])
        result = state_graph(
            spec,
            config,
            workers=workers,
            timeout=timeout,
            heap=heap,
            java=java,
            jar=jar,
            module_path=module_path or (),
            extra_jars=extra_jar or (),
        )
        if output is not None:
            _write(output, json.dumps(_graph_json(result)) + "\n")
    if as_json:
        typer.echo(json.dumps(_graph_json(result)))
    else:
        initial = sum(1 for _, is_initial in result.nodes(data="initial") if is_initial)
        typer.echo(
            f"{spec.name}: states={len(result)} transitions={result.number_of_edges()} initial={initial}"
        )


@app.command()
def translate(
    path: Annotated[Path, typer.Argument(help="A .tla file with a PlusCal algorithm.")],
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace the file.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if the file's translation is out of date.")
    ] = False,
    java: JavaOption = None,
    jar: JarOption = None,
) -> None:
    """Translate a PlusCal algorithm."""
    with _one_line_errors():
        text = translate_algorithm(path, in_place=in_place and not check, java=java, jar=jar)
        if check:
            current = path.read_text(encoding="utf-8") == text
            typer.echo(
                f"{path}: the translation is {'current' if current else 'out of date: translate it again'}"
            )
            raise typer.Exit(0 if current else 1)
        if not in_place:
            typer.echo(text, nl=False)


@app.command()
def values(
    text: Annotated[str | None, typer.Argument(help="A TLA+ value; standard input without it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Read one TLA+ value and print it in its standard form."""
    with _one_line_errors():
        value = parse_value(sys.stdin.read() if text is None else text)
    typer.echo(json.dumps(to_json(value)) if as_json else format_value(value))


def main() -> None:
    """Runs the command line."""
    # A polite request to end must take TLC along, as Ctrl-C does.
    signal.signal(signal.SIGTERM, _terminated)
    app()


def _terminated(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(2)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except TLCError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    except TLCInterrupted as interrupt:
        typer.echo(f"error: {interrupt.result.message}", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"error: {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def _progress(name: str) -> Iterator[Callable[[Progress], None] | None]:
    """A status line on a terminal, for runs that last; nothing when piped."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    status = console.status(f"{name}: TLC is running")
    timer = threading.Timer(_SHOW_PROGRESS_AFTER, status.start)
    timer.daemon = True
    timer.start()

    def show(progress: Progress) -> None:
        status.update(
            f"{name}: depth {progress.level}, {progress.distinct:,} distinct, "
            f"{progress.generated:,} generated, {progress.queue:,} queued, {progress.seconds:.0f} s"
        )

    try:
        yield show
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def _report(result: TLCResult) -> list[str]:
    counts = {
        "generated": result.generated,
        "distinct": result.distinct,
        "depth": result.depth,
        "queue": result.queue,
    }
    known = " ".join(f"{name}={number}" for name, number in counts.items() if number is not None)
    lines = [result.message, f"{known} sec={result.seconds:.2f}".strip()]
    lines += [
        f"  {name}: {distinct} distinct, {generated} generated"
        for name, (distinct, generated) in result.coverage.items()
    ]
    for state in result.trace:
        lines += _state_lines(state)
    return lines


def _state_lines(state: TraceState) -> list[str]:
    if state.kind == "stuttering":
        return [f"{state.number}: stays there for ever"]
    if state.kind == "back_to":
        return [f"   back to {state.number}" + (f" by {state.action}" if state.action else "")]
    arguments = "" if state.params is None else f"({', '.join(map(format_value, state.params))})"
    head = f"{state.number}: {state.action or 'initial state'}{arguments}"
    return [head, *(f"   {name} = {format_value(value)}" for name, value in state.variables.items())]


def _graph_json(states: nx.MultiDiGraph) -> dict[str, Any]:
    return {
        "nodes": [
            {
                "id": node,
                "initial": data["initial"],
                "state": {name: to_json(value) for name, value in data["state"].items()},
            }
            for node, data in states.nodes(data=True)
        ],
        "edges": [
            {"source": source, "target": target, "action": data["action"], "count": data["count"]}
            for source, target, data in states.edges(data=True)
        ],
    }


def _write(path: Path, text: str) -> None:
    """Writes a file in one step."""
    try:
        handle, part = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SpecError(f"{path}: cannot be written ({error.strerror}): give another file") from None
