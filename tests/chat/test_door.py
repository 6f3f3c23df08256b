"""Through the socket and through the forms: the same rows, the same words, the same refusals."""

import asyncio
import re
import uuid
from datetime import timedelta
from threading import Event
from time import monotonic

import jwt
import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.core.cache import cache
from django.test import AsyncClient
from django.urls import reverse
from django.utils import timezone

from chat import broadcast, consumers, conversations, identity, turns, views
from chat.conversations import NewRow
from chat.llm.embedding import embed_one
from chat.models import Conversation, Message
from chat.turns import in_db_thread
from config.asgi import application
from escalations.models import Delivery, Escalation
from memory import services
from memory.models import Customer
from tests.factories import make_conversation

pytestmark = pytest.mark.django_db(transaction=True)

QUIET = 0.15  # seconds without a frame: nothing more comes


@pytest.fixture(autouse=True)
def fresh(settings):
    settings.CHAT_BURST_MS = 0
    cache.clear()
    embed_one("the first sentence of a process takes a second")


class Tab:
    """One open tab, over the whole stack of sockets."""

    def __init__(self, cookie="", **hello):
        headers = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
        if cookie:
            headers.append((b"cookie", f"{identity.COOKIE}={cookie}".encode()))
        self.socket = WebsocketCommunicator(application, "/ws/chat/", headers=headers)
        self.socket.scope["client"] = ["192.0.2.1", 0]
        self.hello = {"type": "hello", "token": "", "after": 0} | hello

    async def __aenter__(self):
        await self.socket.connect()
        await self.send(**self.hello)
        self.greeting = await self.heard(first=1)
        return self

    async def __aexit__(self, *exc):
        await self.socket.disconnect()

    async def send(self, **frame):
        if frame["type"] not in {"hello", "typing"}:
            frame.setdefault("client_id", uuid.uuid4().hex)
        await self.socket.send_json_to(frame)

    async def heard(self, rows=0, first=0.3):
        """Wait for that many rows or an error, then for a moment of quiet."""
        frames, until = [], monotonic() + 10
        while monotonic() < until:
            waiting = len(of(frames, "row")) < rows and not of(frames, "error")
            wait = 0.5 if waiting else (QUIET if frames else first)
            if not await self.socket.receive_nothing(timeout=wait, interval=0.01):
                frames.append(await self.socket.receive_json_from())
            elif not waiting:
                break
        return frames

    async def say(self, text, rows=2, **fields):
        await self.send(type="say", text=text, **fields)
        return await self.heard(rows)


def of(frames, kind):
    return [f for f in frames if f["type"] == kind]


def texts(frames):
    return [f["row"]["text"] for f in of(frames, "row")]


async def token_of(customer):
    return await in_db_thread(identity.issue)(customer.pk, address="", now=timezone.now())


