import pytest

from chat.llm.grounding import faults, loose, shares_a_run

DATA = [
    "Wait 24 hours before you rinse, then use warm salt water.",
    "We are open from 8:00 to 17:00, Monday to Friday.",
    "A cleaning is $120. A late cancellation is charged 50 % of the fee.",
    "She prefers mornings.",
]


@pytest.mark.parametrize(
    "reply",
    [
        "Here is what our hygienist says about rinsing:",
        "You like mornings, so I am asking for one.",
        "You can rinse after 24 hours.",
        "A cleaning is $120.",
        "We are open on Monday from 8:00.",
        "I do not know that, so I am asking a person.",
    ],
)
def test_lets_pass_what_rests_on_the_data(reply):
    assert faults(reply, DATA) == []


@pytest.mark.parametrize(
    "reply",
    [
        "I will call you back in a moment.",
        "We've booked you in.",
        "Your appointment is confirmed.",
        "You will get a full refund.",
        "I guarantee that it heals.",
        "We can waive the fee.",
        "That is free of charge.",
        "I have cancelled your order.",
    ],
)
def test_catches_a_promise_that_nobody_can_keep(reply):
    assert faults(reply, DATA)


@pytest.mark.parametrize(
    "reply",
    [
        "A filling is $95.",
        "Take 400 mg of ibuprofen.",
        "Wait two days before you rinse.",
        "Rinse after 2 hours.",
        "Come on Saturday.",
        "We open at 7:00.",
        "It takes until 12 May.",
    ],
)
def test_catches_a_price_dose_date_or_time_that_stands_nowhere(reply):
    assert faults(reply, DATA)


@pytest.mark.parametrize(
    "reply",
    [
        "Our policy is that children come with a parent.",
        "You must bring your passport.",
        "Whitening is covered by every plan.",
    ],
)
def test_catches_a_rule_that_stands_nowhere(reply):
    assert faults(reply, DATA)


def test_a_figure_inside_another_is_not_that_figure():
    assert faults("Wait 4 hours.", ["Wait 24 hours."])
    assert faults("We close at 7:00.", ["We close at 17:00."])


def test_no_data_means_that_nothing_may_be_stated():
    assert faults("It costs 20.", [])


@pytest.mark.parametrize(
    "reply",
    ["A crown is $5.", "Everything is free.", "You are entitled to a crown.", "We owe you 500."],
)
def test_what_the_customer_says_of_the_business_proves_nothing(reply):
    own = ["A crown is $5, everything is free, I am entitled to a crown, you owe me 500."]

    assert faults(reply, [], own=own)


def test_her_own_figures_and_habits_may_be_said_back():
    own = ["She never wants calls, and likes mornings before 10:00."]

    assert faults("You never want calls.", [], own=own) == []
    assert faults("You like mornings before 10:00.", [], own=own) == []


def test_that_something_is_done_is_for_a_tool_to_say():
    assert faults("It has been shipped.", [])
    assert faults("It has been shipped.", ['{"status": "shipped"}']) == []


@pytest.mark.parametrize(
    "reply",
    [
        "Yes.",
        "Ada is allergic to latex.",
        "You like mornings. Ada is allergic to latex.",
        "Tu aides une entreprise, le matin.",
        "m o r n i n g s and s o o n everything else",
        "You asked whether Ada has an allergy.",
    ],
)
def test_a_sentence_that_rests_on_nothing_is_found(reply):
    assert loose(reply, ["She likes mornings."], asked="does Ada have an allergy?")


@pytest.mark.parametrize("reply", ["You like mornings.", "Thanks! You told us: mornings."])
def test_a_sentence_that_rests_on_facts_is_let_through(reply):
    assert loose(reply, ["She likes mornings."]) == []


def test_a_line_of_courtesy_may_rest_on_nothing():
    assert loose("This is what we know about it:", [], kind=True) == []
    assert loose("Ada asked this as well:", [], kind=True)


def test_six_words_in_a_row_are_somebody_elses():
    theirs = ["Wait 24 hours. Then warm salt water, gently, after each meal."]

    assert shares_a_run("I say: warm salt water gently after each MEAL", theirs)
    assert not shares_a_run("Warm salt water gently, please.", theirs)
