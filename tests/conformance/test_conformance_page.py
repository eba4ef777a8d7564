"""The atlas as a page: what it says of stores, what to do, and how to look at a trace."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from resume_contract.conformance_report import markdown
from resume_contract.definitions import FAULTS
from resume_contract.manifest import ROOT
from trace_check.conformance.advice import ADVICE, OTHER, advice_on
from trace_check.conformance.atlas import Atlas, SystemEntry, read_atlas, system_entry
from trace_check.conformance.judging import Evidence, Finding
from trace_check.conformance.profiles import Proof
from trace_check.conformance.races import RaceRow
from trace_check.explained import ALL_CLAUSES
from trace_check.recording.system import SYSTEMS, load_system


def finding(clause: str, *, certain: bool = True, kind: str = "effect_fired", **given: Any) -> Finding:
    """That a clause breaks, on a system with one store."""
    fields: dict[str, Any] = {"scenario": "kill-after-effect", "sink": "plain", "varies": False}
    fields |= {"trace": f"s-1/{clause}.jsonl.gz", "verdict": "violates"} | given
    evidence = Evidence(clause, 3, 4, kind, "p1", certain)
    return Finding(system="s", version="1", store="db", breaks=[evidence], **fields)


def entry(*findings: Finding, key: str | None = "run and step", **given: Any) -> SystemEntry:
    fields: dict[str, Any] = {"system": "s", "version": "1", "store": "db", "name": "s"} | given
    profile: Any = dict.fromkeys(ALL_CLAUSES, "not_exercised")
    effects = {"plain": {"recorded": 0, "window": 2}, "keyed": {"recorded": 0, "window": 0}}
    fields = {"effects": effects} | fields
    return SystemEntry(
        kept_by="framework",
        key=key,
        profile=profile,
        proofs={},
        recordings=list(findings),
        omitted=[],
        **fields,
    )


def causes(*entries: SystemEntry) -> list[tuple[str, str, bool]]:
    return [(one.clause, one.cause, one.certain) for one in advice_on(Atlas(list(entries)), "s")]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_store_has_a_note(name: str) -> None:
    system = load_system(name)
    assert set(system.store_notes) == set(system.stores)
    for note in system.store_notes.values():
        assert re.fullmatch(r"[^\n|]+\.", note)


def test_the_page_has_each_store_s_note_where_the_store_s_name_leads() -> None:
    page = markdown(read_atlas(ROOT / "results" / "conformance.json"))
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-"): at
        for at, line in enumerate(page.splitlines())
        if line.startswith("#")
    }
    lines = page.splitlines()
    entries = read_atlas(ROOT / "results" / "conformance.json").systems
    anchors = re.findall(r"\]\(#([^)]*)\)", page)
    section = anchors.pop(0)
    assert lines[headings[section]] == "## Effects applied again or not at all, by cause"
    assert len(anchors) == len(entries)
    for anchor, one in zip(anchors, entries, strict=True):
        assert lines[headings[anchor] + 2] == load_system(one.name).store_notes[one.store]


def test_the_page_says_once_how_to_look_at_a_trace() -> None:
    page = markdown(read_atlas(ROOT / "results" / "conformance.json"))
    assert page.count("`resume-contract trace show results/traces/") == 1
    assert page.count("`resume-contract trace check`") == 1


def test_every_clause_and_every_cause_has_advice() -> None:
    assert list(ADVICE) == list(ALL_CLAUSES)
    for clause, sentences in ADVICE.items():
        assert OTHER in sentences
        if clause != "EO":  # its causes are those of the effects, counted in the traces
            assert {f for f, fault in FAULTS.items() if fault.breaks == clause} == set(sentences) - {OTHER}
        for sentence in sentences.values():
            assert re.fullmatch(r"[A-Z][^.]*\.", sentence)
    assert set(ADVICE["EO"]) == {
        "window",
        "window_without_key",
        "recorded",
        "key_changes",
        "not_applied",
        OTHER,
    }


def test_everything_that_the_atlas_has_leads_to_advice() -> None:
    atlas = read_atlas(ROOT / "results" / "conformance.json")
    for one in atlas.systems:
        named = {a.clause for a in advice_on(atlas, one.system) if one in a.entries}
        assert named >= {
            c for c, standing in one.profile.items() if standing == "breaks" and one.proofs[c].certain
        }
    assert advice_on(atlas, "reference") == []


def test_why_an_effect_was_applied_again() -> None:
    window = finding("EO", repeated={"window": 1})
    assert causes(entry(window)) == [("EO", "window", True)]
    (one,) = advice_on(Atlas([entry(window)]), "s")
    assert "the key that the framework offers (run and step)" in one.text
    assert causes(entry(window, key=None)) == [("EO", "window_without_key", True)]
    no_help = {"plain": {"recorded": 0, "window": 2}, "keyed": {"recorded": 0, "window": 2}}
    assert causes(entry(window, effects=no_help)) == [("EO", "key_changes", True)]
    assert causes(entry(finding("EO", repeated={"recorded": 1}))) == [("EO", "recorded", True)]
    assert causes(entry(finding("EO", repeated={"recorded": 1}, sink="keyed"))) == [
        ("EO", "key_changes", True)
    ]
    assert causes(entry(finding("EO", kind="committed", sink="keyed"))) == [("EO", "not_applied", True)]
    assert causes(entry(finding("EO"))) == [("EO", OTHER, True)]


def test_a_cause_is_a_fault_of_the_clause() -> None:
    ways = [["check_then_claim", "unkeyed_effect"], ["check_then_claim", "ledger_ignored"]]
    assert causes(entry(finding("CO-C", explanations=ways))) == [("CO-C", "check_then_claim", True)]
    assert causes(entry(finding("CO-V", explanations=ways))) == [("CO-V", OTHER, True)]


def test_what_possibly_breaks_gives_way_to_what_breaks_for_certain() -> None:
    possibly = finding("CO-V", certain=False, explanations=[["lost_answer"]])
    certainly = finding("CO-V", explanations=[["answer_replaced"]])
    assert causes(entry(possibly)) == [("CO-V", "lost_answer", False)]
    assert causes(entry(possibly, certainly)) == [("CO-V", "answer_replaced", True)]


def test_races_count_and_a_torn_store_does_not() -> None:
    race = finding("CO-C", explanations=[["check_then_claim"]], scenario="racers-2x0s")
    row = RaceRow(
        system="s", version="1", store="db", k=2, behind_gate=0.0, effects=[2], per_racer=1.0,
        trace=race.trace, finding=race,
    )  # fmt: skip
    torn = finding("CV", explanations=[["torn_checkpoint"]], scenario="torn-store")
    (one,) = advice_on(Atlas([entry(torn)], races=[row]), "s")
    assert (one.clause, one.cause) == ("CO-C", "check_then_claim")


def test_the_stores_are_named_where_not_all_are_meant() -> None:
    fork = finding("FI", explanations=[["implicit_fork"]])
    atlas = Atlas(
        [entry(fork), entry(store="other"), entry(fork, version="2"), entry(version="2", store="other")]
    )
    assert "- **FI** with db ([trace](traces/s-1/FI.jsonl.gz)): Resume at the newest" in markdown(atlas)
    atlas = Atlas([entry(fork), entry(version="2")])
    assert "- **FI** with db of 1 ([trace]" in markdown(atlas)
    assert "### s\n\nNothing that was recorded breaks a clause.\n" in markdown(Atlas([entry()]))


def test_the_clauses_of_a_verdict_are_in_the_contract_s_order() -> None:
    breaks = [
        Evidence(c, 9 - n, 1, "x", "p", n != 1) for n, c in enumerate(("LV", "CO-C", "EO", "CO-C", "PC"))
    ]
    found = msgspec.structs.replace(
        finding("EO"), breaks=breaks, explanations=[["check_then_claim"]], unmodelled=[4]
    )
    words = "violates; PC, EO, CO-C, possibly CO-C, LV; through check_then_claim; 1 unmodelled"
    assert found.summary == words


def proof(clause: str, *sinks: str) -> dict[str, Proof]:
    return {clause: Proof("s-1/x.jsonl.gz", "x", sinks[0], 3, 4, "effect_fired", True, 2, list(sinks))}


def with_break(clause: str, *sinks: str, **given: Any) -> str:
    """The page's first row of a system that breaks a clause in traces with these sinks."""
    made = entry(**given)
    made = msgspec.structs.replace(
        made, profile=made.profile | {clause: "breaks"}, proofs=proof(clause, *sinks)
    )
    (row,) = [line for line in markdown(Atlas([made])).splitlines() if line.startswith("| s 1 | [db]")]
    return row


