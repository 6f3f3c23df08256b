"""Three patients to chat as, each with something that they once told the practice."""

from typing import NamedTuple


class Line(NamedTuple):
    sender: str  # "customer" or "bot"
    text: str


class DemoCustomer(NamedTuple):
    key: str
    name: str
    days_ago: int
    lines: tuple[Line, ...]


CUSTOMERS = [
    DemoCustomer(
        "ada",
        "Ada Winter",
        days_ago=40,
        lines=(
            Line("customer", "My dental plan is Cigna now."),
            Line("bot", "Thank you, I have noted your plan."),
        ),
    ),
    DemoCustomer(
        "ben",
        "Ben Carter",
        days_ago=25,
        lines=(
            Line("customer", "Late afternoons work best for me."),
            Line("bot", "Noted: late afternoons."),
            Line("customer", "And I'm allergic to ibuprofen."),
            Line("bot", "Thank you for telling us. I have noted it."),
        ),
    ),
    DemoCustomer(
        "grace",
        "Grace Moreno",
        days_ago=60,
        lines=(
            Line("customer", "I always want early mornings for my appointments."),
            Line("bot", "Early mornings, noted."),
            Line("customer", "And I'm really anxious about drilling."),
            Line("bot", "Thank you for telling us. We take our time."),
        ),
    ),
]
