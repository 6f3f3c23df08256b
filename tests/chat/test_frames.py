from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat import frames
from chat.frames import BadFrame, Choose, Hello, Person, Rate, Say


def test_reads_what_a_tab_sends():
    assert frames.parse({"type": "hello", "token": "t", "after": 3}) == Hello("t", 3)
    assert frames.parse({"type": "say", "client_id": "a", "text": "hi"}) == Say("a", "hi")
    choose = {"type": "choose", "client_id": "a", "offer_seq": 4, "choice": "12"}
    assert frames.parse(choose) == Choose("a", 4, "12")
    assert frames.parse({"type": "person", "client_id": "a"}) == Person("a")
    assert frames.parse({"type": "rate", "client_id": "a", "score": -1}) == Rate("a", -1)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("hello", "bad_frame"),
        (None, "bad_frame"),
        ({}, "bad_frame"),
        ({"type": "shout"}, "bad_frame"),
        ({"type": ["say"]}, "bad_frame"),
        ({"type": "say", "text": "hi"}, "bad_frame"),
        ({"type": "say", "client_id": "", "text": "hi"}, "bad_frame"),
        ({"type": "say", "client_id": "x" * 65, "text": "hi"}, "bad_frame"),
        ({"type": "say", "client_id": "a\n", "text": "hi"}, "bad_frame"),
        ({"type": "say", "client_id": "a"}, "bad_frame"),
        ({"type": "say", "client_id": "a", "text": "  \n"}, "empty"),
        ({"type": "say", "client_id": "a", "text": "a\x00b"}, "nul"),
        ({"type": "say", "client_id": "a", "text": "half \ud83d"}, "broken"),
        ({"type": "say", "client_id": "a", "text": "x" * 10_001}, "too_long"),
        ({"type": "choose", "client_id": "a", "offer_seq": 1, "choice": "all"}, "bad_choice"),
        ({"type": "choose", "client_id": "a", "offer_seq": -1, "choice": "1"}, "bad_frame"),
        ({"type": "choose", "client_id": "a", "offer_seq": True, "choice": "1"}, "bad_frame"),
        ({"type": "rate", "client_id": "a", "score": 5}, "bad_score"),
        ({"type": "rate", "client_id": "a", "score": True}, "bad_score"),
        ({"type": "rate", "client_id": "a", "score": 1.0}, "bad_score"),
        ({"type": "hello", "token": "half \ud83d"}, "bad_frame"),
        ({"type": "email", "client_id": "a", "address": "nobody"}, "bad_email"),
        ({"type": "email", "client_id": "a", "address": "a@b.de, c@d.de"}, "bad_email"),
        ({"type": "email", "client_id": "a", "address": "a@b.de\nBcc: c@d.de"}, "bad_email"),
        ({"type": "hello", "after": "soon"}, "bad_frame"),
    ],
)
def test_refuses_the_rest_with_a_code_and_words(sent, code):
    with pytest.raises(BadFrame) as refused:
        frames.parse(sent)

    assert refused.value.code == code
    assert str(refused.value).endswith((".", "?"))


HOSTILE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(), max_size=8)
)
FIELDS = ("client_id", "text", "score", "words", "choice", "offer_seq", "token", "after")
FRAMES = st.fixed_dictionaries(
    {"type": st.sampled_from(["hello", "say", "choose", "person", "end", "rate", "email"])},
    optional={f: HOSTILE | st.just("1") for f in (*FIELDS, "conversation", "address")},
)


@given(FRAMES)
def test_whatever_comes_is_a_frame_or_a_refusal_and_can_be_stored(sent):
    try:
        frame = frames.parse(sent)
    except BadFrame:
        return
    assert "\x00" not in repr(frame)
    repr(frame).encode()


def test_says_which_message_was_too_long_and_by_how_much():
    with pytest.raises(BadFrame) as refused:
        frames.parse({"type": "say", "client_id": "c7", "text": "x" * 10_001})

    sent = frames.error(refused.value)
    assert sent["client_id"] == "c7"
    assert "10,001" in sent["text"]


@pytest.mark.parametrize(
    "text",
    [
        "  leading and trailing  ",
        "👩‍👩‍👧‍👦 🏳️‍🌈",
        "e\u0301 is not é",
        "\u202eright to left\u202c שלום",
        "tab\tand\u00a0no-break",
        "x" * 10_000,
        "<script>alert(1)</script>",
        "\ufeffbom",
    ],
)
def test_changes_nothing_but_line_ends(text):
    assert frames.clean(text) == text


def test_makes_every_line_end_one():
    assert frames.clean("a\r\nb\rc\nd\n\r\n") == "a\nb\nc\nd\n\n"


@dataclass
class Stored:
    seq: int = 3
    kind: str = "answer"
    sender: str = "bot"
    text: str = "words"
    created_at: datetime = datetime(2026, 3, 2, tzinfo=UTC)
    role: str = ""
    author_name: str = "Sam"
    client_id: str | None = "mine"
    meta: dict = field(default_factory=lambda: {"author": "Sam", "role": "hygienist"})


def test_a_row_names_nobody_unless_the_business_wants_it():
    shown = frames.row(Stored(), names=False)

    assert "Sam" not in str(shown)
    assert shown["meta"]["role"] == "hygienist"
    assert frames.row(Stored(), names=True)["meta"]["author"] == "Sam"


def test_a_row_of_the_customers_own_carries_its_number():
    assert frames.row(Stored(), names=False)["client_id"] == "mine"
    assert "client_id" not in frames.row(Stored(), names=False, own=False)
