"""What this practice has already answered: a question in staff's words, the very words, who said
them."""

from typing import NamedTuple


class Answered(NamedTuple):
    key: str  # for ever: `load_demo` knows by it what is already there
    by: str
    title: str
    parts: tuple[str, ...]
    review_in_days: int | None = None


# Rinsing after an extraction is left out on purpose: that is the question to try the hand-over
# with.
ANSWERS: list[Answered] = [
    Answered(
        "hours",
        "sam",
        "What are your opening hours?",
        (
            "We are open Monday to Friday, 8 to 12 and 1 to 5. We are closed at weekends and on "
            "public holidays.",
        ),
    ),
    Answered(
        "parking",
        "sam",
        "Where can I park?",
        (
            "There are six free spaces behind the house; the entrance is on Mill Street. If they "
            "are taken, the garage across the road is free for the first hour.",
        ),
    ),
    Answered(
        "walk-in",
        "sam",
        "Can I come without an appointment?",
        (
            "For anything that hurts, yes: come at 8 or at 1 and we fit you in between the "
            "others. For everything else please let us book a time, so that nobody has to wait.",
        ),
    ),
    Answered(
        "cancel",
        "sam",
        "How late can I cancel an appointment?",
        ("Up to 24 hours before it costs nothing. After that we charge $40, unless you were ill.",),
        review_in_days=180,
    ),
    Answered(
        "insurers",
        "sam",
        "Which insurance plans do you accept?",
        (
            "We are in network with Delta Dental, Cigna, MetLife and Guardian. With any other "
            "plan we give you a bill that you can hand in yourself.",
        ),
        review_in_days=90,
    ),
    Answered(
        "payment",
        "sam",
        "Can I pay in instalments?",
        (
            "Yes, from $300 on: three monthly payments, no interest. Tell us at the desk before "
            "the treatment.",
        ),
        review_in_days=180,
    ),
    Answered(
        "new-patient",
        "sam",
        "What should a new patient bring to the first visit?",
        (
            "A photo ID, your insurance card if you have one, and a list of the medicines you "
            "take. X-rays of the last two years help; your former practice can e-mail them to us.",
        ),
    ),
    Answered(
        "children",
        "kim",
        "At what age should a child come for the first check-up?",
        (
            "With the first tooth, or on the first birthday at the latest. The first visit is "
            "mostly getting to know the chair.",
        ),
    ),
    Answered(
        "cleaning",
        "kim",
        "What is done at a professional cleaning?",
        (
            "We take off the tartar, polish, and look at your gums. It takes about 45 minutes, an "
            "hour if your last one was more than two years ago.",
        ),
    ),
    Answered(
        "fillings",
        "kim",
        "Which kinds of fillings do you offer?",
        (
            "White ones from composite, and ceramic inlays for bigger holes. We have not used "
            "silver ones since 2018.",
            "Plans pay for composite on front teeth; on back teeth you pay about $60 yourself.",
        ),
    ),
    Answered(
        "painkiller",
        "kim",
        "Which painkiller do you recommend?",
        (
            "Ibuprofen 400 mg with food helps most people until they can come. If it still hurts "
            "the next day, come at 8 and we have a look.",
        ),
        review_in_days=365,
    ),
    Answered(
        "whitening",
        "kim",
        "Do you offer whitening?",
        (
            "Yes, with a gel, one hour, $280, once a year at most. It does no harm; teeth can be "
            "sensitive to cold for two or three days.",
        ),
    ),
    Answered(
        "brush",
        "kim",
        "Is an electric toothbrush better than a manual one?",
        (
            "Most people clean better with an electric one, because it does the small movements "
            "for you. A soft head, two minutes, twice a day matters more than the brand.",
        ),
    ),
]
