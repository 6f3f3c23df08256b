"""The practice itself: hours, people, notes, words for emergencies."""

from datetime import date, timedelta
from typing import Any

TIMEZONE = "America/New_York"

BUSINESS: dict[str, Any] = {
    "name": "Mill Street Dental",
    "timezone": TIMEZONE,
    "hours_in_words": "Monday to Friday, 8–12 and 1–5 (New York time)",
    "welcome": "Hello, this is Mill Street Dental.",
    "privacy_text": (
        "Replies in this chat are automatic until a person takes over; it always says which.\n\n"
        "What you tell us about yourself, such as when you like to come or which plan you have, "
        "is remembered so that you need not say it twice. In a browser that we do not know, it is "
        "kept for 30 days and nothing about your health is. Nobody but the practice's own staff "
        "sees it, and it is never shown to another patient.\n\n"
        "Write “What do you know about me?” to see it, “Forget …” to have something taken out, "
        "and “Delete everything” to have all of it erased.\n\n"
        "Mill Street Dental is a demonstration: please tell it nothing real."
    ),
    "emergency_words": [
        "can't breathe",
        "cannot breathe",
        "trouble breathing",
        "can't swallow",
        "won't stop bleeding",
        "bleeding that doesn't stop",
        "knocked out tooth",
        "tooth was knocked out",
        "face is swelling",
        "swelling near my eye",
        "passed out",
        "unconscious",
    ],
    "emergency_text": (
        "This sounds like an emergency. If you have trouble breathing or swallowing, or the "
        "bleeding does not stop, call 911 now. For a knocked-out tooth: keep it in milk and come "
        "at once, or call our emergency line, 555-0111, at any hour. A person from the practice "
        "has been told."
    ),
}

# Monday is 0.
WEEKLY = {str(day): [["08:00", "12:00"], ["13:00", "17:00"]] for day in range(5)}


def holidays(year: int) -> dict[str, list[list[str]]]:
    """Return the days of `year` on which the practice is closed, or open for less."""
    november = date(year, 11, 1)
    thanksgiving = november + timedelta(days=(3 - november.weekday()) % 7 + 21)
    closed = [date(year, 1, 1), date(year, 7, 4), thanksgiving, date(year, 12, 25)]
    days: dict[str, list[list[str]]] = {day.isoformat(): [] for day in closed}
    days[date(year, 12, 24).isoformat()] = [["08:00", "12:00"]]
    return days


# username: (first name, role, admin?)
STAFF: dict[str, tuple[str, str, bool]] = {
    "admin": ("Alex", "practice manager", True),
    "sam": ("Sam", "front desk", False),
    "kim": ("Kim", "dental hygienist", False),
}
EMAIL_DOMAIN = "mill-street.invalid"  # how `clear_demo` knows a demo account
PASSWORDS = {name: f"{name}-demo" for name in STAFF}

NOTES: list[dict[str, Any]] = [
    {
        "title": "Rescheduling, for somebody who is anxious",
        "topic": "dental_anxiety",
        "examples": [
            "I need to reschedule my cleaning",
            "can we move my appointment?",
            "something came up, could I come another day instead?",
            "I have to change my appointment",
        ],
        "not_examples": ["How late can I cancel?", "When is my appointment?"],
        "text": (
            "We know that treatment is not easy for you. We take our time, and you can stop us at "
            "any moment by raising a hand; nobody minds.\n\n"
            "You like {appointment_times}, so that is what we look for. I have passed your "
            "request on; a person writes here with a time."
        ),
        "hands_over": True,
    },
    {
        "title": "Booking a cleaning",
        "topic": "appointment_times",
        "examples": [
            "I'd like to book a cleaning",
            "can I get a cleaning appointment?",
            "I need an appointment for a cleaning",
            "time for my next check-up, when can I come?",
        ],
        "not_examples": ["How long does a cleaning take?", "What does a cleaning cost?"],
        "text": (
            "You like {appointment_times}, so I have asked the front desk for that. A person "
            "writes here with two or three times to choose from."
        ),
        "hands_over": True,
    },
    {
        "title": "A prescription is used up",
        "topic": None,
        "examples": [
            "I need a new prescription for the mouthwash",
            "can you renew my prescription?",
            "my fluoride gel is used up, can I get more?",
        ],
        "not_examples": ["Which mouthwash is good?", "Do I need a prescription for fluoride?"],
        "text": (
            "A prescription has to be signed by the dentist. I have passed your request on; a "
            "person writes here when it is ready, usually on the same working day."
        ),
        "hands_over": True,
    },
]

CANNED = {
    "hello": "Hello {customer}, this is {staff} at {business}.",
    "looking": "Thank you. I am looking it up and write here in a few minutes.",
    "which-tooth": "Which tooth is it: upper or lower, left or right, front or back?",
    "bye": "Glad I could help. Write here any time, {business} reads it.",
}

QUEUE = "Front desk"
CALENDAR = "Mill Street Dental"
