"""What staff answered for everyone before is a precedent: what reads alike may have it too."""

from dataclasses import replace

import pytest

from chat.llm.base import Answer, Noted, Offer, Recall, Situation, SmallTalk, Topic
from chat.llm.intents import Kind, Reading
from chat.llm.verbatim import decide
from chat.situations import precedent
from memory.types import AnswerFor, Category, Fact, Recalled
from tests.chat.conftest import RINSE
from tests.factories import NOW


def reads(kind, *, personal=0.0, asks=True):
    scores = {kind.value: 0.6, Kind.PERSONAL.value: personal}
    return Reading(kind, "", scores, asks=asks)


def found(way, score):
    return AnswerFor(way, (replace(RINSE, score=score),))


def situation(reading, answer, precedent, **fields):
    return Situation("…", reading, answer=answer, precedent=precedent, **fields)


OWN_CASE = reads(Kind.PERSONAL, personal=0.8)
PLAIN = reads(Kind.QUESTION, personal=0.1)


def test_what_reads_like_her_own_case_goes_to_a_person():
    moves, need = decide(situation(OWN_CASE, found("offer", 0.6), PLAIN))

    assert moves == []
    assert need.detail == "for a person to judge"


@pytest.mark.parametrize("way", ["offer", "deliver"])
def test_unless_staff_answered_for_everyone_what_reads_so_too_and_then_it_is_offered(way):
    moves, need = decide(situation(OWN_CASE, found(way, 0.6), reads(Kind.QUESTION, personal=0.4)))

    assert isinstance(moves[0], Offer)
    assert need is None


@pytest.mark.parametrize(("likely", "to_person"), [(0.2, True), (0.6, False)])
def test_the_surer_the_answer_the_clearer_her_own_case_must_be(likely, to_person):
    hers = reads(Kind.PERSONAL, personal=0.72)
    _, need = decide(situation(hers, found("offer", likely), PLAIN))

    assert (need is not None) is to_person


@pytest.mark.parametrize(
    ("hers", "before", "move"),
    [(0.05, 0.0, Answer), (0.18, 0.0, Offer), (0.18, 0.1, Answer), (0.18, None, Offer)],
)
def test_what_may_be_about_herself_is_offered_unless_what_staff_answered_for_all_reads_so_too(
    hers, before, move
):
    asked, known = (
        x if x is None else Reading(Kind.QUESTION, "", {"question": 0.7, "self": x}, asks=True)
        for x in (hers, before)
    )

    [made], need = decide(situation(asked, found("deliver", 0.8), known))

    assert isinstance(made, move)
    assert need is None


def test_an_answer_that_hardly_reads_personal_is_no_precedent_for_a_clear_case_of_her_own():
    clear = reads(Kind.PERSONAL, personal=0.9)
    moves, need = decide(situation(clear, found("offer", 0.6), reads(Kind.QUESTION, personal=0.4)))

    assert (moves, need.wording) == ([], "personal")


def test_a_confirmed_wording_is_given_whatever_it_reads_like():
    for kind in (Kind.PERSONAL, Kind.STATEMENT, Kind.SMALL_TALK):
        reading = reads(kind, personal=0.8, asks=False)
        moves, need = decide(situation(reading, found("deliver", 1.0), reading))
        assert isinstance(moves[0], Answer), kind
        assert need is None


def test_a_plain_question_gets_the_words_and_what_is_none_an_offer():
    question, _ = decide(situation(PLAIN, found("deliver", 0.7), PLAIN))
    told, _ = decide(situation(reads(Kind.STATEMENT, asks=False), found("deliver", 0.7), PLAIN))

    assert isinstance(question[0], Answer)
    assert isinstance(told[0], Offer)


def test_small_talk_stays_small_talk_beside_a_likely_answer():
    moves, _ = decide(situation(reads(Kind.SMALL_TALK, asks=False), found("offer", 0.86), PLAIN))

    assert isinstance(moves[0], SmallTalk)


def test_her_own_fact_comes_before_a_likely_answer():
    plan = Topic("plan", "Plan")
    fact = Fact(1, 1, "plan", "Plan", Category.CONFIRMED_FACT, "on Acorn", "Acorn", NOW)
    asks_herself = reads(Kind.SELF)
    moves, _ = decide(
        situation(
            asks_herself,
            found("offer", 0.9),
            asks_herself,
            topics=(plan,),
            named=(("plan", 0.8),),
            standing=(fact,),
        )
    )

    assert isinstance(moves[0], Recall)


PLAN = Topic("plan", "Plan", may_ask=True)
ON_ACORN = Fact(1, 1, "plan", "Plan", Category.CONFIRMED_FACT, "on Acorn", "Acorn", NOW)


