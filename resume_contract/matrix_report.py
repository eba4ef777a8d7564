"""The fault matrix as a table, as Markdown and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from pymodel.resume.clauses import CLAUSES
from resume_contract.pictures import figure, save
from separating_models.matrix import REFERENCE, Cell, Matrix
from separating_models.paths import EXTRA_FAULTS, LIVENESS_FAULTS, MATRIX_FAULTS

__all__ = ["draw_matrix", "matrix_figure", "matrix_markdown", "matrix_table"]

COLOURS = dict(
    zip(
        CLAUSES,
        ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999933", "#ee7733"),
        strict=True,
    )
)
"""A colour for each clause."""

_GROUPS = (MATRIX_FAULTS, EXTRA_FAULTS, LIVENESS_FAULTS, (REFERENCE,))


def matrix_table(matrix: Matrix) -> Table:
    """A line for each fault on each path by each engine."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("fault", "path", "engine", "breaks, first at depth"):
        table.add_column(name)
    for name in ("distinct", "generated", "depth", "seconds"):
        table.add_column(name, justify="right")
    for cell in matrix.cells:
        found = cell.found
        table.add_row(
            cell.fault or "(reference)",
            cell.path,
            cell.engine,
            f"[red]{cell.problem}[/red]" if found is None else _words(cell),
            *(
                ("", "", "", "")
                if found is None
                else (
                    f"{found.distinct:,}",
                    f"{found.generated:,}",
                    str(found.depth),
                    f"{found.seconds:.2f}",
                )
            ),
        )
    return table


def _words(cell: Cell) -> str:
    if cell.found is None:
        return "failed"
    if cell.found.breaks:
        return ", ".join(f"{clause} at {depth}" for clause, depth in cell.found.breaks.items())
    return {"reference": "nothing"}.get(cell.verdict, cell.verdict)


def matrix_markdown(matrix: Matrix) -> str:
    """The matrix as a page: a table of what each cell breaks, and one of the figures."""
    return "\n".join(_markdown(matrix)) + "\n"


def _markdown(matrix: Matrix) -> Iterator[str]:
    paths = list(dict.fromkeys(cell.path for cell in matrix.cells))
    engines = list(dict.fromkeys(cell.engine for cell in matrix.cells))
    yield "# The fault matrix"
    yield ""
    yield (
        "Each cell is the reference with one fault, all its reachable states searched. It names the clauses that some"
        " state breaks, with the depth of the first; *clean*: the fault acts and breaks nothing; *unreached*: it never"
        f" acts on this path. Engines: {' and '.join(engines)}"
        + (", which agree on every figure." if len(engines) == 2 and not matrix.disagreements else ".")
    )
    for title, faults in (
        ("The 39 cells", MATRIX_FAULTS),
        ("What real systems do besides", EXTRA_FAULTS),
        ("Faults of liveness: no clause of safety breaks", LIVENESS_FAULTS),
    ):
        if not matrix.rows(faults):
            continue
        yield ""
        yield f"## {title}"
        yield ""
        yield "| fault | " + " | ".join(paths) + " |"
        yield "|---" * (len(paths) + 1) + "|"
        for fault in faults:
            row = [matrix.cell(fault, path) for path in paths]
            if any(row):
                yield (
                    f"| `{fault}` | "
                    + " | ".join("" if each is None else _words(each) for each in row)
                    + " |"
                )
    yield ""
    yield "## Figures"
    yield ""
    yield "| fault | path | engine | distinct | generated | depth | seconds |"
    yield "|---|---|---|---:|---:|---:|---:|"
    for cell in matrix.cells:
        if cell.found is not None:
            yield (
                f"| {f'`{cell.fault}`' if cell.fault else '(reference)'} | {cell.path} | {cell.engine}"
                f" | {cell.found.distinct:,} | {cell.found.generated:,} | {cell.found.depth} | {cell.found.seconds:.2f} |"
            )
    for title, lines in (("Disagreements", matrix.disagreements), ("Failures", matrix.failures)):
        if lines:
            yield ""
            yield f"## {title}"
            yield ""
            yield from (f"- {line}" for line in lines)


def draw_matrix(matrix: Matrix, path: Path) -> None:
    """Write the picture of :func:`matrix_figure`.

    Raises:
        OSError: `path` cannot be written.
    """
    save(matrix_figure(matrix), path)


def matrix_figure(matrix: Matrix) -> Any:
    """Faults by recovery paths; a cell has the colour of the clause that it breaks and the depth of its first state."""
    paths = list(dict.fromkeys(cell.path for cell in matrix.cells))
    groups = [[fault for fault in group if matrix.rows([fault])] for group in _GROUPS]
    rows = sum(map(len, groups)) + 0.4 * sum(bool(group) for group in groups[1:])
    made, axes = figure(2.6 + 1.6 * len(paths), 1.2 + 0.34 * rows)
    y, ticks, labels = 0.0, [], []
    for group in groups:
        for fault in group:
            for x, path in enumerate(paths):
                cell = matrix.cell(fault, path)
                if cell is not None:
                    _draw_cell(axes, x, y, cell)
            ticks.append(y + 0.5)
            labels.append(fault or "(reference)")
            y += 1
        y += 0.4 if group else 0
    axes.set_xlim(0, len(paths))
    axes.set_ylim(y, 0)
    axes.set_xticks([x + 0.5 for x in range(len(paths))], paths)
    axes.xaxis.tick_top()
    axes.set_yticks(ticks, labels, family="monospace", fontsize=8)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title("What each fault breaks on each recovery path", fontsize=11)
    return made


def _draw_cell(axes: Any, x: int, y: float, cell: Cell) -> None:
    from matplotlib.patches import Rectangle

    broken: Sequence[str] = () if cell.found is None else tuple(cell.found.breaks)
    for i, clause in enumerate(broken):
        axes.add_patch(
            Rectangle(
                (x + i / len(broken), y), 1 / len(broken), 1, facecolor=COLOURS[clause], edgecolor="white"
            )
        )
    if not broken:
        hatch = "////" if cell.verdict == "unreached" else None
        axes.add_patch(
            Rectangle(
                (x, y), 1, 1, facecolor="#f2f2f2", edgecolor="#cccccc" if hatch else "white", hatch=hatch
            )
        )
    axes.text(
        x + 0.5,
        y + 0.5,
        _words(cell).replace(" at ", " @"),
        ha="center",
        va="center",
        fontsize=8,
        color="white" if broken else "#666666",
    )
