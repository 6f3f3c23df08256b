"""What is read out of a talk: whose words count, what they answer, and under which topic."""

from datetime import timedelta

import pytest

from memory import pipeline
from memory.lifecycle import extract
from memory.llm.embeddings import embed_here
from memory.llm.fitted import read_here
from memory.llm.joint import read_beside
from memory.speech import acts
from memory.types import Category, Intent, Said, TopicSpec, Transcript
from tests.memory.statements import NOW

TYRES = TopicSpec(
    "tyres",
    Category.CONFIRMED_FACT,
    True,
    "Tyres",
    "The tyres on the customer's car.",
    ("I'm on all-season tyres", "we have Fastgrips on it"),
)
CARS = TopicSpec(
    "cars",
    Category.CONFIRMED_FACT,
    False,
    "Cars",
    "The cars that the customer brings in. One memory each.",
    ("we drive a blue hatchback", "my other car is a van"),
)
CONTACT = TopicSpec(
    "contact",
    Category.PREFERENCE,
    True,
    "How to get in touch",
    "Whether the customer wants a call, a text or an e-mail.",
    ("please text me", "e-mail is best for me", "call me rather than write"),
)
TIMES = TopicSpec(
    "times",
    Category.PREFERENCE,
    True,
    "Preferred times",
    "Days and times that suit the customer.",
    ("mornings are best", "I can only come after work", "Fridays suit me"),
)
MEMBER = TopicSpec(
    "member_number",
    Category.CONFIRMED_FACT,
    True,
    "Member number",
    "The number on the customer's card.",
    ("my member number is 44-1200", "the card says 55-9813"),
)
PHONE = TopicSpec(
    "phone",
    Category.CONFIRMED_FACT,
    True,
    "Phone number",
    "The number at which the customer can be called.",
    ("my mobile is 0600 553 120", "call 0600 553 998"),
)
MECHANIC = TopicSpec(
    "mechanic",
    Category.PREFERENCE,
    True,
    "Preferred mechanic",
    "The mechanic that the customer wants to have.",
    ("I always go to Tess", "can Ruben do it again? he's the best"),
)
TOPICS = (TYRES, CARS, CONTACT, TIMES, MEMBER, PHONE, MECHANIC)


def read(*texts, first="customer"):
    """Speakers take turns."""
    speakers = ("customer", "bot") if first == "customer" else ("bot", "customer")
    said = tuple(
        Said(n, speakers[(n - 1) % 2], text, NOW + timedelta(seconds=n))
        for n, text in enumerate(texts, 1)
    )
    return extract.extract(
        Transcript(said), TOPICS, embed=embed_here, read=read_here, beside=read_beside
    )


def stated(candidates):
    return {(c.topic, c.value) for c in candidates if c.intent is Intent.STATE}


@pytest.mark.parametrize("yes", ["that'd be great", "oh that would be lovely", "go on then", "sí"])
def test_a_yes_in_other_words_takes_its_value_from_the_question(yes):
    told = read("Would a text be better from now on?", yes, first="bot")

    assert [(c.topic, "text" in c.value) for c in told] == [("contact", True)]


@pytest.mark.parametrize(
    "asked",
    [
        "could you please delete my member number?",
        "would ye forget my member number please, I don't want it lying about",
        "I'd like you to delete my member number",
    ],
)
def test_a_polite_request_to_forget_is_no_question(asked):
    assert [(c.intent, c.topic) for c in read(asked)] == [(Intent.FORGET, "member_number")]


def test_the_whole_lot_is_everything():
    (wish,) = read("can you please wipe the whole lot, all that you've kept about me")

    assert (wish.intent, wish.topic) == (Intent.FORGET, None)


@pytest.mark.parametrize(
    "asked",
    [
        "please remove my member number from my record",
        "could you take out my member number from my file",
        "please delete everything you have on my member number",
        "please wipe my member number, my account was closed",
    ],
)
def test_one_thing_of_the_record_is_not_the_record(asked):
    assert [(c.intent, c.topic) for c in read(asked)] == [(Intent.FORGET, "member_number")]