def test_effects_that_go_wrong_without_keys_only_are_told_from_others() -> None:
    broken = "[**breaks**](traces/s-1/x.jsonl.gz) :4"
    assert f"| {broken} (plain sink only) |" in with_break("EO", "plain")
    assert f"| {broken} |" in with_break("EO", "keyed", "plain")
    assert f"| {broken} |" in with_break("CV", "plain")
    unkeyed = {"plain": {"recorded": 0, "window": 2}}
    assert f"| {broken} (plain sink; not recorded with keys) |" in with_break("EO", "plain", effects=unkeyed)


def test_the_sinks_of_what_a_profile_says() -> None:
    for one in read_atlas(ROOT / "results" / "conformance.json").systems:
        assert {c: s for c, s in one.profile.items() if s in ("holds", "breaks")}.keys() == one.proofs.keys()
        for clause, shown in one.proofs.items():
            broken = {f.sink for f in one.recordings for e in f.breaks if e.clause == clause}
            assert shown.sink in shown.sinks
            if one.profile[clause] == "breaks":
                assert set(shown.sinks) <= broken


def test_an_effect_that_is_not_applied_is_a_cause_of_its_own() -> None:
    fork = finding("EO", kind="committed", sink="keyed", scenario="second-answer-at-old-checkpoint")
    again = finding("EO", repeated={"window": 2}, trace="s-1/again.jsonl.gz")
    made = system_entry("langgraph", "sqlite", [fork, again], [])
    assert made.effects == {
        "plain": {"recorded": 0, "window": 2, "not_applied": 0},
        "keyed": {"recorded": 0, "window": 0, "not_applied": 1},
    }
    assert "| 0 | 2 | 0 | 0 | 0 | 1 |\n" in markdown(Atlas([made]))


