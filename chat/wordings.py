"""Every sentence the bot says.

A business may put its own variants in `Wording`; one is picked, repeatably.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

from chat.models import Wording
from memory.kept import Kept

DEFAULTS: dict[str, tuple[str, ...]] = {
    "welcome": (
        "Hello! Replies here are automatic, and I remember what you tell me. A person is there when"
        " I cannot help. You can ask “What do you know about me?” or tell me to forget something"
        " at any time.",
    ),
    # Small talk
    "greeting": (
        "Hello! What can I do for you?",
        "Hi, good to hear from you. How can I help?",
        "Hello, how can I help?",
    ),
    "thanks": (
        "You are welcome.",
        "You are very welcome.",
        "You are welcome. I am here if anything else comes up.",
    ),
    "goodbye": ("Goodbye, and all the best.", "Take care. Write again whenever you like."),
    "fine": ("Good.", "All right. I am here if you need anything else.", "Fine."),
    # It may be good news or sad news: only what fits both.
    "chat": ("Thank you for telling me.", "Thank you. I am here if you need anything."),
    # Answers
    "offer": (
        "Did you mean one of these?",
        "I have answers to these. Is one of them what you asked?",
        "Is it one of these?",
    ),
    "something_else": ("Something else",),
    "took_back": ("I am sorry, that was not it.",),
    # What the customer told us
    "noted": (
        "I have noted that: {facts}",
        "Thank you, that is noted: {facts}",
        "Noted, thank you: {facts}",
    ),
    "noted_for_chat": (
        "I will keep this in mind in this chat: {facts} I do not keep it afterwards, because I"
        " cannot know who is writing.",
    ),
    "noted_after_asking": ("Thank you, I will remember that: {facts}", "Thank you, noted: {facts}"),
    "recall": (
        "This is what you told us. {facts}",
        "I have this from you. {facts}",
        "You told us this. {facts}",
    ),
    "ask_preference": ("I do not have a record of your preference for this, could you remind me?",),
    "ask_confirmed_fact": ("I do not have a record of this, could you remind me? ({topic})",),
    "known": ("This is what I have noted about you:",),
    "known_nothing": ("I have not noted anything about you so far.",),
    "known_unread": (
        "Some of what you told us last is not noted yet. I leave out what it may have changed.",
    ),
    "forgot": (
        "I have forgotten this: {facts}. It will not be used again.",
        "Done: {facts} is forgotten and will not be used again.",
    ),
    "forgot_all": (
        "I have forgotten what I had noted about you. None of it will be used again. A person here"
        " erases the rest of what you wrote, within {days} days.",
    ),
    "forgot_nothing": ("I have nothing noted about that, so there is nothing to forget.",),
    "forget_which": ("What would you like me to forget? I have noted:",),
    # Handing over
    "person": (
        "I am asking a person to join you here.",
        "Of course. I am asking a person to join you here.",
    ),
    "person_waiting": (
        "A person has been asked already and will answer you here.",
        "Somebody will join you here. Your question is with them.",
    ),
    "wants_person": ("I would like to talk to a person.",),
    "no_answer": (
        "Nobody here has answered this yet. I have asked a person, and you will find the answer "
        "here.",
        "I do not have an answer to this yet, so I have asked a person. You will find the answer "
        "here.",
    ),
    "unsure": (
        "I would rather not guess here, so I have asked a person. You will find the answer here.",
    ),
    "personal": (
        "That is for a person here to say, who can look at your case. I have passed your question "
        "on.",
        "I would like a person here to answer that for you. I have passed your question on.",
    ),
    "unread": (
        "You told us something newer about this, and it is not noted yet. I have passed your "
        "question on to a person here.",
    ),
    "distress": (
        "I am sorry to hear that. I have asked a person here, who will answer you.",
        "I am sorry. That is for a person here: I have passed it on, and you will hear from them.",
    ),
    "request": ("I have passed this on to a person here, who will take care of it.",),
    "model": (
        "The automatic reply did not come. I have asked a person, who will answer you here.",
    ),
    "joined": (
        "I have passed this on too.",
        "I do not know this one. I have added it for the person who will answer you.",
    ),
    "emergency": (
        "This sounds like an emergency. Please call your local emergency number now. I have "
        "alerted a person here.",
    ),
    # Quiet lines
    # What happens next: one of the first, then one of the second group, with the time.
    "queued": ("A person has been asked.",),
    "queued_too": ("This has been passed on too.",),
    "queued_again": ("Your question is back with the team.",),
    "reply_when_open": ("We are open now: you will usually have the answer here {when}.",),
    "reply_when_closed": ("We are open again {when}, and you will find the answer here.",),
    "reply_some_time": ("You will find the answer here.",),
    "queued_urgent": ("A person has been told at once. Please stay here.",),
    "who_named": ("{name}, {role}",),
    "who_role": ("A person ({role})",),
    "who_team": ("A person from our team",),
    "claimed": ("{who} has joined and will answer you here.",),
    "returned": ("Replies are automatic again.",),
    "resolved": ("This was answered. Replies are automatic again.",),
    "closed_ended": ("You ended this conversation.",),
    "closed_idle": ("This conversation ended because nobody wrote for a while.",),
    "closed_waiting": (
        "Nobody wrote here for a while, so this conversation is put aside. Your question is still "
        "with a person, and you will find the answer here.",
    ),
    "closed_replaced": ("This conversation ended because a new one was started.",),
    "closed_identified": ("This conversation ended because you signed in.",),
    "hidden": (
        "I have hidden what looks like {what} in your message. It was not kept: please never send"
        " such things here.",
    ),
    "email_left": ("A link that leads back here is on its way to {email}.",),
    # Under the business's name
    "state_bot": ("Automatic replies{hours}",),
    "state_waiting": ("Automatic replies · a person has been asked",),
    "state_staff": ("A person is answering you",),
    "state_closed": ("This conversation has ended",),
    "hours": (" · a person answers {hours}",),
    # Beside the customer's message
    "throttled": ("That was a lot at once. Please wait {seconds} seconds and send it again.",),
    "lapsed": ("This question was already settled. Please write what you need.",),
    "bad_token": (
        "We could not confirm who you are. Please reload the page of the site you came from.",
    ),
    "failed": ("This could not be sent. Please try again.",),
    "no_conversation": ("There is no conversation yet.",),
}

_own: Kept[dict[str, list[str]]] = Kept(
    lambda: {
        key: [v for v in variants if isinstance(v, str)]
        for key, variants in Wording.objects.values_list("key", "variants")
    },
    "chat_wording",
)

SLOT = re.compile(r"\{(\w+)\}")
_BRACED = re.compile(r"\{([^{}]*)\}")


def say(key: str, conversation_id: int, seq: int, **fields: str) -> str:
    """Return one variant of the sentence `key`: another at another seq, the same for the same."""
    own = _own().get(key) or []
    variants = [v for v in own if v.strip()] or DEFAULTS[key]
    picked = variants[crc32(f"{key}:{conversation_id}:{seq // 2}".encode()) % len(variants)]
    return fill(picked, fields)


def faults(key: str, variants: Sequence[str]) -> list[str]:
    """Return what these variants of `key` lack, or hold that nothing would fill in."""
    needed = set(SLOT.findall(" ".join(DEFAULTS[key])))
    found = []
    for variant in variants:
        held = set(_BRACED.findall(variant))
        found += [f"“{variant}” lacks {{{name}}}." for name in sorted(needed - held)]
        found += [f"“{variant}”: nothing fills in {{{name}}}." for name in sorted(held - needed)]
    return found


def fill(text: str, fields: dict[str, str]) -> str:
    """Put `fields` into {slots}; a slot without a field stays as it is."""
    return SLOT.sub(lambda m: fields.get(m[1], m[0]), text)


def without_gaps(text: str) -> str:
    """Leave out each sentence that still has a {slot}: nobody is shown a form half filled in."""
    lines = (
        " ".join(part for part in re.split(r"(?<=[.!?])\s+", line) if not SLOT.search(part))
        for line in text.splitlines()
    )
    return "\n".join(lines).strip()