class TestSocket:
    async def test_acknowledges_and_shows_the_row(self, ada):
        async with Tab(await token_of(ada)) as tab:
            heard = await tab.say("hello", client_id="c1")

        assert of(heard, "ack")[0]["client_id"] == "c1"
        assert of(heard, "row")[0]["row"]["client_id"] == "c1"
        assert [f["row"]["seq"] for f in of(heard, "row")] == [1, 2]

    async def test_two_tabs_see_the_same_rows(self, ada):
        token = await token_of(ada)
        async with Tab(token) as one, Tab(token) as two:
            first = await one.say("hello")
            second = await two.heard(2)

        assert [f["row"] for f in of(first, "row")] == [f["row"] for f in of(second, "row")]

    async def test_two_quick_messages_stand_in_the_order_they_were_sent(self, ada, monkeypatch):
        keep, second_came = turns.store, Event()

        def slow_at_first(conversation_id, said, *, now):
            if said.text == "first":
                second_came.wait(0.3)  # never, as long as one is taken in after the other
            else:
                second_came.set()
            return keep(conversation_id, said, now=now)

        monkeypatch.setattr(turns, "store", slow_at_first)
        async with Tab(await token_of(ada)) as tab:
            await tab.send(type="say", text="first")
            await tab.send(type="say", text="second")
            frames = await tab.heard(rows=3, first=3.0)

        said = [f["row"] for f in of(frames, "row") if f["row"]["sender"] == "customer"]
        assert [row["text"] for row in said] == ["first", "second"]

    async def test_a_lost_connection_resumes_after_the_last_row(self, ada):
        token = await token_of(ada)
        async with Tab(token) as tab:
            await tab.say("hello")
        chat = await in_db_thread(Conversation.objects.get)()
        async with Tab(token, after=1, conversation=chat.pk) as tab:
            rows = [f["row"]["seq"] for f in of(tab.greeting, "row")]

        assert rows == [2]

    async def test_rows_of_another_conversation_come_from_the_first(self, ada):
        token = await token_of(ada)
        async with Tab(token) as tab:
            await tab.say("hello")
        async with Tab(token, after=1, conversation=999_999) as tab:
            rows = [f["row"]["seq"] for f in of(tab.greeting, "row")]

        assert rows == [1, 2]

    async def test_a_retry_is_acknowledged_with_the_same_seq(self, ada):
        async with Tab(await token_of(ada)) as tab:
            first = await tab.say("hello", client_id="c1")
            second = await tab.say("hello", rows=0, client_id="c1")

        assert of(first, "ack")[0]["seq"] == of(second, "ack")[0]["seq"] == 1
        assert not of(second, "row")

    @pytest.mark.parametrize(
        "text", ["{", "[]", '"x"', '{"type":"say"}', "[" * 99_000, "x" * 200_001],
        ids=["open", "list", "text", "no text", "deep", "long"],
    )  # fmt: skip
    async def test_survives_what_is_no_frame(self, ada, text):
        async with Tab(await token_of(ada)) as tab:
            await tab.socket.send_to(text_data=text)
            refused = await tab.heard(1)
            heard = await tab.say("hello")

        assert of(refused, "error")
        assert of(heard, "ack")

    async def test_a_long_message_is_refused_beside_itself(self, ada):
        async with Tab(await token_of(ada)) as tab:
            heard = await tab.say("x" * 10_001, client_id="long")

        error = of(heard, "error")[0]
        assert (error["client_id"], error["code"]) == ("long", "too_long")

    async def test_a_visitor_is_made_by_the_first_word_and_not_by_looking(self, db):
        token = identity.mint()
        async with Tab(token) as tab:
            assert await in_db_thread(Customer.objects.count)() == 0
            await tab.say("hello")
        async with Tab(token) as tab:
            shown = texts(tab.greeting)

        assert shown[0] == "hello"
        assert (await in_db_thread(Customer.objects.get)()).kind == Customer.Kind.VISITOR

    async def test_what_staff_write_comes_live(self, ada, sam):
        async with Tab(await token_of(ada)) as tab:
            await tab.say("hello")
            chat = await in_db_thread(Conversation.objects.get)()
            await in_db_thread(conversations.post_staff_reply)(
                chat.pk, text="Sam here", staff=sam, now=timezone.now()
            )
            heard = await tab.heard(1)

        row = of(heard, "row")[0]["row"]
        assert row["text"] == "Sam here"
        assert row["name"] == ""

    async def test_a_new_conversation_reaches_every_tab(self, ada):
        token = await token_of(ada)
        async with Tab(token) as one, Tab(token) as two:
            await one.say("hello")
            await two.heard(2)
            await one.send(type="end")
            await one.heard(1)
            await two.heard(1)
            await one.say("good morning")
            heard = await two.heard(2)

        assert "good morning" in texts(heard)

    async def test_a_person_can_be_asked_for_after_the_end(self, ada):
        async with Tab(await token_of(ada)) as tab:
            await tab.say("hello")
            await tab.send(type="end")
            await tab.heard(1)
            await tab.send(type="person")
            heard = await tab.heard(2)

        asked = await Escalation.objects.select_related("conversation").aget()
        assert (asked.reason, asked.conversation.handler) == ("asked", "waiting")
        assert {f["conversation"] for f in of(heard, "row")} == {asked.conversation_id}
        assert of(heard, "state")[-1]["open"]

    async def test_too_much_at_once_is_said_in_words(self, ada, settings):
        settings.CHAT_VISITOR_PER_MINUTE = 2
        async with Tab(await token_of(ada)) as tab:
            for _ in range(2):
                await tab.say("hello")
            heard = await tab.say("hello", client_id="late")

        error = of(heard, "error")[0]
        assert error["code"] == "throttled"
        assert error["client_id"] == "late"
        assert re.search(r"wait \d+ seconds", error["text"])

    async def test_greetings_without_end_are_shut_out_for_a_while(self, ada, settings):
        settings.CHAT_ADDRESS_PER_MINUTE = 1
        token = await token_of(ada)
        async with Tab(token) as tab:
            for _ in range(6):
                await tab.send(**tab.hello)
            closed = None
            while closed is None or closed["type"] != "websocket.close":
                closed = await tab.socket.receive_output(timeout=5)

        assert closed["code"] == consumers.TRY_LATER

    async def test_typing_is_told_as_often_as_it_tells_something(self, ada):
        chat = await sync_to_async(make_conversation)(ada)
        layer = get_channel_layer()
        await layer.group_add(broadcast.conversation_group(chat.pk), "the-desk")
        async with Tab(await token_of(ada)) as tab:
            for _ in range(20):
                await tab.send(type="typing")
            await tab.heard()

        assert (await layer.receive("the-desk"))["type"] == "chat.typing"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(QUIET):
                await layer.receive("the-desk")

    async def test_goes_on_when_nobody_tells_of_rows(self, ada, monkeypatch):
        async def gone(*args, **kwargs):
            raise ConnectionError

        from channels.layers import InMemoryChannelLayer

        monkeypatch.setattr(InMemoryChannelLayer, "group_add", gone)
        monkeypatch.setattr(InMemoryChannelLayer, "group_send", gone)
        async with Tab(await token_of(ada)) as tab:
            heard = await tab.say("hello")

        assert len(of(heard, "row")) == 2

    async def test_a_lost_ping_is_made_good_without_another_one(self, ada, sam, monkeypatch):
        async def lost(messages):
            pass

        monkeypatch.setattr(consumers, "LOST_PING_SECONDS", 0.2)
        async with Tab(await token_of(ada)) as tab:
            await tab.say("hello")
            monkeypatch.setattr(broadcast, "_asend", lost)
            chat = await Conversation.objects.aget()
            await in_db_thread(conversations.post_state)(
                chat.pk, state="queued", text="A person has been asked.", now=timezone.now()
            )
            heard = await tab.heard(1)

        assert texts(heard) == ["A person has been asked."]


