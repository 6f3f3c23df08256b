"""May a staff answer be shown to everyone? The preselection of the keeping step, and its reason."""

from datetime import UTC, datetime

import pytest

from memory.lifecycle.share import Details, substance, verdict

NOW = datetime(2026, 3, 3, 15, 0, tzinfo=UTC)  # a Tuesday, 10:00 in New York
ZONE = "America/New_York"


def judge(*parts, title="", **details):
    return verdict(parts, title=title, details=Details(**details), now=NOW, timezone=ZONE)


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


def test_a_greeting_does_not_make_an_answer_shorter_than_it_is():
    assert substance("Hi there! The counter closes at six. Have a nice day!") == [
        "The counter closes at six."
    ]
