"""The desk with a year behind it: 5,000 open escalations, 100,000 conversations."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation
from escalations.models import Calendar, Queue
from tests.bench import figures, fill

CONVERSATIONS, CUSTOMERS = 100_000, 10_000
OPEN, LIVE = 5_000, 200  # escalations, chats with the bot
STAFF = 20
LISTS = ("unclaimed", "mine", "everyone", "customer", "overdue", "bot", "resolved")
LIST_BAR, YEAR_BAR = 150.0, 1_000.0  # ms
REASONS = "array['no_answer', 'unsure', 'asked', 'request', 'personal', 'emergency']"

# What a year leaves behind, told to the database in its own words: row by row it takes minutes.
# Nothing of it comes from outside: numbers of this file, and rows that were made a moment ago.
YEAR = f"""
insert into chat_conversation (id, customer_id, handler, started_at, last_message_at, closed_at,
    close_reason, last_seq, flushed_seq, bot_since_seq, asked_topic, working_memory, verified,
    reply_email, customer_seen_seq, rating, rating_words)
select n, %(first)s + n * 7919 %% {CUSTOMERS}, case when age > {LIVE} and age <= {LIVE + OPEN}
    then 'waiting' else 'bot' end, at, at, case when age > {LIVE + OPEN} then at end, '', 2, 2, 0,
    '', '[]', true, '', 2, case when n %% 9 = 0 then 1 when n %% 97 = 0 then -1 end, ''
from generate_series(1, {CONVERSATIONS}) n, lateral (select {CONVERSATIONS} - n as age) a,
    lateral (select %(now)s - (case when age <= {LIVE} then age * .1 else age * 5.2 end)
    * interval '1 minute' as at) t;

insert into chat_message (conversation_id, seq, kind, sender, text, author_name, role, created_at,
    meta)
select c.id, s, 'message', case when s %% 2 = 1 then 'customer' else 'bot' end,
    'Question ' || c.id || ' of ' || s || ': when will my parcel be here, and who pays for it?',
    '', '', c.started_at, '{{}}'
from chat_conversation c, generate_series(1, 2) s order by c.id, s;

insert into chat_turn (conversation_id, question_seq, outcome, reason, trace, created_at)
select c.id, s, (array['answered', 'offered', 'asked', 'noted', 'handed_over', 'small_talk'])
    [1 + (c.id + s) %% 6], '', jsonb_build_object('moves', case when c.id %% 3 = 0 then
    '["Remark"]'::jsonb else '["Answer"]'::jsonb end,
    'gate', jsonb_build_object('skipped', c.id %% 2 = 0, 'p', 0.25),
    'answer', jsonb_build_object('used', '[]'::jsonb, 'rejected', '[]'::jsonb), 'steps',
    (select jsonb_agg(jsonb_build_object('name', md5((c.id * 31 + i)::text), 'ms', i))
     from generate_series(1, 24) i)), c.started_at
from chat_conversation c, generate_series(1, 3, 2) s order by c.id, s;

insert into memory_answermatch (customer_id, asked, asked_normalised, offered, embedding_model,
    score, margin, outcome, verified, ref, created_at)
select c.customer_id, 'q', 'q ' || c.id, '{{}}', '', .5, .1,
    (array['delivered', 'open', 'something_else', 'delivered'])[1 + c.id %% 4], true, '',
    c.started_at from chat_conversation c order by c.id;

insert into memory_memoryevent (kind, at, actor, topic_key, reason)
select (array['memory.created', 'memory.reinforced', 'memory.superseded', 'gate.save'])
    [1 + c.id %% 4], c.started_at, 'knowledge agent', '', ''
from chat_conversation c order by c.id;

insert into escalations_escalation (id, conversation_id, queue_id, reason, detail, request,
    opened_at, due_at, promise, claimed_by_id, claimed_at, claimed_seq, active_at, first_reply_at,
    last_staff_seq, closed_at, closed_by_id, resolution, reopened_at)
