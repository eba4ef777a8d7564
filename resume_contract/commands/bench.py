"""``resume-contract bench``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from resume_contract.bench import bench
from resume_contract.commands.options import HeapOption, JarOption, JavaOption, JsonOption, ManifestOption
from resume_contract.errors import CHECKED, DIFFERS
from resume_contract.manifest import MANIFEST, load_manifest
from resume_contract.progress import status_line
from resume_contract.writing import require_folder, write_json

if TYPE_CHECKING:
    from trace_check.by_tlc.running import Tlc

__all__ = ["bench_command"]


def bench_command(
    model: Annotated[str, typer.Argument(help="A model of the manifest that both engines run.")] = "scaled",
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="Warm runs of the mirror; their median counts.")
    ] = 3,
    write: Annotated[Path | None, typer.Option("--write", help="Write bench.json to this folder.")] = None,
    traces: Annotated[
        bool, typer.Option("--traces", help="Time the checking of large traces instead.")
    ] = False,
    events: Annotated[
        list[int] | None,
        typer.Option("--events", min=1000, help="With --traces: sizes of logs; by default 1 and 10 million."),
    ] = None,
    as_json: JsonOption = False,
    tlc_jar: JarOption = None,
    java: JavaOption = None,
    heap: HeapOption = None,
    manifest: ManifestOption = MANIFEST,
) -> None:
    """Time the mirror beside TLC, or with --traces the checking of traces, as whole commands."""
    if traces:
        from trace_check.by_tlc.running import Tlc

        # With both of Java's compilers: of a run as long as this TLC is the quicker for it.
        _bench_traces(events, runs, write, as_json, Tlc(tlc_jar, java, heap, java_args=()))
    load_manifest(manifest).select([model])
    if write is not None:
        require_folder(write)
    options = {"--tlc-jar": tlc_jar, "--java": java, "--heap": heap, "--manifest": manifest}
    arguments = [str(part) for name, value in options.items() if value is not None for part in (name, value)]
    with status_line(f"timing {model}") as report:
        found = bench(model, runs=runs, arguments=arguments, on_run=report)
    if write is not None:
        write_json(write / "bench.json", found.to_json())
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        for name, seconds in found.seconds.items():
            typer.echo(f"{name:<20} {seconds:10.2f} s")
        for name, ratio in found.ratios.items():
            typer.echo(f"{name:<20} {ratio:10.2f} times")
        each = found.rows["mirror_warm"]["peak_bytes_per_state"]
        typer.echo(f"{'mirror':<20} {each:10.1f} bytes a state at its peak")
    for line in found.missed:
        typer.echo(f"difference: {line}", err=True)
    raise typer.Exit(DIFFERS if found.missed else CHECKED)


def _bench_traces(
    events: list[int] | None, runs: int, write: Path | None, as_json: bool, tlc: Tlc
) -> NoReturn:
    from resume_contract.bench_traces import bench_traces

    if write is not None:
        require_folder(write)
    with status_line("timing the checking of traces") as report:
        found = bench_traces(events or (1_000_000, 10_000_000), runs=runs, tlc=tlc, on_run=report)
    if write is not None:
        write_json(write / "bench-traces.json", found.to_json())
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        for name, row in found.rows.items():
            typer.echo(
                f"{name:<22} {row.cpu_seconds:8.2f} s {row.rate:12,.0f} events a second {row.peak_megabytes:7.0f} MB"
            )
        races = found.races
        typer.echo(
            f"{'races of 16':<22} {races.slowest_cpu_seconds:8.2f} s at most, of {races.traces}: {races.slowest}"
        )
        beside = found.beside_tlc
        typer.echo(
            f"{'beside TLC':<22} {beside.ratio:8.1f} times as fast on a trace of {beside.observations} observations"
        )
    for line in found.missed:
        typer.echo(f"difference: {line}", err=True)
    raise typer.Exit(DIFFERS if found.missed else CHECKED)
