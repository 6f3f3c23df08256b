from datetime import timedelta

import jwt
import pytest
import time_machine

from chat import conversations, identity, throttle
from chat.models import VisitorToken
from memory.models import Customer
from tests.factories import NOW, make_conversation

SECRET = "x" * 40


@pytest.fixture(autouse=True)
def shared_secret(settings):
    settings.CHAT_IDENTITY_SECRET = SECRET


def signed(key=SECRET, algorithm="HS256", **changes):
    claims = {"sub": "ada-1", "aud": "rapport", "exp": NOW + timedelta(minutes=10), "name": "Ada"}
    claims |= changes
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, key, algorithm=algorithm)


class TestBrowser:
    def test_a_token_is_kept_as_a_hash_alone(self, db):
        who, token = identity.new_visitor(identity.mint(), address="10.0.0.1", now=NOW)

        kept = VisitorToken.objects.get()
        assert token not in (kept.digest, kept.address)
        assert "10.0.0.1" not in kept.address
        assert identity.recognise(token, now=NOW) == who

    def test_is_remembered_for_thirty_days(self, db):
        _, token = identity.new_visitor(identity.mint(), address="", now=NOW)

        assert identity.recognise(token, now=NOW + timedelta(days=29, hours=23))
        assert identity.recognise(token, now=NOW + timedelta(days=30)) is None

    @pytest.mark.django_db(transaction=True)
    def test_is_remembered_for_thirty_days_after_the_last_visit(self, client):
        _, token = identity.new_visitor(identity.mint(), address="", now=NOW)
        client.cookies[identity.COOKIE] = token

        for days in (25, 50):
            with time_machine.travel(NOW + timedelta(days=days), tick=False):
                kept = client.get("/chat/").cookies[identity.COOKIE]
                assert kept["max-age"] == 30 * 86_400

        assert identity.recognise(token, now=NOW + timedelta(days=79))
        assert identity.recognise(token, now=NOW + timedelta(days=81)) is None

    def test_a_name_that_was_proven_for_a_time_is_not_renewed(self, ada):
        token = identity.issue(ada.pk, address="", now=NOW, days=1)

        identity.renew(token, now=NOW)

        assert identity.recognise(token, now=NOW + timedelta(days=2)) is None

    def test_a_token_that_we_did_not_make_is_not_taken(self, db):
        _, token = identity.new_visitor("a" * 40, address="", now=NOW)

        assert token != "a" * 40

    def test_a_token_that_is_over_is_not_taken_again(self, db):
        _, token = identity.new_visitor(identity.mint(), address="", now=NOW)

        _, other = identity.new_visitor(token, address="", now=NOW + timedelta(days=40))

        assert other != token

    def test_not_me_starts_afresh(self, db):
        who, token = identity.new_visitor(identity.mint(), address="", now=NOW)

        identity.drop(token)

        assert identity.recognise(token, now=NOW) is None
        assert Customer.objects.filter(pk=who.customer_id).exists()


class TestSignedToken:
    def test_names_the_businesss_own_customer(self, db):
        who = identity.from_signed(signed(), now=NOW)

        customer = Customer.objects.get(pk=who.customer_id)
        assert (customer.external_id, customer.name, customer.kind) == (
            "ada-1",
            "Ada",
            Customer.Kind.IDENTIFIED,
        )
        assert who.verified
        assert identity.from_signed(signed(), now=NOW) == who

    @pytest.mark.parametrize(
        "changes",
        [
            {"exp": None},
            {"aud": None},
            {"sub": None},
            {"aud": "another"},
            {"exp": NOW - timedelta(seconds=1)},
            {"exp": NOW + timedelta(days=2)},
            {"exp": float("inf")},
            {"exp": float("nan")},
            {"exp": 10**400},
            {"exp": [1]},
            {"iat": float("inf")},
            {"nbf": float("inf")},
            {"sub": ""},
            {"sub": 7},
            {"sub": "ada\x00"},
            {"key": "y" * 40},
            {"algorithm": "HS512", "key": "x" * 64},
            {"algorithm": "none", "key": ""},
        ],
    )
    def test_is_refused_where_anything_is_wrong(self, db, changes):
        with pytest.raises(identity.NotAccepted):
            identity.from_signed(signed(**changes), now=NOW)
        assert not Customer.objects.exists()

    def test_is_refused_while_no_secret_is_set(self, db, settings):
        token = signed()
        settings.CHAT_IDENTITY_SECRET = ""

        with pytest.raises(identity.NotAccepted):
            identity.from_signed(token, now=NOW)

    def test_what_cannot_stand_in_one_line_is_left_out(self, db):
        claims = {"name": "Ada\x00\r\n Lee", "email": "ada@example.com\r\nBcc: ben@example.com"}
        who = identity.from_signed(signed(**claims), now=NOW)

        customer = Customer.objects.get(pk=who.customer_id)
        assert (customer.name, customer.email) == ("Ada Lee", "")

    def test_an_unknown_zone_is_left_out(self, db):
        who = identity.from_signed(signed(zoneinfo="Middle/Earth"), now=NOW)

        assert Customer.objects.get(pk=who.customer_id).timezone == ""


