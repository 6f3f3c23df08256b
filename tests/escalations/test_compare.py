"""An answer that touches what is grave about her: shown beside it, and sent by nobody unawares."""

import pytest
from django.urls import reverse

from escalations import claim, compare, fanout, gaps, reply
from escalations.models import Escalation, Gap, MemoryView
from memory import services
from memory.models import Memory
from tests.escalations.conftest import QUESTION
from tests.escalations.test_console import htmx
from tests.factories import NOW, make_topic

WORDS = "Take ibuprofen after the meal."


@pytest.fixture
def desk(client, sam):
    client.force_login(sam)
    return client


@pytest.fixture
def allergies(db):
    return make_topic(
        "allergies",
        label="Allergies",
        cardinality="many",
        permanent=True,
        sensitive=True,
        examples=["I'm allergic to ibuprofen", "I can't take penicillin, I react badly to it"],
    )


@pytest.fixture
def answer(db):
    return services.add_answer(title=QUESTION, parts=[WORDS], by="staff:1", now=NOW)


@pytest.fixture
def told(allergies):
    def tell(customer, text="I'm allergic to ibuprofen"):
        return Memory.objects.create(
            customer=customer,
            topic=allergies,
            category=allergies.category,
            permanent=True,
            sensitive=True,
            text=text,
            value="ibuprofen",
            stated_at=NOW,
            recorded_at=NOW,
            confirmed_at=NOW,
        )

    return tell


def send(client, escalation, answer, **more):
    address = reverse("escalations:send_answer", args=[escalation.pk, answer.pk])
    data = {"question": escalation.questions.get().pk, "seen_seq": 99} | more
    return htmx(client, address, data)


class TestAtTheDesk:
    def test_fact_and_answer_stand_side_by_side(self, desk, escalation, ada, told, answer):
        told(ada)

        page = desk.get(reverse("escalations:detail", args=[escalation.pk])).content.decode()

        sides = page.split('class="desk__sides"')[1].split("</form>")[0]
        assert "allergic to ibuprofen" in sides
        assert WORDS in sides
        assert 'name="compared"' in sides

    def test_who_saw_it_is_written_down_once(self, desk, escalation, ada, told, answer, sam):
        told(ada)

        for _ in range(2):
            desk.get(reverse("escalations:detail", args=[escalation.pk]))

        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (sam, ada, ["allergies"])

    def test_nothing_is_sent_unless_somebody_has_compared(
        self, desk, escalation, ada, told, answer
    ):
        told(ada)

        shown = send(desk, escalation, answer).content.decode()

        assert "Not sent: it touches what we know of the customer (Allergies)" in shown
        assert "I have compared the two" in shown
        assert not escalation.conversation.messages.filter(kind="answer").exists()

        send(desk, escalation, answer, compared="1")
        assert escalation.conversation.messages.get(kind="answer").text == WORDS

    def test_what_she_told_in_this_chat_counts_as_well(self, desk, ask, ada, allergies, answer):
        hers = ask(ada, f"I'm allergic to ibuprofen. {QUESTION}")

        send(desk, hers, answer)

        assert not hers.conversation.messages.filter(kind="answer").exists()

    def test_an_answer_that_touches_nothing_is_one_tap(self, desk, escalation, ben, told, answer):
        told(ben)

        page = desk.get(reverse("escalations:detail", args=[escalation.pk])).content.decode()
        assert "desk__sides" not in page

        send(desk, escalation, answer)
        assert escalation.conversation.messages.get(kind="answer").text == WORDS


