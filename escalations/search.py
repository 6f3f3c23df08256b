"""Find words in messages, customers, answers and memories, also when a letter is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.postgres.search import (
    SearchQuery,
    SearchRank,
    SearchVector,
    TrigramWordSimilarity,
)
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest

from chat.models import Message
from memory.models import Answer, Customer, Memory

CONFIG = "english"
LIKE = 0.45  # trigram word similarity: one wrong letter in a word still finds it
SHOWN = 20
RANKED = 200  # of memories that were found
WORD = re.compile(r"\w+")
SHORTEST, MOST_WORDS = 3, 8  # letters of a word that is looked for, and how many of them


@dataclass(frozen=True, slots=True)
class Found:
    customers: list[Customer]
    answers: list[Answer]
    messages: list[Message]
    memories: list[Memory]

    @property
    def nothing(self) -> bool:
        return not (self.customers or self.answers or self.messages or self.memories)


def search(words: str) -> Found:
    """The words themselves; and only where nothing holds them, what is spelt like them.

    Sensitive memories are not found here: they are read on the card, which records it.
    """
    query = SearchQuery(words, search_type="websearch", config=CONFIG)
    customers, memories = list(_customers(words)), _memories(words, query)
    exact = Found(
        customers,
        answers=list(_answers(words, query, Q(rank__gt=0))),
        messages=list(_messages(query)[:SHOWN]),
        memories=[m for m in memories if m.rank > 0],  # type: ignore[attr-defined]
    )
    if exact.answers or exact.messages or exact.memories:
        return exact
    return Found(
        customers,
        answers=list(_answers(words, query, Q(near__gt=LIKE))),
        messages=list(_said().filter(text__trigram_word_similar=words)[:SHOWN]),
        memories=memories,
    )


def _customers(words: str) -> QuerySet[Customer]:
    return (
        Customer.objects.filter(erase_requested_at=None)
        .annotate(near=_near(words))
        .filter(Q(near__gt=LIKE) | Q(external_id=words) | Q(name__icontains=words))
        .order_by("-near", "name")[:SHOWN]
    )


def _near(words: str) -> Greatest:
    return Greatest(TrigramWordSimilarity(words, "name"), TrigramWordSimilarity(words, "email"))


def _answers(words: str, query: SearchQuery, found: Q) -> QuerySet[Answer]:
    vector = SearchVector("title", weight="A", config=CONFIG) + SearchVector(
        "parts", weight="B", config=CONFIG
    )
    return (
        Answer.objects.filter(status="active")
        .annotate(rank=SearchRank(vector, query), near=TrigramWordSimilarity(words, "title"))
        .filter(found)
        .order_by("-rank", "-near")[:SHOWN]
    )


def _said() -> QuerySet[Message]:
    rows = Message.objects.exclude(kind=Message.Kind.STATE).select_related("conversation__customer")
    return rows.order_by("-created_at")


def _messages(query: SearchQuery) -> QuerySet[Message]:
    # The same expression as the index message_words.
    return _said().annotate(vector=SearchVector("text", config=CONFIG)).filter(vector=query)


def _memories(words: str, query: SearchQuery) -> list[Memory]:
    """Of a million, the index on the letters finds those that hold each word, or one like it.

    The newest of them are ranked: to weigh every row takes many seconds.
    """
    rows = Memory.objects.filter(status="active", sensitive=False)
    sought = [word for word in WORD.findall(words) if len(word) >= SHORTEST][:MOST_WORDS]
    if not sought:
        return []
    for word in sought:
        rows = rows.filter(text__trigram_word_similar=word)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('pg_trgm.word_similarity_threshold', %s, true)", [str(LIKE)]
        )
        newest = list(rows.order_by("-pk").values_list("pk", flat=True)[:RANKED])
    near = TrigramWordSimilarity(words, F("text"))
    rank = SearchRank(SearchVector("text", config=CONFIG), query)
    return list(
        Memory.objects.filter(pk__in=newest)
        .annotate(rank=rank, near=near)
        .select_related("customer", "topic")
        .order_by("-rank", "-near")[:SHOWN]
    )