class TestSignedIn:
    @pytest.fixture(autouse=True)
    def shared_secret(self, settings):
        settings.CHAT_IDENTITY_SECRET = "x" * 40

    def signed(self, sub="ada-1"):
        claims = {"sub": sub, "aud": "rapport", "exp": timezone.now() + timedelta(minutes=5)}
        return jwt.encode(claims, "x" * 40, algorithm="HS256")

    async def test_in_mid_chat_a_new_conversation_starts(self, db):
        async with Tab(identity.mint()) as tab:
            await tab.say("hello")
            await tab.send(type="hello", token=self.signed(), after=2)
            await tab.heard()
            await tab.say("good morning")

        kinds = await in_db_thread(
            lambda: list(
                Conversation.objects.order_by("pk").values_list(
                    "customer__kind", "verified", "close_reason"
                )
            )
        )()
        assert kinds == [("visitor", False, "identified"), ("identified", True, "")]

    async def test_a_bad_one_names_nobody(self, db):
        async with Tab(token="a.b.c") as tab:
            pass

        assert of(tab.greeting, "error")[0]["code"] == "identity"

    async def test_by_the_address_of_the_page(self, db):
        client = AsyncClient()

        response = await client.get(reverse("chat:page"), {"identity": self.signed()})
        page = await client.get(reverse("chat:page"))

        assert response.status_code == 302
        assert "identity" not in response["Location"]
        assert page.status_code == 200
        assert (await in_db_thread(Customer.objects.get)()).external_id == "ada-1"


