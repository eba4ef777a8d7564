"""Values: everything printed is read back, nothing else is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tlc_runner import (
    FrozenMap,
    ModelValue,
    Opaque,
    Value,
    ValueSyntaxError,
    format_value,
    from_json,
    function,
    parse_state,
    parse_value,
    to_json,
)

P1, P2 = ModelValue("p1"), ModelValue("p2")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-17", -17),
        ("TRUE", True),
        ("FALSE", False),
        ('"a b"', "a b"),
        (r'"q\"uo\\te\ttab\nline"', 'q"uo\\te\ttab\nline'),
        ("p1", P1),
        ("1a", ModelValue("1a")),
        ("TRUEish", ModelValue("TRUEish")),
        ("<<>>", ()),
        ("<< >>", ()),
        ("{}", frozenset()),
        ('<<1, "two", {3}>>', (1, "two", frozenset({3}))),
        ("1..3", frozenset({1, 2, 3})),
        ("-1..1", frozenset({-1, 0, 1})),
        ("3..2", frozenset()),
        ("{1..2, {}}", frozenset({frozenset({1, 2}), frozenset()})),
        ("[a |-> 1, b |-> <<2>>]", FrozenMap({"a": 1, "b": (2,)})),
        ("(p1 :> 1 @@ p2 :> 2)", FrozenMap({P1: 1, P2: 2})),
        ('("a" :> 1)', FrozenMap({"a": 1})),
        ("(1 :> 5 @@ 2 :> 6)", (5, 6)),
        ("(2 :> 6 @@ 1 :> 5)", (5, 6)),
        ("(2 :> 6)", FrozenMap({2: 6})),
        ("(0 :> 4 @@ 1 :> 5)", FrozenMap({0: 4, 1: 5})),
        ("(1 :> 5 @@ 1 :> 6)", (5,)),
        ("( p1 :>\n      [ owner |-> p1,\n        seen |-> {} ] @@\n  p2 :> 3 )",
         FrozenMap({P1: FrozenMap({"owner": P1, "seen": frozenset()}), P2: 3})),
        ("((((4))))", 4),
    ],
)  # fmt: skip
def test_reads(text: str, value: Value) -> None:
    read = parse_value(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1"),
        ("1 2", "line 1, column 3"),
        ("<<1", "line 1, column 3"),
        ("{1,}", "line 1, column 4"),
        ("[a |-> ]", "line 1, column 8"),
        ("<<1,\n @>>", "line 2, column 2"),
        ('"open', "line 1, column 1"),
        ("SUBSET {1}", "line 1, column 8"),
    ],
)
def test_refuses(text: str, place: str) -> None:
    with pytest.raises(ValueSyntaxError, match=place) as caught:
        parse_value(text)
    assert "\n" not in str(caught.value)


def test_prints_in_one_order() -> None:
    assert format_value(frozenset({3, 1, 2})) == "{1, 2, 3}"
    assert format_value(FrozenMap({"b": True, "a": P1})) == "[a |-> p1, b |-> TRUE]"
    assert format_value(FrozenMap({P2: (), P1: frozenset()})) == "(p1 :> {} @@ p2 :> <<>>)"
    assert format_value(FrozenMap({"a b": 1})) == '("a b" :> 1)'
    assert format_value('say "hi"\n') == r'"say \"hi\"\n"'


def test_refuses_what_is_no_value() -> None:
    with pytest.raises(TypeError, match=r"3\.5 is a float"):
        format_value((1, 3.5))  # type: ignore[arg-type]


def test_a_sequence_has_one_form() -> None:
    assert function({2: "b", 1: "a"}) == ("a", "b")
    assert function({}) == ()
    assert function({True: 1}) == FrozenMap({True: 1})
    for domain in ({}, {1: "a"}, {1: "a", 2: "b"}):
        with pytest.raises(ValueError, match="build it with function"):
            FrozenMap(domain)


def test_a_map_is_a_value() -> None:
    record = FrozenMap({"a": 1, "b": 2})
    assert record == FrozenMap([("b", 2), ("a", 1)])
    assert hash(record) == hash(FrozenMap([("b", 2), ("a", 1)]))
    assert record == {"a": 1, "b": 2}
    assert record != FrozenMap({"a": 1})
    assert (record["b"], len(record), set(record)) == (2, 2, {"a", "b"})
    assert record.is_record
    assert not FrozenMap({P1: 1}).is_record
    assert repr(FrozenMap({P1: 1})) == "FrozenMap({ModelValue('p1'): 1})"


def test_states() -> None:
    assert parse_state("x = 0\n") == {"x": 0}
    assert parse_state('/\\ x = <<1,\n  2>>\n/\\ y = "/\\\\ z = 3"\n') == {"x": (1, 2), "y": "/\\ z = 3"}
    assert parse_state("/\\ x = Nat \\ {0}\n/\\ y = 1") == {"x": Opaque("Nat \\ {0}"), "y": 1}
    with pytest.raises(ValueSyntaxError, match="not a TLC state"):
        parse_state("nothing")


def _same(left: Any, right: Any) -> bool:
    """Equality that tells TRUE from 1, which Python does not."""
    return type(left) is type(right) and left == right and format_value(left) == format_value(right)


_names = st.from_regex(r"[a-z0-9_]{0,3}[a-zA-Z][A-Za-z0-9_]{0,5}", fullmatch=True)
_leaves: st.SearchStrategy[Value] = st.one_of(
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.text(max_size=8),
    _names.filter(lambda name: name not in {"TRUE", "FALSE"}).map(ModelValue),
)


def _compound(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    few = st.lists(inner, max_size=4)
    return st.one_of(
        few.map(tuple),
        few.map(frozenset),
        st.dictionaries(st.one_of(_names, st.text(max_size=4)), inner, max_size=4).map(function),
        st.dictionaries(inner, inner, max_size=4).map(function),
    )


values = st.recursive(_leaves, _compound, max_leaves=12)


@given(values)
def test_everything_printed_is_read_back(value: Value) -> None:
    assert _same(parse_value(format_value(value)), value)


@given(values)
def test_everything_survives_json(value: Value) -> None:
    assert _same(from_json(to_json(value)), value)


@given(values, values)
def test_equal_values_have_equal_texts(left: Value, right: Value) -> None:
    if _same(left, right):
        assert format_value(left) == format_value(right)
    elif left != right:
        assert format_value(left) != format_value(right)


@given(st.text(alphabet='<>{}[]()|-:@,."\\ \n1aT', max_size=12))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    complaint = None
    try:
        value = parse_value(text)
    except ValueSyntaxError as error:
        complaint = str(error)
    if complaint is None:
        assert _same(parse_value(format_value(value)), value)
    else:
        assert complaint.startswith("not a TLA+ value at line ")
        assert "\n" not in complaint


def test_json_forms() -> None:
    assert to_json(FrozenMap({"a": frozenset({2, 1}), "b": (P1, True)})) == {
        "record": {"a": {"set": [1, 2]}, "b": [{"model": "p1"}, True]}
    }
    assert to_json(FrozenMap({P1: 1})) == {"function": [[{"model": "p1"}, 1]]}
    assert from_json({"text": "Nat"}) == Opaque("Nat")
    for wrong in (1.5, None, {"set": 3}, {"odd": 1}, {"set": [], "model": "p"}):
        with pytest.raises(ValueSyntaxError, match="not the JSON form"):
            from_json(wrong)