def hardly_about_oneself(likely, named, *known):
    reading = Reading(Kind.QUESTION, "", {"question": 0.6, "self": likely}, asks=True)
    seen = {"topics": (PLAN,), "named": (("plan", named),), "standing": known}
    return decide(situation(reading, found("offer", 0.6), PLAIN, **seen))


def test_a_question_that_names_what_is_known_of_her_brings_it_back():
    moves, _ = hardly_about_oneself(0.2, 0.5, ON_ACORN)

    assert isinstance(moves[0], Recall)


@pytest.mark.parametrize(("likely", "named"), [(0.02, 0.6), (0.2, 0.3)])
def test_a_question_for_everyone_gets_its_answer_though_a_fact_lies_near(likely, named):
    moves, _ = hardly_about_oneself(likely, named, ON_ACORN)

    assert isinstance(moves[0], Offer)


def test_nobody_is_asked_back_where_it_is_not_clear_that_she_asks_about_herself():
    """Of a topic that is named a person may know: it is offered what is stored, or goes there."""
    unclear = [Reading(Kind.SELF, "", {"self": 0.3}), Reading(Kind.QUESTION, "", {"self": 0.5})]
    for reading in unclear:
        seen = {"topics": (PLAN,), "named": (("plan", 0.6),)}
        moves, need = decide(situation(reading, AnswerFor("gap"), None, **seen))
        assert (moves, need.reason) == ([], "no_answer")


def test_what_recall_finds_first_is_said_where_another_topic_seems_nearer_and_holds_nothing():
    seen = {
        "topics": (PLAN, Topic("phone", "Phone")),
        "named": (("phone", 0.27), ("plan", 0.2)),
        "standing": (ON_ACORN,),
        "recalled": Recalled((ON_ACORN,)),
    }
    moves, _ = decide(situation(reads(Kind.SELF), found("offer", 0.6), PLAIN, **seen))

    assert isinstance(moves[0], Recall)


def test_of_all_wordings_that_got_an_answer_one_that_reads_like_hers_is_a_precedent():
    wordings = (
        "When may I drive again?",
        "I feel dizzy since this morning's sedation, is it normal that I can't drive?",
    )
    near = replace(RINSE, wording=wordings[0], wordings=wordings)
    first = precedent(AnswerFor("offer", (replace(near, wordings=wordings[:1]),)), Kind.PERSONAL)
    both = precedent(AnswerFor("offer", (near,)), Kind.PERSONAL)

    assert first.kind is not Kind.PERSONAL
    assert both.kind is Kind.PERSONAL
    assert both.score(Kind.PERSONAL) > first.score(Kind.PERSONAL)


@pytest.mark.parametrize("kind", [Kind.STATEMENT, Kind.SELF])
def test_where_else_a_person_would_be_called_what_is_not_far_is_offered(kind):
    reading = reads(kind, asks=False)
    known = replace(reading, scores={kind.value: 0.2})  # neither small talk nor clearly told
    plausible, need = decide(situation(known, found("offer", 0.35), PLAIN))
    far, called = decide(situation(known, found("offer", 0.05), PLAIN))

    assert isinstance(plausible[0], Offer)
    assert need is None
    assert far == []
    assert called is not None


def test_what_reads_like_her_own_case_is_given_only_where_it_is_next_to_certain():
    asked = Reading(Kind.PERSONAL, "", {"personal": 0.6}, asks=True)

    [sure], _ = decide(situation(asked, found("deliver", 0.94), asked))
    [certain], _ = decide(situation(asked, found("deliver", 1.0), asked))

    assert isinstance(sure, Offer)
    assert isinstance(certain, Answer)


@pytest.mark.parametrize(
    ("text", "move"), [("gift vouchers abroad", Offer), ("I like it", SmallTalk)]
)
def test_who_names_a_thing_and_nobody_asks_about_it(text, move):
    told = reads(Kind.STATEMENT, asks=False)
    [made], _ = decide(replace(situation(told, found("offer", 0.2), PLAIN), text=text))

    assert isinstance(made, move)


@pytest.mark.parametrize(("score", "moves"), [(1.0, [Noted, Answer]), (0.6, [Noted])])
def test_what_was_confirmed_is_given_beside_what_is_noted(score, moves):
    told = {"topic": "day", "quote": "Thursday", "category": "confirmed_fact"}
    wish = reads(Kind.REQUEST, asks=False)

    made, _ = decide(situation(wish, found("deliver", score), wish, told=(told,)))

    assert [type(m) for m in made] == moves
