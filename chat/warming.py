"""What a web process works out before the first customer waits for it: seconds of vectors."""

from __future__ import annotations

from chat import conversations, facts
from chat.llm import embedding, emergencies, intents, topics
from memory import services


def warm_up() -> None:
    """Read one message as every message is read: topics and emergencies get their vectors."""
    listed = conversations.business().emergency_words
    emergencies.find("hello", listed=listed, embed=embedding.embed_one)
    intents.read("hello", embed=embedding.embed_one)
    topics.named("hello", facts.topics(), embed=embedding.embed_one)
    services.warm_up_topics()