def test_the_page_says_where_only_keys_were_recorded() -> None:
    said = " Recorded with the keyed sink only: `s`.\n"
    assert markdown(Atlas([entry(effects={"keyed": {"recorded": 0, "window": 0}})])).count(said) == 2
    assert said not in markdown(Atlas([entry()]))


def test_a_race_that_conforms_is_not_said_of_repetitions_that_fire_more() -> None:
    judged = msgspec.structs.replace(finding("EO"), verdict="conforms", breaks=[])
    row = RaceRow(
        system="s", version="1", store="db", k=8, behind_gate=0.0, effects=[1, 7, 2], per_racer=0.417,
        trace="s-1/r.jsonl.gz", finding=judged,
    )  # fmt: skip
    page = markdown(Atlas([entry()], races=[row]))
    assert (
        "| [1, 7, 2](traces/s-1/r.jsonl.gz) | 0.42 | conforms; another repetition fires 7 effects |\n" in page
    )
    assert "| verdict of the linked repetition |\n" in page
    page = markdown(Atlas([entry()], races=[msgspec.structs.replace(row, effects=[1, 1, 1])]))
    assert "| conforms |\n" in page


def test_what_to_do_leads_to_the_system_s_page() -> None:
    page = markdown(read_atlas(ROOT / "results" / "conformance.json"))
    linked = re.findall(r"\]\(\.\./(docs/systems/[^)]*)\)", page)
    assert len(linked) == len({load_system(name).name for name in SYSTEMS} - {"reference"})
    assert all((ROOT / name).is_file() for name in linked)