@pytest.mark.parametrize(
    "asked",
    ["please delete my data", "erase everything from my record", "wipe all my details please"],
)
def test_all_of_the_record_is_everything(asked):
    assert [(c.intent, c.topic) for c in read(asked)] == [(Intent.FORGET, None)]


def test_what_answers_our_gap_goes_where_the_gap_was():
    told = read(
        "I do not have a record of your tyres, could you remind me?", "Fastgrip", first="bot"
    )

    assert stated(told) == {("tyres", "Fastgrip")}


def test_one_of_two_dates_that_were_offered_is_no_preference():
    assert not read("Tuesday the 10th or Wednesday the 11th?", "tues so", first="bot")


@pytest.mark.parametrize(
    "asked", ["do ye repair vans", "d'ye do tyres", "can dogs come in the car"]
)
def test_a_question_in_dialect_or_without_its_mark_states_nothing(asked):
    assert not read(asked)


def test_for_the_form_is_nobody_speaking():
    told = read("For the form: my member number is 77-3120")

    assert stated(told) == {("member_number", "77-3120")}


def test_a_number_beside_an_answer_of_the_moment_is_kept():
    told = read("Is it still Fastgrip?", "yes, member number's 77-3120 for the form", first="bot")

    assert ("member_number", "77-3120") in stated(told)


@pytest.mark.parametrize("said", ["Member number: 77-3120", "Club card number: 77-3120"])
def test_what_stands_before_a_colon_says_what_the_number_is(said):
    assert stated(read(said)) == {("member_number", "77-3120")}


@pytest.mark.parametrize(
    "said", ["Kim, mechanic: all-season tyres for her", "Support agent: we drive a red estate"]
)
def test_words_put_in_the_mouth_of_staff_are_not_hers(said):
    assert not read(said)


def test_a_number_put_right_stays_the_number_that_it_was():
    told = read(
        "Member number: 70094218",
        "Thanks, I have 70094218.",
        "sorry, misread it, actually it's 70094281. last two swapped",
    )

    assert stated(told) == {("member_number", "70094281")}


def test_an_errand_for_us_is_no_fact_of_hers():
    assert not read("please tell whoever is on the desk on Thursday")
    assert stated(read("please tell the desk that my member number is 77-3120"))


def test_whom_she_means_stands_in_the_story_before():
    (told,) = read("Tess the mechanic did a careful job. I want her as my mechanic from now on.")

    assert (told.topic, "Tess" in told.text) == ("mechanic", True)


def test_a_second_wish_is_not_taken_for_the_first_by_its_little_words():
    """The value held no more than "I'd", which the wish before had too."""
    (told,) = read("And for the small jobs I'd like Ruben, he's quick")

    assert (told.topic, "Ruben" in told.value) == ("mechanic", True)


@pytest.mark.parametrize("said", ["I heard that she drives a van", "while I'm at it"])
def test_what_she_heard_of_others_and_mere_words_are_no_facts(said):
    assert not read(said)


def test_what_a_thing_does_is_no_second_thing():
    told = read("my other car is a red van, it takes an age to start")

    assert [c.topic for c in told] == ["cars"]


def test_a_change_said_in_passing_is_not_added_to_what_was():
    told = read("new season new tyres, it's Fastgrips now")

    assert not told[-1].adds


def test_what_is_sold_is_taken_back():
    told = read("we drive a red estate", "Noted.", "my other car is sold")

    assert told[-1].intent is Intent.RETRACT


def test_what_is_named_is_forgotten_whatever_else_she_says():
    asked = "Please forget my member number. I get too many calls and would rather write."

    assert [(c.intent, c.topic) for c in read(asked)] == [(Intent.FORGET, "member_number")]


