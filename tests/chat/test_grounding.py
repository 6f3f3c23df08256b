import pytest

from chat.llm.grounding import faults

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
