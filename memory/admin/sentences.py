"""History as a reader would tell it: one sentence an event."""

from __future__ import annotations

from collections.abc import Mapping

from memory import scoring
from memory.models import Memory, MemoryEvent
from memory.services import Outcome

_SAID = {
    "memory.created": "{who} noted it{after}",
    "memory.reinforced": "It was said again",
    "memory.updated": "{who} made it more exact{after}{before}",
    "memory.superseded": "{who} noted it{after}{before}",
    "memory.retracted": "The customer took it back",
    "memory.ignored": "{who} left a statement aside",
    "memory.corrected": "{who} corrected it{after}",
    "memory.confirmed": "{who} confirmed it",
    "memory.approved": "{who} approved it",
    "memory.rejected": "{who} rejected it",
    "memory.proposed": "{who} proposed it{after}",
    "memory.forgotten": "It was forgotten at the customer's request",
    "memory.expired": "Its time ran out",
    "memory.faded": "It faded",
    "memory.restored": "{who} brought it back",
    "outcome.helped": "The customer said that a chat in which it was used helped",
    "outcome.not_helped": "The customer said that a chat in which it was used did not help",
    "outcome.assumed": "A chat in which it was used ended without a further question",
    "answer.created": "{who} wrote it",
    "answer.added": "{who} wrote it",
    "answer.superseded": "A later answer replaced it",
    "answer.retired": "{who} took it out of use",
    "answer.revised": "{who} changed its words",
}


def sentence(event: MemoryEvent, *, staff: Mapping[int, str]) -> str:
    """Return what happened, without its time. `staff`: names by user id."""
    words = _SAID.get(event.kind)
    if words is None:
        thing, _, verb = event.kind.partition(".")
        words = f"{{who}}: {thing} {verb.replace('_', ' ')}".rstrip()
    text = words.format(
        who=who(event.actor, staff),
        after=_value(event.after, " as “{}”"),
        before=_value(event.before, ", in place of “{}”"),
    )
    return f"{text}: {event.reason}." if event.reason else f"{text}."


def who(actor: str, staff: Mapping[int, str]) -> str:
    kind, _, rest = actor.partition(":")
    if kind == "staff" and rest.isdecimal():
        return staff.get(int(rest), f"Staff member {rest}")
    if kind == "api":
        return f"A program with the key “{rest}”"
    if kind == "agent":
        return f"The agent “{rest}”"
    return {"customer": "The customer", "bot": "The bot", "import": "An import"}.get(
        actor, f"The {actor}" if actor else "Somebody"
    )


def usefulness(outcomes: Mapping[Outcome, int]) -> str:
    """Return in words what came of replies that rested on it, and what that does."""
    good, perhaps = outcomes.get("helped", 0), outcomes.get("assumed", 0)
    bad = outcomes.get("not_helped", 0)
    if not good + perhaps + bad:
        return "nothing known yet: being used alone does not keep it"
    said = f"chats in which it was used: {good} helped, {perhaps} ended without a further question"
    slower = round(100 * scoring.usefulness(helped=good, assumed=perhaps, not_helped=bad))
    return f"{said}, {bad} did not help; it fades {slower} % slower for it"


def maker(made_by: str, staff: Mapping[int, str]) -> str:
    """Return who or what wrote a fact, and by whose rules: "offline, instructions v2, topic v1"."""
    engine, *versions = made_by.split(", ")
    if engine == "offline":
        said = "Read by the built-in rules"
    elif any(one.startswith("instructions") for one in versions):
        said = f"Read by the model {engine}"
    else:
        said = who(engine, staff)
    named = (one.rpartition(" v") for one in versions)
    return "; ".join(
        [said, *(f"{_VERSIONS.get(k, k)}, version {n}" for k, _v, n in named if n != "0")]
    )


_VERSIONS = {"instructions": "with your instructions", "topic": "with the topic"}


def replaced_by(newer: Memory) -> str:
    if newer.quote:
        return f"Superseded because the customer said: “{newer.quote}”"
    return f"Superseded: a person wrote “{newer.text}”." if newer.text else "Superseded."


def _value(state: Mapping[str, object] | None, words: str) -> str:
    value = (state or {}).get("value")
    return words.format(value) if isinstance(value, str) and value else ""
