"""May a staff answer be shown to everyone? The preselection of the keeping step, and its reason."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.lifecycle.share import Details, safe_title, substance, verdict
from memory.llm.embeddings import embed_here
from memory.speech import hers

NOW = datetime(2026, 3, 3, 15, 0, tzinfo=UTC)  # a Tuesday, 10:00 in New York
ZONE = "America/New_York"


def judge(*parts, title="", asked="", told_of_her=None, **details):
    return verdict(
        parts,
        title=title,
        details=Details(**details),
        now=NOW,
        timezone=ZONE,
        asked=asked,
        told_of_her=told_of_her,
    )


@pytest.mark.parametrize(
    "words",
    [
        "Parking behind the building is free for two hours.",
        "Bring your receipt and the parcel to any counter; you get your money back the same day.",
        "If your parcel has not come after five working days, call us on 555-010-0199.",
        "Once your card has expired, order a new one in the app. It takes about a week.",
        "We close at six on Fridays, because the cleaners come in early.",
    ],
)
def test_everyone_may_see_what_stands_alone(words):
    shared = judge(words)

    assert shared.choice == "everyone"
    assert not shared.pending
    assert shared.valid_until is None


@pytest.mark.parametrize(
    "words",
    [
        "Yes.",
        "No, sorry!",
        "One moment please, let me look that up.",
        "Hi, Kim here, give me a second.",
        "You're welcome, have a nice day!",
        "Thanks, I'll send it to you tomorrow morning.",
        "Which colour would you like?",
        "It came back yesterday. Has your address changed?",
        "Five to nine.",
        "Hello, you're speaking with Farah from the returns team.",
        "Looking into it now, give me two minutes.",
        "Dan from the repairs team. Reading back, hang tight.",
        "I'm handing you over to Liam at the counter, one moment.",
        "I understand how annoying that must be. Apologies for the trouble.",
        "That's strange, I don't see it here. Let me dig a bit.",
        "Welcome to the chat, my name is Bea and I'll help you today.",
    ],
)
def test_fillers_bare_words_and_questions_back_are_never_kept(words):
    assert judge(words).choice == "none"


@pytest.mark.parametrize(
    "words",
    [
        "Your remaining balance is $184.50 and the parcel comes on May 6.",
        "We've moved your appointment to March 17 so that there is time.",
        "Hello Marisol, the blue one in your size is back in the shop now.",
        "Your order 4711-0815 has left our warehouse this morning.",
        "I have looked at the picture and the crack in your frame is an old one.",
        "You're second on the list for the red bicycle, after one other person.",
        "The bicycle is ready for you at the counter since this noon.",
    ],
)
def test_what_tells_of_her_is_for_her_alone(words):
    shared = judge(words)

    assert shared.choice == "customer"
    assert shared.touches


def test_a_number_that_she_gave_is_hers():
    words = "The parcel with 88-213-7 is kept at the depot in the harbour for a week."

    assert judge(words, said=("my number is 88-213-7",)).choice == "customer"


def test_a_number_of_a_case_is_no_telephone_number():
    words = "Please call the desk about order 48213 and they will send it again the same day."

    shared = judge(words)

    assert shared.choice != "everyone" or shared.pending


def test_her_name_is_hers_even_in_the_title():
    words = "Any of our shops takes parcels back within thirty days, with or without a box."

    assert judge(words, title="May Winifred bring it back?", names=("Winifred",)).touches


def test_a_sensitive_fact_of_hers_is_hers():
    words = "With epilepsy it is better to come in the morning, when the lights are off."

    assert judge(words, facts=tuple(Details.telling("epilepsy", sensitive=True))).touches


@pytest.mark.parametrize(
    "words",
    [
        "That is no problem at all, we do it every day of the week.",
        "Yes, it works with every phone that is younger than six years.",
        "As I said, the counter on the left is the one for parcels and letters.",
    ],
)
def test_what_leans_on_the_words_before_waits_for_a_person(words):
    assert judge(words).pending


@pytest.mark.parametrize(
    ("words", "until"),
    [
        ("We are closed today because of the storm, all counters of ours.", "2026-03-04"),
        ("The lift is out of order until Friday, please use the ramp outside.", "2026-03-06"),
        ("Tomorrow we are open from noon on, the morning is for stocktaking.", "2026-03-05"),
        ("Shipping is free through Sunday for all orders, large and small.", "2026-03-09"),
    ],
)
def test_what_is_bound_to_now_gets_its_end_from_its_words(words, until):
    shared = judge(words)

    assert shared.choice == "everyone"
    assert f"{shared.valid_until:%Y-%m-%d %H:%M}" == f"{until} 00:00"


def test_what_has_no_end_in_its_words_waits_for_one():
    assert judge("We have no bicycles for children in the shop at the moment.").pending


@pytest.mark.parametrize(
    ("words", "everyone"),
    [
        ("Your own one is ready on Tuesday, come when you like.", False),
        ("Your bike will be ready on the 14th, come when you like.", False),
        ("Your money is back within a week. We are closed on Monday.", True),
        ("Your refund is booked back to the card you paid with.", True),
    ],
)
def test_what_reads_like_a_rule_is_hers_where_it_has_a_day_of_its_own(words, everyone):
    shared = judge(words, title="When is it ready?", told_of_her=lambda *_: 0.05)

    assert (shared.choice == "everyone") is everyone


def test_a_greeting_does_not_make_an_answer_shorter_than_it_is():
    assert substance("Hi there! The counter closes at six. Have a nice day!") == [
        "The counter closes at six."
    ]


class TestWithTheClassifier:
    """What the rules leave open is judged by how answers to one and to all differ."""

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            (
                "is the coat finished?",
                "It's pressed and hanging on the rail at the back since ten.",
            ),
            ("why did I get a fine", "The atlas was four days late, so 80 pence was added."),
            ("any news from the maker?", "He rang back and wants another picture of the hinge."),
            ("can it be later on thursday", "Thursday until 6 is fine, the diary says so now."),
            ("what's left to pay", "£212, and the deposit of £80 came in on Monday."),
        ],
    )
    def test_words_without_you_that_answer_one_case_are_for_her_alone(self, asked, words):
        assert told(asked, words).choice == "customer"

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            ("how do i look after it", "Rub your boots with wax and dry them away from the stove."),
            ("can we use our own router", "Yes, since 1 March you can use any router you like."),
            ("how are we paid back", "Refunds reach your card within five days of our getting it."),
            ("what if i'm ill", "You get a new date for free if you ring before nine that day."),
            ("how much is a hem", "It's £14 a pair, or £18 if you want to keep the original hem."),
        ],
    )
    def test_your_and_you_said_of_anybody_are_for_everyone(self, asked, words):
        shared = told(asked, words)

        assert (shared.choice, shared.pending) == ("everyone", False)

    def test_a_rule_has_the_last_word_on_what_is_hers(self):
        words = "Any shop takes parcels like 88-213-7 back within thirty days, if you ask."

        assert judge(words, said=("mine is 88-213-7",), told_of_her=surely_not).touches

    def test_what_may_be_hers_waits_for_a_person(self):
        shared = judge("The counter in the hall has them on a shelf.", told_of_her=lambda *_: 0.45)

        assert (shared.choice, shared.pending) == ("everyone", True)

    def test_no_private_answer_of_our_examples_is_shown_to_everyone(self):
        kept = [told(e["question"], e["answer"]) for e in examples("customer")]
        leaked = [k for k in kept if k.choice == "everyone" and not k.pending]

        assert len(kept) > 150
        assert len(leaked) <= 0.02 * len(kept)

    def test_most_general_answers_of_our_examples_are_kept_for_everyone(self):
        kept = [told(e["question"], e["answer"]) for e in examples("everyone")]

        assert sum(k.choice == "everyone" and not k.pending for k in kept) > 0.9 * len(kept)


def test_a_title_that_others_see_holds_none_of_her_details():
    asked = "Winifred Ott here, 4711-0815 is late. How long do you keep parcels?"
    details = Details(said=(asked,))

    assert safe_title(asked, ["A week."], details=details) == "How long do you keep parcels?"
    asked = "what about parcel 4711-0815?"
    assert safe_title(asked, ["We keep each for a week."], details=details) == (
        "We keep each for a week."
    )


def test_the_names_of_hers_are_hers():
    said = ("Winifred Ott here, my dog Biscuit ate a sock",)

    assert judge("Biscuit may eat again after twelve hours, but only rice.", said=said).touches


def surely_not(answer, asked):
    return 0.0


def told(asked, words):
    return judge(
        words,
        title=asked,
        asked=asked,
        said=(asked,),
        told_of_her=lambda answer, question: hers.chance(answer, question, embed=embed_here),
    )


def examples(share):
    lines = (Path(hers.__file__).parents[1] / "training" / "staff_answers.jsonl").read_text("utf-8")
    return [e for e in map(json.loads, lines.splitlines()) if e["share"] == share]


@pytest.mark.parametrize(
    "words",
    [
        "Got it, thank you. Give it five minutes and refresh.",
        "Thank you, I have corrected that. It will show on the next invoice.",
        "That's it then, thanks. Please try again in five minutes.",
    ],
)
def test_taking_note_of_what_she_told_answers_nothing(words):
    assert judge(words, asked="we moved to the bigger plan in May").choice == "none"


def test_thanks_before_an_answer_do_not_keep_it_from_others():
    words = (
        "Thanks for telling us! The import wants a header row, so save the sheet with column "
        "names in the first line and send it once more."
    )

    assert judge(words, asked="my import fails on the first row").choice == "everyone"


def test_an_error_code_that_she_names_is_none_of_her_details():
    words = "E-4012 means that the browser blocks cookies. Allow them for our address."

    assert judge(words, asked="error E-4012", said=["I get error E-4012"]).choice == "everyone"
    assert judge(words, asked="E-4012?", said=["order E-4012 is late"]).choice == "customer"


def test_a_number_made_up_as_an_example_is_nobodys():
    words = "The number stands in the subject of the mail: letters and digits, such as AB1234567."

    assert judge(words, asked="where is the number?").choice == "everyone"


def test_a_list_of_steps_reads_as_meant_for_anybody():
    steps = "If the red lamp comes on:\n1) Stop the engine.\n2) Wait a while.\n3) Check the level."

    assert not judge(steps, asked="red lamp?", told_of_her=lambda said, asked: 0.65).pending
    assert (
        judge(steps, asked="red lamp?", told_of_her=lambda said, asked: 0.97).choice == "customer"
    )