select c.id, c.id, %(queue)s, ({REASONS})[1 + c.id %% 6], '', '{{}}', c.started_at,
    c.started_at + interval '1 day', '', case when has then staff end,
    case when has then c.started_at end, 0, null, case when has and c.id %% 3 > 0
    then c.started_at + interval '20 minutes' end, case when c.id %% 3 = 1 then 2 else 0 end,
    case when over then c.started_at + interval '1 hour' end,
    case when over then staff end, case when over then 'resolved' else '' end,
    case when over and c.id %% 50 = 0 then c.started_at + interval '2 days' end
from chat_conversation c, lateral (select %(staff)s + c.id %% {STAFF} as staff,
    c.closed_at is not null or c.id %% 5 < 2 as has, c.closed_at is not null as over) s
where c.handler = 'waiting' or (over and c.id %% 6 = 0);

insert into escalations_question (escalation_id, text, message_seq, reason, asked_at)
select e.id, 'When will parcel ' || e.id || ' be here, and who pays for it?', s, e.reason,
    e.opened_at
from escalations_escalation e, generate_series(1, 3, 2) s where s = 1 or e.id %% 4 = 0;
"""  # noqa: S608


def measure(*, now: datetime, calls: int = 40) -> bool:
    if not Conversation.objects.filter(pk=CONVERSATIONS).exists():
        with figures.seconds(f"make {CONVERSATIONS:,} conversations, {OPEN:,} open escalations"):
            _fill(now)
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="bench-1"))
    with _not_secure():
        kept = [_list(client, name, calls) for name in LISTS]
        kept.append(_page(client, "/inbox/live/?list=unclaimed", "what a ping brings", calls))
        kept += [
            _reports(client, 10),
            _page(client, "/inbox/gaps/", "open questions", 10, bar=None),
        ]
    return all(kept)


def _list(client: Client, name: str, calls: int) -> bool:
    return _page(client, f"/inbox/?list={name}", f"inbox, {name}", calls)


def _reports(client: Client, calls: int) -> bool:
    return _page(client, "/inbox/reports/?weeks=52", "a year's reports", calls, bar=YEAR_BAR)


def _page(
    client: Client, path: str, name: str, calls: int, *, bar: float | None = LIST_BAR
) -> bool:
    client.get(path)
    with CaptureQueriesContext(connection) as counted:
        response = client.get(path)
    queries = len(counted.captured_queries)
    if response.status_code != 200:
        raise SystemExit(f"{path}: {response.status_code}")
    gc.collect()
    timed = figures.Timed()
    for _ in range(calls):
        timed(lambda: client.get(path))
    backend = timed.backend_ms()
    # Web process and database together: what others do on the machine counts little there.
    ok = figures.line(f"{name}: CPU", [cpu + backend for cpu in timed.cpu], bar=bar)
    figures.line(f"{name}: wall", timed.wall)
    print(f"{'':44} {queries} queries, CPU of the database {backend:.1f} ms")
    return ok


@contextmanager
def _not_secure() -> Iterator[None]:
    before = settings.ALLOWED_HOSTS
    settings.ALLOWED_HOSTS = ["*"]
    try:
        yield
    finally:
        settings.ALLOWED_HOSTS = before


def _fill(now: datetime) -> None:
    first = fill.customers(CUSTOMERS, now=now, of="desk")[0]
    people = User.objects.bulk_create(
        User(username=f"bench-{n}", first_name=f"Bench {n}", is_staff=True) for n in range(STAFF)
    )
    hours = {str(day): [["08:00", "17:00"]] for day in range(5)}
    calendar = Calendar.objects.create(name="Bench", timezone="Europe/Berlin", weekly=hours)
    queue = Queue.objects.create(name="Bench", calendar=calendar)
    queue.members.set(people)
    values: dict[str, Any] = {
        "now": now,
        "first": first,
        "staff": people[0].pk,
        "queue": queue.pk,
    }
    with connection.cursor() as cursor:
        for statement in YEAR.split(";\n")[:-1]:
            cursor.execute(statement, values)
        cursor.execute("vacuum analyze")