class TestAtOnce:
    """Many tabs of a browser that nobody knows yet: one visitor, one conversation, no word lost."""

    async def test_first_words_by_form(self, db):
        token = identity.mint()

        async def speak(text):
            client = AsyncClient()
            client.cookies[identity.COOKIE] = token
            sent = {"client_id": uuid.uuid4().hex, "text": text}
            return await client.post(reverse("chat:send"), sent)

        answers = await asyncio.gather(*(speak(f"first word {n}") for n in range(4)))

        assert {a.status_code for a in answers} == {302}
        assert await Customer.objects.acount() == await Conversation.objects.acount() == 1
        assert await Message.objects.filter(sender="customer").acount() == 4

    async def test_first_words_by_socket(self, db):
        token = identity.mint()
        async with Tab(token) as one, Tab(token) as two:
            await asyncio.gather(one.say("hello"), two.say("good morning"))

        assert await Customer.objects.acount() == await Conversation.objects.acount() == 1


class TestWhoIsGone:
    """An open tab speaks for nobody who was erased, or who is "not me" any more."""

    @pytest.mark.parametrize("way", ["erased", "asked to be erased", "not me"])
    async def test_a_later_word_is_a_new_visitors(self, ada, way):
        token = await token_of(ada)
        act = {
            "erased": lambda: services.erase(ada.pk, by="staff:1", now=timezone.now()),
            "asked to be erased": lambda: services.request_erase(ada.pk, now=timezone.now()),
            "not me": lambda: identity.drop(token),
        }[way]
        async with Tab(token) as tab:
            await tab.say("hello")
            await in_db_thread(act)()
            heard = await tab.say("is somebody there?")

        assert of(heard, "ack")
        said = await Message.objects.select_related("conversation").aget(text="is somebody there?")
        assert said.conversation.customer_id != ada.pk


