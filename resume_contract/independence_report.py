"""The certificate of independence as a table, as Markdown and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table

from pymodel.resume.clauses import CLAUSES
from resume_contract.pictures import figure, save
from separating_models.certificate import Verified
from separating_models.configuration import shape
from separating_models.independence import Checked, Independence
from separating_models.lattice import SAFETY, SPACE
from separating_models.search import SEARCHED

__all__ = ["draw_lattice", "independence_markdown", "lattice_figure", "models_table"]


def models_table(independence: Independence) -> Table:
    """A line for each verified model."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("breaks", "model", "program", "faults"):
        table.add_column(name)
    for name in ("depth", "distinct", "generated"):
        table.add_column(name, justify="right")
    for each in independence.verified.values():
        table.add_row(
            ", ".join(each.model.broken),
            each.model.name,
            shape(each.model.configuration.program),
            ", ".join(each.model.configuration.faults),
            str(each.mirror.breaks.get(each.model.broken[0], "")),
            f"{each.mirror.distinct:,}",
            f"{each.mirror.generated:,}",
        )
    return table


def independence_markdown(independence: Independence) -> str:
    """The certificate as a page."""
    return "\n".join(_markdown(independence)) + "\n"


def _markdown(independence: Independence) -> Iterator[str]:
    models = list(independence.verified.values())
    separating = [each for each in models if not each.model.live]
    live = [each for each in models if each.model.live]
    yield "# The clauses are independent"
    yield ""
    yield (
        "A model separates a clause if some reachable state of it breaks that clause, and none breaks any other. Each"
        " model below was verified three times: by TLC and by the mirror, which agree on its states, depths and all"
        " first violations, and by plain TLC on the module that stands alone, with both configuration files."
    )
    yield ""
    yield "## A separating model for each clause"
    yield ""
    yield (
        f"Found by search among: {SEARCHED}. Minimal in the order (faults, runners, branches, units, crashes, answers,"
        " depth)."
    )
    yield ""
    yield "| clause | model | program | fault | runners | branches | crashes | answers | depth | distinct |"
    yield "|---|---|---|---|---:|---:|---:|---:|---:|---:|"
    for each in separating:
        bounds = each.model.configuration.bounds
        yield (
            f"| {each.model.broken[0]} | `{each.model.name}` | {_program(each)} | {_faults(each)} | {bounds.runners}"
            f" | {bounds.branches} | {bounds.crashes} | {bounds.answers} | {each.mirror.breaks[each.model.broken[0]]}"
            f" | {each.mirror.distinct:,} |"
        )
    yield ""
    yield "What each model breaks (with the depth of the first such state) and keeps:"
    yield ""
    yield "| model | " + " | ".join(CLAUSES) + " |"
    yield "|---" * (len(CLAUSES) + 1) + "|"
    for each in separating:
        cells = [f"**{each.mirror.breaks[c]}**" if c in each.mirror.breaks else "holds" for c in CLAUSES]
        yield f"| `{each.model.name}` | " + " | ".join(cells) + " |"
    yield ""
    yield "## Liveness"
    yield ""
    for each in live:
        yield (
            f"- `{each.model.name}` ({_program(each)}, {_faults(each)}) breaks {', '.join(each.model.broken)} and keeps"
            f" {', '.join(each.model.kept)}."
        )
    if independence.lattice:
        yield from _lattice(independence.lattice)
    yield ""
    yield "## What this means, and what it does not"
    yield ""
    yield (
        "No clause follows from the others: for each there is a system that keeps all the others and breaks it. In"
        " particular consume-once is two clauses: a system may pass on the one acknowledged answer, twice (CO-C"
        " alone), or let one claim through and acknowledge two answers (CO-V alone)."
    )
    yield ""
    yield (
        "It is relative to the vocabulary of the reference: the deviations are those of `ResumeFaults.tla`, each one a"
        " named change of one action, and a clause is what its invariant says there. Minimal means within the space"
        " that was searched. Nothing is said here of systems whose state has other parts, nor is it a proof for all"
        " sizes; but a separating model is a finite object, and for independence one is enough."
    )


