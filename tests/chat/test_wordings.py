"""The business's own sentences: what is changed can be read, and what is filled in stays."""

import pytest
from django.contrib.auth.models import User

from chat import wordings
from chat.models import Wording


@pytest.fixture
def office(client, db):
    client.force_login(User.objects.create_superuser("boss"))
    return client


def save(office, key, *lines):
    data = {"key": key, "variants": "\n".join(lines)}
    return office.post("/admin/chat/wording/add/", data).content.decode()


@pytest.mark.parametrize(
    ("key", "lines", "said"),
    [
        ("noted", ["Noted: {facts}", "Got it!"], "“Got it!” lacks {facts}."),
        ("who_named", ["{name}"], "lacks {role}."),
        ("noted", ["Got {facts} {when}"], "nothing fills in {when}."),
        ("thanks", ["Any time, {name}"], "nothing fills in {name}."),
        ("noted", ["Got { facts }"], "lacks {facts}."),
    ],
)
def test_words_that_lose_or_invent_a_placeholder_are_refused(office, key, lines, said):
    assert said in save(office, key, *lines)
    assert not Wording.objects.exists()


def test_words_with_the_placeholders_of_the_default_are_said(office):
    save(office, "noted", "Got it! {facts}")
    assert wordings.say("noted", 1, 1, facts="You ski.") == "Got it! You ski."


@pytest.mark.parametrize("variants", wordings.DEFAULTS.items(), ids=lambda item: item[0])
def test_the_words_that_come_with_it_would_be_accepted(variants):
    assert not wordings.faults(*variants)


def test_what_is_changed_can_be_read_to_its_end(office):
    wording = Wording.objects.create(key="personal", variants=["One moment."])
    whole = wordings.DEFAULTS["personal"][0]

    assert whole in office.get(f"/admin/chat/wording/{wording.pk}/change/").content.decode()
    assert whole in office.get("/admin/chat/wording/add/").content.decode()
