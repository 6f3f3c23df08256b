"""One clock: the desk, the admin and a page without script show the business's time, and say so."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from chat import conversations, identity
from chat.models import Business
from tests.factories import NOW, make_conversation

THERE, OURS, SERVERS = "Asia/Tokyo", "00:00", "15:00"  # of NOW


# The chat's pages read in threads of their own, which see what was committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def business(db):
    conversations.business()
    Business.objects.update(timezone=THERE)


@pytest.fixture
def said(ada):
    chat = make_conversation(ada)
    return conversations.record_customer_message(chat.pk, client_id="a", text="Hello", now=NOW)


def test_the_desk_shows_the_businesss_time_and_names_it(client, sam, said):
    client.force_login(sam)

    page = client.get(f"/inbox/chat/{said.message.conversation_id}/").content.decode()

    assert f">{OURS}</time>" in page
    assert f">{SERVERS}</time>" not in page
    assert "Tokyo time" in page


def test_the_admin_shows_the_same_time(client, said):
    client.force_login(User.objects.create_superuser("boss", password="x"))
    pk = said.message.conversation_id

    page = client.get(reverse("admin:chat_conversation_change", args=[pk])).content.decode()

    assert OURS in page or "midnight" in page
    assert SERVERS not in page
    assert "3 p.m." not in page


@pytest.mark.parametrize(("hers", "shown"), [("", OURS), ("Europe/Paris", "16:00")])
def test_a_page_without_script_shows_her_time_or_else_the_businesss(client, ada, said, hers, shown):
    ada.timezone = hers
    ada.save()
    client.cookies[identity.COOKIE] = identity.issue(ada.pk, address="", now=timezone.now())

    page = client.get(reverse("chat:page")).content.decode()

    assert f">{shown}</time>" in page


def test_a_misspelt_zone_costs_no_page(client, sam, ada, said):
    Business.objects.update(timezone="Europe/Nowhere")
    client.force_login(sam)
    client.cookies[identity.COOKIE] = identity.issue(ada.pk, address="", now=timezone.now())

    for path in ("/inbox/", "/inbox/reports/", reverse("chat:page")):
        assert client.get(path).status_code == 200