class TestLinkBack:
    @pytest.fixture
    def visitor(self, db):
        who, _ = identity.new_visitor(identity.mint(), address="", now=NOW)
        return Customer.objects.get(pk=who.customer_id)

    def test_leads_to_the_conversation_for_seven_days(self, visitor):
        chat = make_conversation(visitor)
        with time_machine.travel(NOW, tick=False):
            link = identity.link_back(chat.pk)
        with time_machine.travel(NOW + timedelta(days=6, hours=23), tick=False):
            assert identity.from_link(link) == chat
        with time_machine.travel(NOW + timedelta(days=7, seconds=2), tick=False):
            assert identity.from_link(link) is None

    def test_opens_nothing_of_a_named_customer(self, ada):
        link = identity.link_back(make_conversation(ada).pk)

        assert identity.from_link(link) is None

    def test_is_worth_nothing_when_it_was_changed(self, visitor):
        link = identity.link_back(make_conversation(visitor).pk)

        assert identity.from_link(link[:-1] + ("A" if link[-1] != "A" else "B")) is None

    def test_a_typed_address_merges_nothing(self, visitor, ada):
        Customer.objects.filter(pk=ada.pk).update(email="ada@example.org")
        chat = make_conversation(visitor)

        conversations.set_reply_email(chat.pk, email="ada@example.org", link="/", now=NOW)

        chat.refresh_from_db()
        assert chat.customer == visitor
        assert Customer.objects.get(pk=visitor.pk).email == ""


class TestThrottle:
    @pytest.fixture(autouse=True)
    def few(self, settings):
        from django.core.cache import cache

        cache.clear()
        settings.CHAT_VISITOR_PER_MINUTE = 3
        settings.CHAT_ADDRESS_PER_MINUTE = 5
        settings.CHAT_VISITORS_PER_MINUTE = 2

    def count(self, customer_id, address="", now=NOW):
        throttle.check(customer_id=customer_id, address=address, now=now)

    def test_stops_a_visitor_and_says_how_long(self):
        for _ in range(3):
            self.count(1)
        with pytest.raises(throttle.Throttled) as stopped:
            self.count(1)

        assert 0 < stopped.value.seconds <= 60
        self.count(2)
        self.count(1, now=NOW + timedelta(minutes=1))

    def test_stops_an_address_behind_many_visitors(self):
        for n in range(5):
            self.count(n, address="10.0.0.1")
        with pytest.raises(throttle.Throttled):
            self.count(99, address="10.0.0.1")
        self.count(99, address="10.0.0.2")

    def test_stops_an_address_that_makes_visitors(self, db):
        for _ in range(2):
            identity.new_visitor(identity.mint(), address="10.0.0.1", now=NOW)
        with pytest.raises(throttle.Throttled):
            identity.new_visitor(identity.mint(), address="10.0.0.1", now=NOW)

    def test_turns_nobody_away_when_the_counter_is_gone(self, monkeypatch):
        from django.core.cache import cache

        def gone(*args, **kwargs):
            raise ConnectionError

        monkeypatch.setattr(cache, "add", gone)
        assert [self.count(1) for _ in range(10)] == [None] * 10
