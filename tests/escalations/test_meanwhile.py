"""What a colleague did a moment ago, and what cannot be stored, is said and breaks no page."""

import pytest

from escalations import claim
from escalations.models import Draft, Gap, StaffNote
from memory.models import Answer
from tests.factories import NOW


@pytest.fixture
def desk(client, sam):
    client.force_login(sam)
    return client


@pytest.fixture
def claimed(escalation, sam):
    claim.claim(escalation.pk, staff=sam, now=NOW)
    return escalation


@pytest.mark.parametrize("text", ["half\x00way", "x" * 10_001])
def test_what_cannot_be_stored_is_said_and_breaks_no_page(desk, claimed, text):
    note = {"text": text, "escalation": claimed.pk}

    shown = desk.post(f"/inbox/chat/{claimed.conversation_id}/note/", note, follow=True)
    kept = desk.post(f"/inbox/{claimed.pk}/draft/", {"text": text, "seen_seq": 1})

    assert "This message" in shown.content.decode()
    assert not StaffNote.objects.exists()
    assert kept.status_code == 422
    assert not Draft.objects.exists()


class TestAnAnswerThatWasTakenOutOfUseMeanwhile:
    @pytest.fixture
    def retired(self, db):
        return Answer.objects.create(
            title="Rinsing?", parts=["24 h"], said_at=NOW, recorded_at=NOW, status="retracted"
        )

    def test_is_not_sent(self, desk, claimed, retired):
        question = {"question": claimed.questions.get().pk}

        page = desk.post(f"/inbox/{claimed.pk}/answer/{retired.pk}/", question, follow=True)

        assert "taken out of use" in page.content.decode()
        assert claimed.questions.get().answer is None

    def test_is_not_given_to_all_who_wait(self, desk, escalation, retired):
        asked = escalation.questions.get()
        Gap.objects.filter(pk=asked.gap_id).update(answer=retired)

        desk.post(f"/inbox/gaps/{asked.gap_id}/", {"question": [asked.pk]})

        assert escalation.questions.get().answer is None

    def test_is_not_found_right_a_moment_later(self, desk, retired, monkeypatch):
        Answer.objects.filter(pk=retired.pk).update(status="active", needs_review=True)

        def colleague(pk, **kwargs):
            raise LookupError(f"answer {pk} is not in use")

        monkeypatch.setattr("memory.services.still_right", colleague)
        verdict = {"kind": "answer", "pk": retired.pk, "decision": "approve"}

        page = desk.post("/inbox/review/decide/", verdict, follow=True)

        assert "This was changed meanwhile" in page.content.decode()
