"""Of whom something is known and something is left is found by two tables, as by a look at everybody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trace_check.prospects import _Owed, _Windows

COUNT = 7
SETS = st.integers(0, 2**COUNT - 1)


@given(st.lists(st.tuples(SETS, SETS), max_size=5), st.integers(0, 2 ** (COUNT + 1) - 1))
def test_nobody_of_whom_something_is_left_is_missed(masks: list[tuple[int, int]], done: int) -> None:
    actors = [_Owed(k, loads=loads, shown=shown) for k, (loads, shown) in enumerate(masks)]
    found = _Windows(actors, COUNT).open_at(done)
    wanted = [one for one in actors if not one.loads & ~done and one.shown & ~done]
    assert [one for one in found if one in wanted] == wanted
    # who has shown all before the first that is left, or waits for a load behind the last, is not looked at
    last, first_left = done.bit_length(), (~done & done + 1).bit_length()
    for one in found:
        assert one.loads.bit_length() <= last
        assert one.shown.bit_length() >= first_left