def _lattice(lattice: tuple[Checked, ...]) -> Iterator[str]:
    found = [each for each in lattice if each.element.found is not None]
    joint = [each for each in found if each.element.joint is not None]
    by_tlc = [each for each in found if each.tlc is not None]
    yield ""
    yield "## The whole lattice"
    yield ""
    yield (
        f"Of the {len(lattice)} sets of safety clauses {len(found)} are realised: a model breaks exactly these, FI holds,"
        f" and no clause outside is vacuous (what it judges occurs). For {len(joint)} of them there is a joint witness:"
        " one behaviour in which every clause of the set is broken at some point. All were decided by the mirror; TLC"
        f" checked the {len(by_tlc)} whose models are small enough for it and agrees on every figure."
    )
    yield ""
    yield (
        "Tried, in this order: "
        + "; ".join(
            f"`{text}` with {b.runners} runners, {b.branches} branches, {b.answers} answers, {b.crashes} crashes"
            for text, b in SPACE
        )
        + "."
    )
    yield ""
    yield "| breaks | program | faults | states of the joint witness | distinct | engines |"
    yield "|---|---|---|---:|---:|---|"
    for each in lattice:
        name = ", ".join(each.element.breaks) or "nothing"
        model = each.element.found
        if model is None:
            yield f"| {name} | none of {each.element.tried} | | | | mirror |"
            continue
        faults = ", ".join(f"`{fault}`" for fault in model.configuration.faults)
        length = "" if each.element.joint is None else len(each.element.joint.steps)
        text = shape(model.configuration.program).replace("|", "\\|")
        engines = "mirror, TLC" if each.tlc is not None else "mirror"
        yield (f"| {name} | `{text}` | {faults} | {length} | {model.distinct:,} | {engines} |")


def _program(each: Verified) -> str:
    return f"`{shape(each.model.configuration.program)}`".replace("|", "\\|")


def _faults(each: Verified) -> str:
    return ", ".join(f"`{fault}`" for fault in each.model.configuration.faults)


def draw_lattice(independence: Independence, path: Path) -> None:
    """Write the picture of :func:`lattice_figure`.

    Raises:
        OSError: `path` cannot be written.
    """
    save(lattice_figure(independence.lattice), path)


def lattice_figure(lattice: tuple[Checked, ...]) -> Any:
    """The sets by rank: lines join those that differ in one clause; a colour says how many states the model has."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    made, axes = figure(16, 9.5)
    by_rank = [
        [each for each in lattice if len(each.element.breaks) == rank] for rank in range(len(SAFETY) + 1)
    ]
    place = {
        each.element.breaks: ((i + 0.5) / len(row), rank)
        for rank, row in enumerate(by_rank)
        for i, each in enumerate(row)
    }
    for breaks, (x, y) in place.items():
        for clause in SAFETY:
            above = place.get(tuple(c for c in SAFETY if c in breaks or c == clause))
            if clause not in breaks and above is not None:
                axes.plot((x, above[0]), (y, above[1]), color="#bbbbbb", linewidth=0.3, zorder=1)
    sizes = [each.element.found.distinct for each in lattice if each.element.found is not None]
    norm = LogNorm(min(sizes, default=1), max(sizes, default=10))
    colours = ScalarMappable(norm, "viridis")
    for each in lattice:
        x, y = place[each.element.breaks]
        found = each.element.found
        axes.scatter(
            [x],
            [y],
            s=150 if len(by_rank[y]) < 30 else 90,
            color="white" if found is None else colours.cmap(norm(found.distinct)),
            edgecolors="black" if each.tlc is not None else "#999999",
            linewidths=1.4 if each.tlc is not None else 0.6,
            marker="s" if each.element.joint is None and each.element.breaks else "o",
            zorder=2,
        )
        axes.annotate(
            _label(each.element.breaks),
            (x, y),
            (0, -9),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            linespacing=1.0,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            zorder=3,
        )
    made.colorbar(colours, ax=axes, label="distinct states of the model", shrink=0.6)
    axes.set_yticks(range(len(SAFETY) + 1))
    axes.set_ylabel("clauses broken")
    axes.set_xticks([])
    axes.set_ylim(-0.6, len(SAFETY) + 0.4)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(
        "Each set of safety clauses has a model that breaks exactly these\n"
        "circle: one behaviour breaks all of them; square: different ones do; black edge: checked by TLC, too;"
        " with -: all but these",
        fontsize=10,
    )
    return made


def _label(breaks: tuple[str, ...]) -> str:
    """A set beneath its mark: its clauses, or if they are most of all, those that it lacks."""
    if len(breaks) == len(SAFETY):
        return "all"
    if len(breaks) > len(SAFETY) // 2 + 1:
        return "\n".join(f"-{clause}" for clause in SAFETY if clause not in breaks)
    return "\n".join(breaks) or "none"