class TestForms:
    @pytest.fixture
    def browser(self, ada):
        client = AsyncClient()
        token = identity.issue(ada.pk, address="", now=timezone.now())
        client.cookies[identity.COOKIE] = token
        return client

    def send(self, client, name, **data):
        return client.post(reverse(f"chat:{name}"), {"client_id": uuid.uuid4().hex} | data)

    async def test_say(self, browser):
        response = await self.send(browser, "send", text="hello")
        page = (await browser.get(reverse("chat:page"))).content.decode()

        assert response.status_code == 302
        assert "hello" in page

    async def test_the_same_form_twice_is_one_message(self, browser):
        for _ in range(2):
            await self.send(browser, "send", text="hello", client_id="same")

        assert await in_db_thread(Message.objects.filter(sender="customer").count)() == 1

    async def test_line_ends_of_a_form_are_made_one_and_nothing_else_changes(self, browser):
        await self.send(browser, "send", text="  thanks\r\n\r\nbye  ")

        message = await in_db_thread(Message.objects.get)(sender="customer")
        assert message.text == "  thanks\n\nbye  "

    async def test_what_was_wrong_stands_beside_what_was_typed(self, browser):
        response = await self.send(browser, "send", text="x" * 10_001)

        page = response.content.decode()
        assert response.status_code == 422
        assert "10,001 characters" in page
        assert "x" * 10_001 in page

    async def test_person_end_rate(self, browser):
        await self.send(browser, "send", text="hello")
        await self.send(browser, "person")
        assert (await in_db_thread(Escalation.objects.get)()).reason == "asked"

        await self.send(browser, "end")
        await self.send(browser, "rate", score="1", words="good")

        chat = await in_db_thread(Conversation.objects.get)()
        assert (chat.close_reason, chat.rating, chat.rating_words) == ("ended", 1, "good")

    async def test_a_person_after_the_end(self, browser):
        await self.send(browser, "send", text="hello")
        await self.send(browser, "end")
        page = (await browser.get(reverse("chat:page"))).content.decode()
        button = page.split(reverse("chat:person"))[1].split("</form>")[0]
        assert "disabled" not in button

        await self.send(browser, "person")

        chat = (await Escalation.objects.select_related("conversation").aget()).conversation
        assert (chat.closed_at, chat.handler) == (None, "waiting")
        assert await Conversation.objects.acount() == 2

    async def test_choose(self, browser, ada, stored_answer):
        chat = await in_db_thread(conversations.start)(ada.pk, now=timezone.now(), verified=True)
        recorded = await in_db_thread(conversations.record_customer_message)(
            chat.pk, client_id="q", text="when rinse", now=timezone.now()
        )
        meta = {"question_seq": recorded.message.seq, "match_id": None}
        meta["choices"] = [{"choice": str(stored_answer.pk), "title": stored_answer.title}]
        rows = [NewRow("One of these?", kind=Message.Kind.OFFER, meta=meta)]
        await in_db_thread(conversations.record_bot_reply)(
            chat.pk, answering_seq=1, rows=rows, outcome="offered", trace={}, now=timezone.now()
        )

        await self.send(browser, "choose", offer_seq="2", choice=str(stored_answer.pk))

        card = await in_db_thread(Message.objects.get)(kind="answer")
        assert card.meta["parts"] == stored_answer.parts

    async def test_not_me_shows_nothing_of_what_was_there(self, browser):
        await self.send(browser, "send", text="hello from ada")

        await browser.post(reverse("chat:not_me"))
        page = (await browser.get(reverse("chat:page"))).content.decode()

        assert "hello from ada" not in page

    async def test_a_visitor_leaves_an_address_and_the_link_leads_back(self, db):
        from chat.signals import reply_email_left

        links = []

        def receive(link, **kwargs):
            links.append(link)

        reply_email_left.connect(receive)
        client = AsyncClient()
        await client.get(reverse("chat:page"))
        await self.send(client, "send", text="hello from nowhere")
        await self.send(client, "person")
        await self.send(client, "email", address="who@example.org")
        reply_email_left.disconnect(receive)

        elsewhere = AsyncClient()
        response = await elsewhere.get(links[0])
        page = (await elsewhere.get(reverse("chat:page"))).content.decode()

        assert response.status_code == 302
        assert "hello from nowhere" in page

    async def test_an_old_link_says_so(self, db):
        response = await AsyncClient().get(reverse("chat:back", args=["nonsense"]))

        assert response.status_code == 410

    async def test_throttled_in_words(self, browser, settings):
        settings.CHAT_VISITOR_PER_MINUTE = 1
        await self.send(browser, "send", text="hello")

        response = await self.send(browser, "send", text="and again")

        assert response.status_code == 429
        assert "Please wait" in response.content.decode()

    async def test_mail_to_a_typed_address_is_sent_so_often_and_not_more(
        self, db, settings, monkeypatch
    ):
        """Neither a stranger's mailbox by many visitors, nor many mailboxes from one address."""
        settings.CHAT_MAILS_PER_HOUR = 2

        async def leaves(address, client_address):
            monkeypatch.setattr(views, "_address", lambda request: client_address)
            client = AsyncClient()
            await self.send(client, "person", text="Is anybody there?")
            return (await self.send(client, "email", address=address)).status_code

        one_box = [await leaves("kim@example.org", f"192.0.2.{n}") for n in range(3)]
        one_place = [await leaves(f"kim{n}@example.org", "192.0.2.77") for n in range(3)]

        assert one_box == [302, 302, 429]
        assert one_place == [302, 302, 429]
        assert await in_db_thread(Delivery.objects.filter(kind="link_back").count)() == 4

    async def test_leads_to_the_newest_row(self, browser):
        response = await self.send(browser, "send", text="hello")
        page = (await browser.get(reverse("chat:page"))).content.decode()

        assert response["Location"].endswith("#newest")
        assert page.index('id="newest"') > page.rindex("data-seq=")

    async def test_looking_at_the_page_makes_nobody(self, db):
        await AsyncClient().get(reverse("chat:page"))

        assert await in_db_thread(Customer.objects.count)() == 0