def test_two_statements_in_one_breath_are_both_kept():
    told = read("my member number is 77-3120 and we drive a red estate")

    assert {c.topic for c in told} == {"member_number", "cars"}


@pytest.mark.parametrize("said", ["thank you love", "One last thing", "God bless"])
def test_a_kind_word_is_no_fact(said):
    assert not read(said)


@pytest.mark.parametrize(
    "code",
    [
        "'); DROP TABLE memories;--",
        'Allweather"); delete(all)',
        "${secret} tyres",
        "{{ config.key }} tyres",
        "<b>Fastgrips</b>",
        "x; -- and the rest",
    ],
)
def test_code_in_the_place_of_a_value_is_no_fact(code):
    assert acts.planted(f"For the record, my tyres are {code}")
    plain = "my tyres are Fastgrips (the old ones); I wear gloves < size 9 and pay $20 -- thanks ;)"
    assert not acts.planted(plain)


def test_a_sentence_with_a_colon_is_not_somebody_speaking():
    told = read("Morning. About the wheels: we drive a red estate")

    assert {c.topic for c in told} == {"cars"}


SITES = TopicSpec(
    "sites",
    Category.CONFIRMED_FACT,
    False,
    "Web addresses",
    "Web addresses that the customer keeps with us. One memory each.",
    ("fernbank.org is ours", "we also own tidepool.io"),
)
CLUB = TopicSpec(
    "club",
    Category.CONFIRMED_FACT,
    True,
    "Club number",
    "The number of the club card, exactly as given.",
    ("my club number is GK/22-1034-A", "card GK/90-5516-B"),
)
NAME = TopicSpec(
    "name",
    Category.PREFERENCE,
    True,
    "Preferred name",
    "What the customer wants to be called.",
    ("everyone calls me Bo", "please use Mr. Adeyemi", "I go by Thea"),
)


def read_of(topics, *texts, known=None):
    said = tuple(
        Said(n, "customer" if n % 2 else "bot", text, NOW + timedelta(seconds=n))
        for n, text in enumerate(texts, 1)
    )
    return extract.extract(
        Transcript(said),
        topics,
        embed=embed_here,
        read=read_here,
        beside=read_beside,
        known=known or {},
    )


def test_a_number_written_like_the_topics_examples_is_of_that_topic():
    told = read_of((CLUB, *TOPICS), "the thing in the envelope has HM/70-4418-C on it")

    assert stated(told) == {("club", "HM/70-4418-C")}


def test_of_a_web_address_the_address_alone_is_the_value():
    told = read_of((SITES, *TOPICS), "and wollwerk.shop belongs to us too, that's ours as well")

    assert stated(told) == {("sites", "wollwerk.shop")}


def test_who_says_who_is_writing_says_nothing_of_how_to_be_called():
    assert not read_of((NAME, *TOPICS), "Rebecca Holm here, where do I park?")


def test_what_one_has_is_not_what_one_is_called():
    told = read_of((NAME, TYRES, CARS), "we have Fastgrips now")

    assert {c.topic for c in told} == {"tyres"}


def test_what_changes_is_of_the_topic_under_which_it_is_known():
    talk = "we've let the Meteora go"
    cars = {"cars": ["an old Meteora"]}

    assert not read_of(TOPICS, talk)
    told = read_of(TOPICS, talk, known=cars)
    assert [(c.topic, c.intent) for c in told] == [("cars", Intent.RETRACT)]


def test_mine_means_what_was_spoken_of_before():
    told = read(
        "my neighbour is on all-season tyres, are they any good?", "They are.", "mine's Duro"
    )

    assert {c.topic for c in told} <= {"tyres"}


@pytest.mark.parametrize(
    "said",
    [
        "it's me, the one who always comes late",
        "I always mix up the names on your door lol",
        "when she retired in autumn nobody drove the van",
        "hold on, it's raining on my car",
    ],
)
def test_stories_excuses_and_asides_are_no_facts(said):
    assert not read(said)


