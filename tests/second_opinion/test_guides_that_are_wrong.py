"""A guide that is no way of the specification is refused: so TLC could have said no all along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from asking import patient

from tlc_runner import FrozenMap, Value
from trace_check.by_tlc.confirming import guides_of_trace, hold_against
from trace_check.by_tlc.following import Way, follow
from trace_check.by_tlc.guiding import Guide, GuideStep
from trace_check.checker import BrokenClause, Verdict, check_trace
from trace_check.reader import Trace, read_trace

KEPT = Path(__file__).parents[2] / "results" / "traces"
RACE = KEPT / "agent-framework-1.23.0" / "race-4x0s.jsonl.gz"
UNMODELLED = KEPT / "langgraph-1.2.24" / "race-4x0s.jsonl.gz"
CLEAN = KEPT / "reference-1" / "racers-4x0s.keyed.jsonl.gz"


def guide_of(path: Path) -> Guide:
    return guides_of_trace(read_trace(path))[0]


def with_fields(step: GuideStep, **fields: Value) -> GuideStep:
    return GuideStep(FrozenMap({**step.record, **fields}), step.text)


def at(guide: Guide, *words: str) -> int:
    """The first step that is about all of this."""
    return next(i for i, step in enumerate(guide.steps) if all(word in step.text for word in words))


def swapped(guide: Guide, one: int, other: int) -> Guide:
    steps = list(guide.steps)
    steps[one], steps[other] = steps[other], steps[one]
    return replace(guide, steps=tuple(steps))


def without(guide: Guide, index: int) -> Guide:
    return replace(guide, steps=guide.steps[:index] + guide.steps[index + 1 :])


def everywhere(guide: Guide, change: Callable[[GuideStep], GuideStep]) -> Guide:
    return replace(guide, steps=tuple(map(change, guide.steps)))


def less(step: GuideStep, field: str, name: str) -> GuideStep:
    value = step.record[field]
    assert isinstance(value, frozenset)
    return with_fields(step, **{field: value - {name}})


def first_with(guide: Guide, field: str, name: str) -> int:
    return next(i for i, s in enumerate(guide.steps) if name in s.record[field])  # type: ignore[operator]


def more_from(guide: Guide, index: int, field: str, name: str) -> Guide:
    """The same, with a fault used or a clause broken from some step on."""
    steps = [
        with_fields(step, **{field: step.record[field] | {name}}) if i >= index else step  # type: ignore[operator]
        for i, step in enumerate(guide.steps)
    ]
    return replace(guide, steps=tuple(steps))


def tampered_race() -> dict[str, Guide]:
    guide = guide_of(RACE)
    assert len(guide.faults) == 2
    assert "check_then_claim" in guide.faults
    last = len(guide.steps) - 1
    other_fault = next(f for f in guide.faults if f != "check_then_claim")
    passes, fires = at(guide, "gate_passed of p5"), at(guide, "effect_fired of p5")
    co_c = first_with(guide, "broken", "CO-C")
    return {
        "a firing before the gate is passed": swapped(guide, passes, fires),
        "a load after what it leads to": swapped(guide, at(guide, "loaded of p5"), passes),
        **{
            f"left out: {step.text}": without(guide, i)
            for i, step in enumerate(guide.steps)
            if step.record["kind"] == "shown"
        },
        "an unseen step left out": without(guide, at(guide, "Record, unseen, of p5")),
        "the last step left out, and the end claimed": replace(
            without(guide, last), steps=(*guide.steps[:last], with_fields(guide.steps[0], seen=1))
        ),
        "another process's unseen step": replace(
            guide,
            steps=tuple(
                with_fields(step, actor=1) if i == at(guide, "ClaimWriting, unseen") else step
                for i, step in enumerate(guide.steps)
            ),
        ),
        "another place": replace(
            guide,
            steps=tuple(
                with_fields(step, stands=("holds", 1, 1)) if i == at(guide, "Record, unseen, of p5") else step
                for i, step in enumerate(guide.steps)
            ),
        ),
        "a fault dropped": replace(
            everywhere(guide, lambda step: less(step, "used", other_fault)), faults=("check_then_claim",)
        ),
        "the other fault dropped": replace(
            everywhere(guide, lambda step: less(step, "used", "check_then_claim")), faults=(other_fault,)
        ),
        "a fault too early": more_from(guide, 0, "used", other_fault),
        "a clause dropped": replace(
            everywhere(guide, lambda step: less(step, "broken", "CO-C")),
            clauses=tuple(one for one in guide.clauses if one[0] != "CO-C"),
        ),
        "a clause that holds": replace(
            more_from(guide, last, "broken", "RD"), clauses=(*guide.clauses, ("RD", 1))
        ),
        "a clause a step too early": more_from(guide, co_c - 1, "broken", "CO-C"),
        "a clause claimed by name only": replace(guide, clauses=(*guide.clauses, ("FD", 1))),
        "a fault claimed by name only": replace(guide, faults=(*guide.faults, "lost_commit")),
    }


def tampered_unmodelled() -> dict[str, Guide]:
    guide = guide_of(UNMODELLED)
    leap = next(i for i, step in enumerate(guide.steps) if step.record["kind"] == "asserted")
    step = guide.steps[leap]
    before = step.record["before"]
    assert isinstance(before, FrozenMap)
    other = FrozenMap({**before, "status": ("failed",)})
    return {
        "the step of another state": replace(
            guide,
            steps=(*guide.steps[:leap], with_fields(step, before=other), *guide.steps[leap + 1 :]),
        ),
        "taken for a step of the reference": replace(
            guide,
            steps=(*guide.steps[:leap], with_fields(step, kind="shown"), *guide.steps[leap + 1 :]),
        ),
        "not counted": replace(guide, unmodelled=()),
    }


def tampered_clean() -> dict[str, Guide]:
    guide = guide_of(CLEAN)
    assert guide.is_clean
    fires = at(guide, "effect_fired")
    return {
        "two of one process swapped": swapped(guide, fires, fires + 1),
        "nothing at all": replace(guide, steps=()),
        "a step more": replace(guide, steps=(guide.steps[0], *guide.steps)),
    }


@pytest.mark.slow
def test_what_is_tampered_with_is_refused() -> None:
    for make, path in ((tampered_race, RACE), (tampered_unmodelled, UNMODELLED), (tampered_clean, CLEAN)):
        wrong = make()
        found = follow([guide_of(path), *wrong.values()], patient())
        untouched, *others = found.ways
        assert untouched.confirmed, path
        accepted = [name for name, way in zip(wrong, others, strict=True) if not way.refused]
        assert accepted == [], path
        assert all(way.reached <= len(way.guide.steps) for way in found.ways)


def confirmed(path: Path) -> tuple[Trace, Verdict, list[Way]]:
    """As if TLC had followed all of it."""
    trace = read_trace(path)
    ways = [Way(guide, len(guide.steps), confirmed=True) for guide in guides_of_trace(trace)]
    return trace, check_trace(trace), ways


def test_a_verdict_may_not_say_more_than_what_was_followed() -> None:
    trace, verdict, ways = confirmed(RACE)
    assert hold_against(trace, verdict, ways) == ((), ())
    said = {
        "conforms": replace(verdict, verdict="conforms", clauses=(), explanations=((),)),
        "lost_commit": replace(verdict, explanations=(("lost_commit",),)),
        "RD breaks at event 3": replace(
            verdict, clauses=(BrokenClause("RD", 3, certain=False, thread="t1"),)
        ),
        "event 9": replace(verdict, unmodelled=(9,)),
        "at event 1 by": replace(verdict, clauses=(replace(verdict.clauses[0], event=1),)),
    }
    for words, other in said.items():
        differences, (undecided,) = hold_against(trace, other, ways)
        assert words in undecided, undecided
        assert differences == ()


def test_what_is_not_followed_to_its_end_is_named() -> None:
    trace, verdict, ways = confirmed(RACE)
    refused = [replace(ways[0], confirmed=False, reached=3), *ways[1:]]
    ((difference,), undecided) = hold_against(trace, verdict, refused)
    steps = len(ways[0].guide.steps)
    assert f"to step 4 of {steps} (event " in difference
    assert undecided == ()
    late = [replace(ways[0], confirmed=False, why="TLC was stopped after 1 s"), *ways[1:]]
    assert hold_against(trace, verdict, late) == ((), ("thread t1: TLC was stopped after 1 s",))