class TestDemo:
    async def test_chats_as_a_made_up_customer(self, ada):
        client = AsyncClient()

        page = await client.get(reverse("chat:as"))
        await client.post(reverse("chat:as"), {"customer": ada.pk})
        shown = await client.get(reverse("chat:page"))

        assert "Ada" in page.content.decode()
        assert "Ada" in shown.content.decode()

    async def test_begins_anew_where_the_last_conversation_was_ended(self, ada):
        old = await sync_to_async(make_conversation)(ada)
        await in_db_thread(conversations.close)(old.pk, reason="ended", now=timezone.now())
        client = AsyncClient()

        await client.post(reverse("chat:as"), {"customer": ada.pk})
        page = (await client.get(reverse("chat:page"))).content.decode()

        assert "data-closed" not in page.split("<support-chat")[1].split(">")[0]

    async def test_is_not_there_in_production(self, ada, settings):
        settings.RAPPORT_DEMO = False

        assert (await AsyncClient().get(reverse("chat:as"))).status_code == 404
        response = await AsyncClient().post(reverse("chat:as"), {"customer": ada.pk})
        assert response.status_code == 404


class TestIsolation:
    """ben's token never opens anything of ada's, whatever ids it names."""

    async def test_by_socket(self, ada, ben):
        adas = await sync_to_async(make_conversation)(ada)
        await in_db_thread(conversations.record_customer_message)(
            adas.pk, client_id="a", text="ada's own words", now=timezone.now()
        )

        async with Tab(await token_of(ben), conversation=adas.pk) as tab:
            greeting = tab.greeting
            chosen = await _after(tab, type="choose", offer_seq=1, choice="1")
            ended = await _after(tab, type="end")
            said = await tab.say("hello")

        assert "ada's own words" not in str([*greeting, *chosen, *ended, *said])
        await sync_to_async(adas.refresh_from_db)()
        assert adas.closed_at is None
        assert adas.last_seq == 1

    async def test_by_typing(self, ada, ben):
        """Nobody is seen typing in a conversation that is not his."""
        adas = await sync_to_async(make_conversation)(ada)
        layer = get_channel_layer()
        await layer.group_add(broadcast.conversation_group(adas.pk), "adas-desk")

        async with Tab(await token_of(ben), conversation=adas.pk) as tab:
            await tab.send(type="typing")
            await tab.heard()

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(QUIET):
                await layer.receive("adas-desk")

    async def test_by_form(self, ada, ben):
        adas = await sync_to_async(make_conversation)(ada)
        client = AsyncClient()
        client.cookies[identity.COOKIE] = await token_of(ben)

        await client.post(reverse("chat:rate"), {"client_id": "r", "score": "-1"})
        await client.post(reverse("chat:end"), {"client_id": "e"})

        await sync_to_async(adas.refresh_from_db)()
        assert (adas.rating, adas.closed_at) == (None, None)


async def _after(tab, **frame):
    await tab.send(**frame)
    return await tab.heard()


async def test_rows_read_for_who_sat_here_before_are_not_sent_to_who_does_now(
    ada, ben, monkeypatch
):
    """Her turn may be looking for rows while the tab becomes somebody else's."""
    read, reading, may_go_on = consumers.feed.since, Event(), Event()

    def slowly(customer_id, **how):
        found = read(customer_id, **how)
        if customer_id == ada.pk and found.rows:
            reading.set()
            may_go_on.wait(10)
        return found

    async def lost(messages):
        """A ping that the layer dropped."""

    async with Tab(await token_of(ada)) as tab:
        monkeypatch.setattr(consumers.feed, "since", slowly)
        monkeypatch.setattr(broadcast, "_asend", lost)
        await tab.send(type="say", text="My word alone.")
        assert await sync_to_async(reading.wait, thread_sensitive=False)(10)
        await tab.send(type="hello", token=await token_of(ben))
        await asyncio.sleep(0.2)  # till the tab is his, and waits for its rows
        may_go_on.set()
        heard = await tab.heard()

    assert of(heard, "state")
    assert not of(heard, "row")