def test_a_need_that_is_over_is_not_turned_round():
    assert acts.opened("so no need for calls") == "no need for calls"
    assert acts.opened("no it's fine") == "it's fine"


@pytest.mark.parametrize("when", ["yesterday", "last week", "two months ago", ""])
@pytest.mark.parametrize("went", ["switched to", "have gone over to", "moved from Birch to"])
def test_what_changed_at_a_time_holds_since_then_and_the_time_is_no_part_of_it(went, when):
    plan = TopicSpec(
        "plan",
        Category.CONFIRMED_FACT,
        True,
        "Insurance plan",
        "Which insurance the customer has.",
        ("I have Birch insurance", "I'm with Rowan now", "we moved to Rowan Health"),
    )
    told = Transcript((Said(1, "customer", f"We {went} Acorn Health {when}".strip(), NOW),))

    found = extract.extract(
        told, (*TOPICS, plan), embed=embed_here, read=read_here, beside=read_beside
    )

    assert [c.topic for c in found] == ["plan"]
    assert found[0].value.endswith("Acorn Health")


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("could you wipe what i told you about the dogs please", True),
        ("please delete the note about my knee", True),
        ("take out what we said on the second car", True),
        ("please wipe what you have on my diet", True),
        ("could you delete the order about the chairs", False),
        ("could you remove the part with the crack and fit a new one", False),
        ("please remove the bit where the paint is flaking", False),
        ("can you take off what we ordered last night", False),
        ("drop what you can at reception please", False),
        ("what did i tell you about the dogs?", False),
    ],
)
def test_a_request_to_forget_may_name_what_was_told(text, wants):
    assert acts.wants_forgotten(text) is wants
    assert not acts.wants_all_forgotten(text)


def test_an_address_with_its_town_and_code_is_one_fact():
    address = TopicSpec(
        "address",
        Category.CONFIRMED_FACT,
        True,
        "Delivery address",
        "Where parcels go.",
        ("Send it to 4 Orchard Row, Kells", "parcels go to the office, Unit 9 Tara Park"),
    )

    (made,) = read_of((address, CARS), "We live at Elm Cottage, Mill Lane, Corran")

    assert made.quote == "We live at Elm Cottage, Mill Lane, Corran"


@pytest.mark.parametrize("text", ["👍", "...", "?!", "🙂🙂", " \u200b "])
def test_a_message_without_a_word_states_nothing(text):
    assert read("we drive a blue hatchback", "Noted.", text)[0].topic == "cars"
    assert read(text) == []


def test_what_is_asked_and_imagined_states_nothing_however_likely_its_topic():
    assert read("What if I were on all-season tyres from now on?") == []
    assert read("Would you text me if I had all-season tyres?") == []


def test_a_refusal_that_names_something_answers_what_was_asked():
    (told,) = read("May we call you about your car?", "no calls, text me please", first="bot")

    assert told.topic == "contact"


def test_all_right_is_no_new_value():
    told = read("we drive a blue hatchback", "Is that right?", "Sorry, it's OK")

    assert {c.quote for c in told} == {"we drive a blue hatchback"}


@pytest.mark.parametrize(
    "number", ["WVWXXX1KZBW093415", "DE89X70400440532", "zd4rk0004xs1", "K7719PLQ2204"]
)
def test_a_long_number_of_letters_and_digits_is_kept_to_the_character(number):
    frame = TopicSpec(
        "frame",
        Category.CONFIRMED_FACT,
        True,
        "Frame number",
        "The number on the frame of the customer's vehicle.",
        ("the frame number is TMBJG7NE8F0123456", "frame no. JHMGK5830GX200114"),
    )
    said = (Said(1, "customer", f"frame number is {number}", NOW),)

    (found,) = extract.extract(
        Transcript(said), (frame, TYRES), embed=embed_here, read=read_here, beside=read_beside
    )
    assert (found.topic, found.value) == ("frame", number)


