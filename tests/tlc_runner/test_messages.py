"""The framed messages of TLC's tool mode."""

from __future__ import annotations

from tlc_runner import Message, MessageParser, Unframed, parse_messages

NESTED = """\
before
@!@!@STARTMSG 1000:1 @!@!@
TLC threw an unexpected exception.
The exception was a tlc2.tool.EvalException
: @!@!@STARTMSG 2132:0 @!@!@
The first argument of Assert evaluated to FALSE; the second argument was:
"x is too large"
@!@!@ENDMSG 2132 @!@!@
@!@!@ENDMSG 1000 @!@!@
after
""".splitlines()


def test_nested_messages_keep_their_place() -> None:
    inner = Message(
        2132, 0, 'The first argument of Assert evaluated to FALSE; the second argument was:\n"x is too large"'
    )
    outer = Message(
        1000,
        1,
        "TLC threw an unexpected exception.\nThe exception was a tlc2.tool.EvalException\n: " + inner.text,
        (inner,),
    )
    assert list(parse_messages(NESTED)) == [Unframed("before"), outer, Unframed("after")]
    assert [message.code for message in outer.walk()] == [1000, 2132]


def test_a_message_is_handed_out_with_its_last_line() -> None:
    parser = MessageParser()
    lines = ["@!@!@STARTMSG 2193:0 @!@!@\n", "Done.\n", "@!@!@ENDMSG 2193 @!@!@\n", "<<1, 2>>\r\n"]
    assert [list(parser.feed(line)) for line in lines] == [
        [],
        [],
        [Message(2193, 0, "Done.")],
        [Unframed("<<1, 2>>")],
    ]
    assert list(parser.close()) == []


def test_frames_within_one_line() -> None:
    line = "printed@!@!@STARTMSG 2217:4 @!@!@1: <Initial predicate>@!@!@ENDMSG 2217 @!@!@more"
    assert list(parse_messages([line])) == [
        Unframed("printed"),
        Message(2217, 4, "1: <Initial predicate>"),
        Unframed("more"),
    ]


def test_output_that_breaks_off() -> None:
    assert list(parse_messages(NESTED[:6])) == [
        Unframed("before"),
        Message(
            1000,
            1,
            "TLC threw an unexpected exception.\nThe exception was a tlc2.tool.EvalException\n: "
            "The first argument of Assert evaluated to FALSE; the second argument was:",
            (
                Message(
                    2132,
                    0,
                    "The first argument of Assert evaluated to FALSE; the second argument was:",
                    complete=False,
                ),
            ),
            complete=False,
        ),
    ]


def test_ends_that_do_not_match() -> None:
    lines = [
        "@!@!@ENDMSG 5 @!@!@",
        "@!@!@STARTMSG 1:0 @!@!@",
        "a",
        "@!@!@STARTMSG 2:3 @!@!@",
        "b",
        "@!@!@ENDMSG 1 @!@!@",
    ]
    assert list(parse_messages(lines)) == [Message(1, 0, "a\nb", (Message(2, 3, "b", complete=False),))]


def test_blank_lines_inside_a_message_stay() -> None:
    lines = ["@!@!@STARTMSG 2116:1 @!@!@", "one", "", "two", "", "@!@!@ENDMSG 2116 @!@!@"]
    assert list(parse_messages(lines)) == [Message(2116, 1, "one\n\ntwo")]