class TestWhatIsTyped:
    def write(self, desk, escalation, text, **more):
        address = reverse("escalations:send", args=[escalation.pk])
        return htmx(desk, address, {"text": text, "seen_seq": 99} | more).content.decode()

    def sent(self, escalation):
        return list(
            escalation.conversation.messages.filter(sender="staff", kind="message")
            .order_by("seq")
            .values_list("text", flat=True)
        )

    def test_is_not_sent_unless_somebody_has_compared(self, desk, escalation, ada, told, sam):
        told(ada)

        shown = self.write(desk, escalation, WORDS)

        assert "allergic to ibuprofen" in shown
        assert "I have compared the two" in shown
        assert not self.sent(escalation)
        assert Escalation.objects.get(pk=escalation.pk).claimed_by is None
        look = MemoryView.objects.get()
        assert (look.staff, look.customer, look.topics) == (sam, ada, ["allergies"])

        self.write(desk, escalation, WORDS, compared="Allergies")
        assert self.sent(escalation) == [WORDS]

    def test_is_held_against_the_question_too(self, desk, ask, ada, told):
        told(ada)
        hers = ask(ada, "Can I take ibuprofen?")

        assert "I have compared the two" in self.write(desk, hers, "Yes, after the meal.")
        assert not self.sent(hers)

    def test_about_the_same_is_compared_once(self, desk, escalation, ada, told):
        told(ada)
        self.write(desk, escalation, WORDS, compared="Allergies")

        self.write(desk, escalation, "Not more than two ibuprofen a day.")

        assert len(self.sent(escalation)) == 2

    def test_what_was_compared_says_nothing_of_something_else(self, desk, escalation, ada, told):
        told(ada)

        self.write(desk, escalation, WORDS, compared="Pregnancy")

        assert not self.sent(escalation)

    def test_without_javascript_it_stays_in_the_box_beside_what_it_touches(
        self, desk, escalation, ada, told
    ):
        told(ada)
        address = reverse("escalations:send", args=[escalation.pk])

        page = desk.post(address, {"text": WORDS, "seen_seq": 99}, follow=True).content.decode()

        box = page.split('<textarea id="reply-text"')[1].split("</textarea>")[0]
        assert WORDS in box
        tick = page.split('id="touched"')[1].split('id="reply-bar"')[0]
        assert "allergic to ibuprofen" in tick
        assert 'value="Allergies"' in tick

    def test_that_touches_nothing_is_sent_at_once(self, desk, escalation, ben, told):
        told(ben)

        self.write(desk, escalation, WORDS)

        assert self.sent(escalation) == [WORDS]

    def test_to_somebody_who_asked_nothing_is_compared_as_well(self, desk, ben, told, queue):
        told(ben)
        address = reverse("escalations:write_first", args=[ben.pk])

        page = desk.post(address, {"text": WORDS}).content.decode()
        assert "allergic to ibuprofen" in page
        assert WORDS in page
        assert not Escalation.objects.exists()

        desk.post(address, {"text": WORDS, "compared": "Allergies"})
        assert self.sent(Escalation.objects.get()) == [WORDS]


class TestAllWhoWait:
    def test_whom_it_touches_is_listed_with_the_reason_and_left_out(
        self,
        desk,
        ask,
        ada,
        ben,
        told,
        answer,
    ):
        told(ada)
        hers, his = ask(ada), ask(ben)
        gap = his.questions.get().gap
        address = reverse("escalations:waiting", args=[gap.pk])

        page = desk.get(f"{address}?answer={answer.pk}").content.decode()
        left_out = page.split('id="left-out"')[1].split("</section>")[0]
        assert "Ada" in left_out
        assert "Allergies" in left_out
        assert "ibuprofen" not in left_out
        assert "Ada" not in page.split("<fieldset")[1]

        both = [str(e.questions.get().pk) for e in (hers, his)]
        desk.post(address, {"answer": answer.pk, "question": both})

        assert hers.conversation.messages.filter(kind="answer").count() == 0
        assert his.conversation.messages.filter(kind="answer").count() == 1
        assert Escalation.objects.get(pk=hers.pk).closed_at is None

    def test_leave_the_question_open_where_nobody_could_be_told(self, desk, ask, ada, told, answer):
        told(ada)
        question = ask(ada).questions.get()
        address = reverse("escalations:waiting", args=[question.gap_id])

        desk.post(address, {"answer": answer.pk, "question": [question.pk]})

        assert gaps.unanswered().get().pk == question.gap_id
        assert "answered, 1 still waiting" not in desk.get("/inbox/gaps/").content.decode()

    def test_whose_question_was_settled_meanwhile_are_named(
        self, desk, ask, ben, kim, answer, monkeypatch
    ):
        his = ask(ben)
        question, compared = his.questions.get(), compare.touched_by

        def meanwhile(*args, **kwargs):
            claim.claim(his.pk, staff=kim, now=NOW)
            reply.resolve(his.pk, staff=kim, now=NOW)
            return compared(*args, **kwargs)

        monkeypatch.setattr(compare, "touched_by", meanwhile)
        address = reverse("escalations:waiting", args=[question.gap_id])
        data = {"answer": answer.pk, "question": [question.pk]}
        page = desk.post(address, data, follow=True).content.decode()

        assert "Left out: Ben. It was settled, or more was asked, meanwhile." in page
        assert not his.conversation.messages.filter(kind="answer").exists()

    def test_whose_question_was_answered_meanwhile_are_not_set_apart(self, ask, ben, answer):
        question = ask(ben).questions.get()
        gaps.answered(question, answer, now=NOW)

        gaps.set_apart([question])

        assert Gap.objects.get() == question.gap

    def test_however_it_is_called(self, ask, ada, ben, told, answer, sam):
        told(ada)
        hers, his = ask(ada), ask(ben)
        questions = gaps.also_waiting([his.questions.get().gap_id], but=0)

        result = fanout.answer_all(questions, answer.pk, staff=sam, now=NOW)

        assert [q.escalation_id for q, _topics in result.touched] == [hers.pk]
        assert [q.escalation_id for q in result.told] == [his.pk]
