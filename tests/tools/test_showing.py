"""`trace show`: marks, candidate states, pictures."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from resume_contract.cli import run
from resume_contract.sequence import Moment, actors_of, legend_of, mark_moments, moments_of
from resume_contract.sequence_picture import MOST_EVENTS, sequence_figure
from trace_check.candidates import Candidates, candidates_before
from trace_check.checker import check_file, check_trace
from trace_check.reader import read_trace
from trace_check.streaming.generate import MODELS
from trace_check.writer import TraceWriter, start_trace

KILL = MODELS / "kill-after-effect.jsonl"
RACE = MODELS / "race-two-resumers.jsonl"
FINE = MODELS / "park-and-resume.jsonl"


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def show(capfd: pytest.CaptureFixture[str]) -> Command:
    def run_it(*arguments: object) -> Ended:
        capfd.readouterr()
        status = run(["trace", "show", *map(str, arguments)])
        return Ended(status, *capfd.readouterr())

    return run_it


def test_moments_bear_the_marks_of_the_verdict() -> None:
    trace = read_trace(RACE)
    moments = mark_moments(moments_of(trace), check_trace(trace))
    assert {at + 1: moment.verdict for at, moment in enumerate(moments) if moment.marks} == {
        20: "◆ ✗ EO, CO-C",
    }
    assert legend_of(moments) == ["✗ a clause breaks", "◆ the first event that the reference cannot explain"]
    ends = {at: moment.begin for at, moment in enumerate(moments) if moment.begin is not None}
    assert ends == {op.end: op.begin for op in trace.operations.values()}
    assert not any(moment.pending for moment in moments)
    assert Moment(1, "p", "b", "x", is_unmodelled=True, is_first=True).verdict == "◆ ○"


def test_the_candidate_states_are_a_set_in_words() -> None:
    trace = read_trace(RACE)
    first = check_trace(trace).first_unexplained
    assert first is not None
    found = candidates_before(trace, first)
    assert found is not None
    assert found.event == first.event == 20
    (state,) = found.states
    assert set(state) == {
        "branch main is running, sealed: prepare",
        "e1 was applied once in branch main",
        'g is recorded in branch main: "yes"',
        'gate g of branch main is claimed, acknowledged: "yes" (d1), claimed once',
        "e2 was applied once in branch main",
        "at step e2 of branch main, loaded with 1 unit sealed, holding a claim that is no longer the current one: p3",
        'at step e2 of branch main, with "e2:c303ab7d" in hand, loaded with 1 unit sealed, holding the claim: p2',
        "with nothing in hand: p1",
    }
    assert found.lines()[0] == "the candidate state before event 20:"


def test_several_candidates_show_what_they_share_and_what_not() -> None:
    found = Candidates(7, tuple(("same", f"own {n}") for n in range(6)))
    assert found.common == ("same",)
    assert found.lines(most=2) == [
        "before event 7 there are 6 candidate states; in all of them:",
        "    same",
        "  and in candidate 1:",
        "    own 0",
        "  and in candidate 2:",
        "    own 1",
        "  and 4 more",
    ]
    alike = Candidates(7, (("a",), ("a", "b")))
    assert alike.lines()[2:] == [
        "  and in candidate 1:",
        "    nothing else",
        "  and in candidate 2:",
        "    b",
    ]


def test_an_order_that_is_not_known_gives_several_candidates(tmp_path: Path) -> None:
    """Two answers overlap, either may have been first; then a fork that nobody declared."""
    path = tmp_path / "t.jsonl"
    start_trace(path, program="ask: gate g ; effect e | more: effect f", observes="all")
    with TraceWriter(path, "p1") as p1, TraceWriter(path, "c1") as c1, TraceWriter(path, "c2") as c2:
        with p1.operation("loaded") as load:
            load.end(checkpoint=None, index=0)
        with p1.operation("parked", gate="g"):
            pass
        with c1.operation("answer", gate="g", delivery="d1", value="yes") as one:
            with c2.operation("answer", gate="g", delivery="d2", value="no") as two:
                two.end(accepted=True)
            one.end(accepted=True)
    trace = read_trace(path)
    verdict = check_trace(trace)
    first = verdict.first_unexplained
    assert first is not None
    found = candidates_before(trace, first)
    assert found is not None
    assert len(found.states) == first.candidates
    gates = {fact for state in found.states for fact in state if fact.startswith("gate g")}
    assert gates <= {
        'gate g of branch main is answered, acknowledged: "yes" (d1)',
        'gate g of branch main is answered, acknowledged: "no" (d2)',
    }
    assert gates


def test_the_text_has_legend_and_candidates_and_the_verdict_last(show: Command) -> None:
    ended = show(KILL)
    assert ended.status == 0
    blocks = ended.out.rstrip().split("\n\n")
    assert blocks[1] == "✗ a clause breaks; ◆ the first event that the reference cannot explain"
    assert blocks[2].splitlines() == [
        "the candidate state before event 8:",
        "    branch main is running, sealed: nothing",
        "    e1 was applied once in branch main",
        "    at step e1 of branch main, loaded with 0 units sealed: p2",
        "    with nothing in hand: p1, p3",
    ]
    assert blocks[3].splitlines()[0] == f"{KILL}: violates"
    plain = show(FINE).out
    assert not any(mark in plain for mark in "✗◆○")
    assert "candidate" not in plain


def many(path: Path, actors: int) -> Path:
    """Effects of many processes, one after another."""
    start_trace(path, program="u: effect e", observes="crashed")
    for n in range(actors):
        with TraceWriter(path, f"worker-{n}", f"t{n}") as log:
            log.emit("effect_fired", step="e", key="$k$", applied=True, outcome=f"$x_{{{n}}}^$")
            log.begin("recorded", step="e", outcome=f"$x_{{{n}}}^$")
    return path


def test_too_many_actors_for_columns_have_one(show: Command, tmp_path: Path) -> None:
    lines = show(many(tmp_path / "many.jsonl", 16), "--no-check").out.splitlines()
    assert lines[1].split() == ["line", "branch", "actor", "event"]
    assert len(lines) == 2 + 32
    assert max(map(len, lines)) <= 120
    assert show(many(tmp_path / "few.jsonl", 3), "--no-check").out.splitlines()[1].split() == [
        "line",
        "branch",
        "worker-0",
        "worker-1",
        "worker-2",
    ]


def test_one_thread_of_many(show: Command, tmp_path: Path) -> None:
    path = many(tmp_path / "many.jsonl", 5)
    told = json.loads(show(path, "--thread", "t3", "--json").out)
    assert [(event["event"], event["actor"], event["pending"]) for event in told["events"]] == [
        (7, "worker-3", False),
        (8, "worker-3", True),
    ]
    ended = show(path, "--thread", "nope")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == f"error: {path}: thread nope is unknown: one of t0, t1, t2, t3, t4\n"


def test_json(show: Command) -> None:
    told = json.loads(show(KILL, "--json").out)
    assert told["verdict"] == check_file(KILL).to_json()
    assert [event["event"] for event in told["events"] if event["broken"] == ["EO"]] == [8]
    assert [event["event"] for event in told["events"] if event["is_first"]] == [8]
    assert told["events"][1]["begun_by"] == 1
    assert told["candidates"]["event"] == 8
    assert len(told["candidates"]["states"]) == 1
    assert json.loads(show(KILL, "--json", "--no-check").out)["verdict"] is None


def titles(path: Path) -> dict[int, str]:
    """Event -> what is said under the pointer."""
    space = {"svg": "http://www.w3.org/2000/svg"}
    found = {}
    for group in ElementTree.parse(path).iterfind(".//svg:g[@id]", space):
        if (match := re.fullmatch(r"event-(\d+)", group.get("id") or "")) is not None:
            title = group.find("svg:title", space)
            assert title is not None
            found[int(match[1])] = title.text or ""
    return found


def test_an_event_of_the_svg_says_more_under_the_pointer(show: Command, tmp_path: Path) -> None:
    assert show(KILL, "-o", tmp_path / "kill.svg").status == 0
    said = titles(tmp_path / "kill.svg")
    assert sorted(said) == list(range(1, 28))
    assert said[1] == "event 1, line 2, p1 on main\n▷ loaded"
    assert said[8].splitlines()[:6] == [
        "event 8, line 9, p2 on main",
        "effect_fired e1 outcome=e1:d56a260d",
        "a clause breaks: EO",
        "the first event that the reference cannot explain",
        "the closest action is Fire; what it lacks: e1 was not applied before in branch main",
        "the candidate state before event 8:",
    ]
    assert "    e1 was applied once in branch main" in said[8].splitlines()
    before = (tmp_path / "kill.svg").read_bytes()
    show(KILL, "-o", tmp_path / "kill.svg")
    assert (tmp_path / "kill.svg").read_bytes() == before


def test_names_and_values_are_never_taken_for_markup(show: Command, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    start_trace(path, program="u: effect e", observes="crashed", scenario="[bold]<b>$\\frac$")
    with TraceWriter(path, "[red]<p>&$x", "t1") as log:
        log.emit("effect_fired", step="e", key="k", applied=True, outcome="[/red] </title>&$\\sqrt$ \x1b[31m")
    assert show(path, "-o", tmp_path / "odd.svg", "--no-check").status == 0
    assert titles(tmp_path / "odd.svg")[1].splitlines() == [
        "event 1, line 2, [red]<p>&$x on main",
        "effect_fired e outcome=[/red] </title>&$\\sqrt$ \\x1b[31m",
    ]
    ended = show(path, "--no-check")
    assert (ended.status, ended.err) == (0, "")
    assert "[red]<p>&$x" in ended.out
    assert "[/red] </title>" in ended.out
    assert "[bold]<b>$" in ended.out
    assert "\x1b" not in ended.out


def test_a_picture_has_a_limit_and_stays_small(show: Command, tmp_path: Path) -> None:
    path = many(tmp_path / "long.jsonl", MOST_EVENTS // 2 + 1)
    ended = show(path, "-o", tmp_path / "long.svg", "--no-check")
    assert ended.status == 2
    assert ended.err.startswith(
        f"error: {path}: 2,002 events are too many for a picture, which takes 2,000: draw one"
    )
    assert not (tmp_path / "long.svg").exists()
    wide = many(tmp_path / "wide.jsonl", 16)
    assert show(wide, "-o", tmp_path / "wide.png", "--no-check").status == 0
    assert (tmp_path / "wide.png").stat().st_size < 1_000_000
    assert actors_of(moments_of(read_trace(wide))) == [f"worker-{n}" for n in range(16)]


def test_what_cannot_be_checked_is_shown_all_the_same(show: Command, tmp_path: Path) -> None:
    path = tmp_path / "many-answers.jsonl"
    start_trace(path, program="u: gate g", observes="crashed")
    with TraceWriter(path, "client") as log:
        for n in range(300):  # more than the record of a state has room for
            with log.operation("answer", gate="g", delivery=f"d{n}", value=n) as answer:
                answer.end(accepted=False)
    verdict = check_file(path)
    assert (verdict.verdict, verdict.exit_status) == ("unchecked", 2)
    ended = show(path)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[-2] == f"{path}: unchecked"
    assert ended.out.splitlines()[-1].strip() in f"{verdict.error}"
    assert len(ended.out.splitlines()) == 2 + 600 + 3


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_terminal_that_lacks_the_signs(variables: dict[str, str], tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text(KILL.read_text().replace("e1:d56a260d", "grün ≤ 🙂"))
    command = [sys.executable, "-m", "resume_contract", "trace", "show", str(odd)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("LC_")} | variables
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("latin-1")
    assert "* x EO" in text
    assert "x a clause breaks; * the first event that the reference cannot explain" in text
    assert "> loaded" in text
    assert "\\ud83d\\ude42" in text
    done = subprocess.run([*command, "--json"], capture_output=True, env=env, check=True)
    # the library that prints it writes UTF-8 in place of ASCII
    told = json.loads(done.stdout.decode("latin-1" if "latin-1" in variables.values() else "utf-8"))
    assert told["events"][2]["text"] == "effect_fired e1 outcome=grün ≤ 🙂"
    assert told["events"][0]["text"] == "▷ loaded"


def test_a_budget_that_is_too_small(show: Command) -> None:
    ended = show(KILL, "--budget", "1")
    assert (ended.status, ended.err) == (0, "")
    assert f"{KILL}: unchecked" in ended.out
    assert "the search budget of 1 is used up: raise it" in " ".join(ended.out.split())
    assert show(KILL, "--budget", "0").status == 2


@pytest.mark.parametrize("actors", [("p1",), ("p1", "p2"), ("p1", "p2", "p3", "p4", "p5", "p6")])
def test_everything_that_is_written_lies_inside_the_picture(actors: tuple[str, ...]) -> None:
    """With few actors too, where the legend is wider than the columns."""
    marked = {"broken": ("EO",), "is_first": True, "is_unmodelled": True}
    moments = [Moment(n + 2, actor, "main", "completed", **marked) for n, actor in enumerate(actors)]
    made = sequence_figure(read_trace(FINE), moments, ["a note"])
    made.canvas.draw()
    page = made.bbox
    texts = {text.get_text(): text.get_window_extent() for text in made.axes[0].texts}
    assert [text for text in legend_of(moments) if text not in texts] == []
    assert sum("an operation, from" in text for text in texts) == 1
    for text, place in texts.items():
        assert page.x0 <= place.x0 < place.x1 <= page.x1, text
        assert page.y0 <= place.y0 < place.y1 <= page.y1, text
    places = [place for text, place in texts.items() if text in legend_of(moments) or "an operation" in text]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(places, 2))
    assert not any(texts["a note"].overlaps(place) for place in places)