def test_a_number_that_is_named_stands_beside_what_it_was_told_with():
    (insurer, number) = read("I'm on all-season tyres since March, card number AB/30-7741-K")

    assert (insurer.topic, number.topic) == ("tyres", "member_number")
    assert number.value == "AB/30-7741-K"


def test_a_number_told_before_a_question_passes_the_gate():
    def passes(text):
        return pipeline.worth_saving(Said(1, "customer", text, NOW), before=()).passed

    assert passes("Member no 44-1200 here, how do I change my tyres?")
    assert not passes("how do I change my tyres?")
    assert not passes("where is order 77120?")


def test_up_to_and_including_a_day_is_one_end():
    (found,) = read("please call me rather than text, up to and including 6 March 2027")

    assert found.topic == "contact"
    assert found.valid_until is not None
    assert found.valid_until.date() - found.stated_at.date() > timedelta(days=1)
    assert (found.valid_until - timedelta(seconds=1)).strftime("%d %m") == "06 03"


def test_what_she_says_while_she_looks_is_no_correction():
    found = read(
        "my member number is 44-1200",
        "Thanks!",
        "nah hang on got the card here, my bad. it's 44-1290",
    )

    assert [c.value for c in found] == ["44-1290"]


@pytest.mark.parametrize(
    "told", ["no wait, it's 44-1290", "hang on it's 44-1290", "sorry, 44-1290"]
)
def test_a_correction_after_a_pause_is_one(told):
    assert [c.value for c in read("my member number is 44-1200", "Thanks!", told)] == ["44-1290"]


ADDRESS = TopicSpec(
    "address",
    Category.CONFIRMED_FACT,
    True,
    "Address",
    "Where parcels go: street, town and postcode.",
    ("my address is 4 Harbour Road, Sligo", "send it to 27 Elm Avenue", "it's flat 3, Mill Street"),
)
CLUB = TopicSpec(
    "club",
    Category.CONFIRMED_FACT,
    True,
    "Club number",
    "The number on the customer's club card, exactly as given.",
    ("my club number is QD/40-1127-F", "card no. QD/81-0093-B"),
)


@pytest.mark.parametrize("code", ["F35 XK72", "SW1 4QJ", "BT9 5EE", "80331"])
def test_town_and_postcode_belong_to_the_street_before_them(code):
    found = read_of((ADDRESS, CLUB), f"my address is 12 Orchard Lane, Ballyhale, {code}")

    assert [(c.topic, c.quote) for c in found] == [
        ("address", f"my address is 12 Orchard Lane, Ballyhale, {code}")
    ]


def test_a_number_that_is_named_after_an_address_is_not_a_part_of_it():
    found = read_of(
        (ADDRESS, CLUB), "I'm at 12 Orchard Lane, Ballyhale, and the club number is QD/55-2041-K"
    )

    assert {c.topic: c.value for c in found if c.topic == "club"} == {"club": "QD/55-2041-K"}
    assert all("2041" not in c.value for c in found if c.topic == "address")


def test_all_of_an_answer_is_about_what_was_asked_where_another_topic_is_hardly_likelier():
    reminders = TopicSpec(
        "reminders",
        Category.PREFERENCE,
        True,
        "Reminders",
        "Whether and when the customer wants to be reminded of an appointment.",
        ("remind me the day before", "no reminders please"),
    )
    said = (
        Said(1, "customer", "When do I like to come?", NOW),
        Said(
            2,
            "bot",
            "I do not have a record of your preference for this, could you remind me?",
            NOW + timedelta(seconds=1),
            asks_topic=TIMES.key,
        ),
        Said(3, "customer", "Early mornings, before work", NOW + timedelta(seconds=2)),
    )

    found = extract.extract(
        Transcript(said),
        (*TOPICS, reminders),
        embed=embed_here,
        read=read_here,
        beside=read_beside,
    )

    assert [(c.topic, c.quote) for c in found] == [(TIMES.key, "Early mornings, before work")]
