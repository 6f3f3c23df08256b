"""A person's words: kept byte for byte, found again, delivered only when enough people agree."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from config.demo.topics import TOPICS
from memory import services
from memory.models import Answer, AnswerMatch, Customer, Memory, MemoryEvent, Topic
from memory.services.stock import stock
from memory.types import Said, Status, Transcript
from tests.factories import NOW, make_customer, make_staff, make_topic

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
LATER = NOW + HOUR

WORDS = "Yes – “two hours” are free.\r\n\r\nBring the ticket:\tgrün, not é1e. ✓  "


@pytest.fixture
def sam():
    return make_staff("sam")


@pytest.fixture
def ada():
    return make_customer("Ada", external_id="ada")


@pytest.fixture
def ben():
    return make_customer("Ben", external_id="ben")


@pytest.fixture
def parking(sam):
    return answer("Where can I park my car?", "Behind the building; two hours are free.", sam)


@pytest.fixture
def store(parking, sam):
    answer("When are you open?", "Monday to Friday, nine to five.", sam)
    answer("How do I send a parcel back?", "Bring it to the counter with its receipt.", sam)
    answer("Can I pay by card?", "All cards, from one euro on.", sam)
    return parking


def answer(title, words, staff, **more):
    return services.add_answer(
        title=title, parts=[words], by=f"staff:{staff.pk}", staff_id=staff.pk, now=NOW, **more
    )


def ask(question, customer, **more):
    return services.answer_for(question, customer_id=customer.pk, **{"now": NOW} | more)


class TestWords:
    def test_come_back_byte_for_byte(self, sam, ada):
        answer("May I park?", WORDS, sam)

        found = ask("may i park", ada)

        assert found.way == "deliver"
        assert found.candidates[0].parts == (WORDS,)

    def test_of_several_messages_stay_apart(self, sam, ada):
        parts = ["First the left one.", "Then the right one.\r\n"]
        services.add_answer(title="How?", parts=parts, by="staff:1", now=NOW)

        assert ask("how", ada).candidates[0].parts == tuple(parts)

    def test_are_not_offered_once_more_to_who_asks_on_after_them(self, store, ada):
        said = ["where can I park", "Behind the building; two hours are free."]

        assert ask("and for a boat?", ada, before=said).way == "gap"
        assert (
            ask("and for a car?", ada, before=["where can I leave a van, parked?"]).way == "offer"
        )

    def test_are_found_from_their_commit_on_before_any_worker_ran(self, store, ada):
        assert store.title_embedding is None

        found = ask("is there somewhere to park a car", ada)

        assert found.way == "offer"
        assert found.candidates[0].answer_id == store.pk

    def test_that_are_newer_take_the_place_of_older_ones_to_the_same_title(self, parking, sam):
        newer = answer("where can i park my car", "Nowhere, since May.", sam)

        parking.refresh_from_db()
        assert parking.status == Status.SUPERSEDED
        assert parking.superseded_by == newer

    def test_to_the_same_title_that_differ_are_shown_side_by_side_first(self, parking):
        title = "Where can I park my car?"

        assert services.contradicts(title=title, parts=["Nowhere."]) == parking
        assert services.contradicts(title=title, parts=parking.parts) is None

    def test_a_secret_in_a_wording_is_not_kept(self, parking, sam):
        asked = "my password is Hunter2!x, where do I park?"

        services.confirm_wording(parking.pk, asked=asked, staff_id=sam.pk, now=NOW)

        assert "Hunter2" not in AnswerMatch.objects.get(outcome="confirmed").asked

    def test_revised_keep_the_wordings_that_customers_use(self, parking, sam, ada):
        services.confirm_wording(parking.pk, asked="a place for my car", staff_id=sam.pk, now=NOW)

        newer = services.revise_answer(
            parking.pk, title=parking.title, parts=["In the yard."], by="staff:1", now=NOW
        )

        assert ask("a place for my car", ada).candidates[0].answer_id == newer.pk

    def test_retired_are_not_found_again(self, parking, ada):
        services.retire_answer(parking.pk, by="staff:1", reason="wrong", now=NOW)

        assert ask("where can i park my car", ada).way == "gap"

    def test_leave_an_event_for_each_change(self, parking):
        services.retire_answer(parking.pk, by="staff:1", reason="wrong", now=NOW)

        kinds = MemoryEvent.objects.filter(answer=parking).values_list("kind", flat=True)
        assert set(kinds) == {"answer.created", "answer.retired"}


class TestAnotherLanguage:
    ASKED, IN_ENGLISH = "¿dónde dejo el coche?", "where leave the car?"

    def test_is_found_by_its_words_in_english(self, store, ada):
        found = ask(self.ASKED, ada, glossed=self.IN_ENGLISH)

        assert found.way == "offer"
        assert found.candidates[0].answer_id == store.pk

    def test_is_given_where_staff_confirmed_her_own_words(self, store, sam, ada, ben):
        services.confirm_wording(
            store.pk, asked=self.ASKED, staff_id=sam.pk, customer_id=ada.pk, now=NOW
        )

        assert ask(self.ASKED, ben, glossed=self.IN_ENGLISH).way == "deliver"

    def test_is_written_down_as_it_was_asked(self, store, ada):
        found = ask(self.ASKED, ada, glossed=self.IN_ENGLISH)

        assert AnswerMatch.objects.get(pk=found.match_id).asked == self.ASKED


class TestOneWordingTwoAnswers:
    @pytest.fixture
    def cards(self, store):
        return Answer.objects.get(title="Can I pay by card?")

    def confirm(self, answer, sam, asked="how does it work here", **more):
        services.confirm_wording(answer.pk, asked=asked, staff_id=sam.pk, **{"now": NOW} | more)

    def test_gives_what_staff_said_last(self, store, cards, sam, ada):
        self.confirm(store, sam)
        self.confirm(cards, sam, now=LATER)

        found = ask("How does it work here?", ada)

        assert (found.way, found.candidates[0].answer_id) == ("deliver", cards.pk)

    def test_comes_back_when_staff_change_their_mind_again(self, store, cards, sam, ada):
        for n, answer in enumerate((store, cards, store)):
            self.confirm(answer, sam, now=NOW + n * HOUR)

        assert ask("How does it work here?", ada).candidates[0].answer_id == store.pk

    def test_counts_for_the_question_of_any_customer(self, store, cards, sam, ada, ben):
        self.confirm(store, sam, customer_id=ada.pk)
        self.confirm(cards, sam, customer_id=ben.pk, now=LATER)

        assert ask("How does it work here?", ada).candidates[0].answer_id == cards.pk

    def test_takes_it_from_a_title_that_staff_wrote_earlier(self, store, cards, sam, ada):
        self.confirm(cards, sam, asked="Where can I park my car?", now=LATER)

        found = ask("where can i park my car", ada)

        assert (found.way, found.candidates[0].answer_id) == ("deliver", cards.pk)

    def test_gives_way_to_a_title_that_staff_write_later(self, store, cards, sam, ada):
        self.confirm(cards, sam)
        newer = services.add_answer(
            title="How does it work here?", parts=["Take a number."], by="staff:1", now=LATER
        )

        assert ask("how does it work here", ada, now=LATER).candidates[0].answer_id == newer.pk

    def test_stands_against_what_customers_chose(self, store, cards, sam, ada, ben):
        for customer in (ada, ben):
            choose(store, customer)
        self.confirm(cards, sam, asked="any space for a car", now=LATER)

        assert ask("any space for a car", ada).candidates[0].answer_id == cards.pk

    def test_moves_whole_to_the_words_that_take_the_answers_place(self, store, sam, ada, ben):
        for customer in (ada, ben):
            self.confirm(store, sam, customer_id=customer.pk)

        newer = services.revise_answer(
            store.pk, title=store.title, parts=["In the yard."], by="staff:1", now=LATER
        )

        found = ask("how does it work here", ada, now=LATER)
        assert (found.way, found.candidates[0].answer_id) == ("deliver", newer.pk)

    def test_answermatch_one_answer_per_wording(self, store, cards, sam):
        self.confirm(store, sam)

        with pytest.raises(IntegrityError, match="answermatch_one_answer_per_wording"):
            AnswerMatch.objects.create(
                answer=cards, asked="How does it work here?", outcome="confirmed",
                asked_normalised="how does it work here", created_at=NOW,
            )  # fmt: skip


class TestVotes:
    def test_of_staff_deliver_at_once(self, store, sam, ada):
        services.confirm_wording(store.pk, asked="where do cars go", staff_id=sam.pk, now=NOW)

        assert ask("Where do cars go?", ada).way == "deliver"

    def test_of_two_identified_customers_deliver(self, store, ada, ben):
        for customer in (ada, ben):
            choose(store, customer)

        assert ask("any space for a car", make_customer("Cleo", external_id="c")).way == "deliver"

    def test_of_one_customer_deliver_nothing_however_often_she_presses(self, store, ada, ben):
        right = Answer.objects.get(title="Can I pay by card?")
        for n in range(100):
            choose(right, ada, "any space for a car" if n % 2 else f"any space for car {n}")

        assert ask("any space for a car", ben).way != "deliver"
        assert ask("where can i park my car", ben).candidates[0].answer_id == store.pk

    def test_of_two_who_pressed_wrong_deliver_nothing_where_others_meant_something_else(
        self, store, ada, ben
    ):
        for n in range(2):
            mean_something_else(store, make_customer(f"C{n}", external_id=f"c{n}"))
        choose(store, ada)
        choose(store, ben)

        assert ask("any space for a car", ada).way != "deliver"

    def test_of_many_deliver_though_one_pressed_wrong(self, store, ada, ben):
        mean_something_else(store, ada)
        for n in range(4):
            choose(store, make_customer(f"C{n}", external_id=f"c{n}"))

        assert ask("any space for a car", ben).way == "deliver"

    def test_for_the_title_itself_teach_nothing_new(self, store, sam, ada):
        """Kept twice, a title looked like two customers' words that agree to the letter."""
        services.confirm_wording(
            store.pk, asked="where can I park my car", staff_id=sam.pk, customer_id=ada.pk, now=NOW
        )

        [kept] = [s for s in stock(NOW).index.stored if s.id == store.pk]
        assert kept.wordings == (store.title,)

    def test_that_most_of_what_is_asked_is_new_make_offers_rare(self, store, ada):
        asked = "where do I leave the bicycle"
        assert ask(asked, ada).way == "offer"

        for n in range(60):
            customer = make_customer(f"C{n}", external_id=f"c{n}")
            mean_something_else(store, customer, asked=f"do you sell thing {n}")

        assert ask(asked, ada).way == "gap"

    def test_what_visitors_asked_staff_makes_no_offer_rarer(self, store, sam, ada):
        """Whoever took an offer has no voice there, so what reached staff is no measure."""
        for n in range(20):
            visitor = make_customer(f"V{n}", kind="visitor")
            services.capture_answer(
                title=f"Do you sell thing {n}?",
                parts=["We do."],
                scope="everyone",
                customer_id=visitor.pk,
                staff_id=sam.pk,
                asked=f"do you sell thing number {n}",
                now=NOW,
            )

        assert stock(NOW).index.cuts.offer < 0.3

    def test_of_one_browser_behind_many_tokens_deliver_nothing(self, store, ada):
        for n in range(30):
            choose(store, make_customer(f"V{n}", kind=Customer.Kind.VISITOR))

        assert ask("any space for a car", ada).way != "deliver"

    def test_against_what_staff_confirmed_change_no_delivery(self, store, sam, ada, ben):
        services.confirm_wording(store.pk, asked="where do cars go", staff_id=sam.pk, now=NOW)
        for _ in range(100):
            found = ask("where do cars go", ada)
            services.confirm_match(found.match_id, outcome="refused", customer_id=ada.pk, now=NOW)

        assert ask("where do cars go", ben).way == "deliver"
        store.refresh_from_db()
        assert store.needs_review

    def test_count_once_for_a_customer_an_answer_and_a_wording(self, store, ada):
        choose(store, ada)
        choose(store, ada)

        assert AnswerMatch.objects.filter(answer=store, outcome="chosen").count() == 1

    def test_are_cast_for_ones_own_questions_alone(self, store, ada, ben):
        found = ask("any space for a car", ada)

        with pytest.raises(AnswerMatch.DoesNotExist):
            services.confirm_match(
                found.match_id, outcome="chosen", answer_id=store.pk, customer_id=ben.pk, now=NOW
            )

    def test_for_what_was_not_offered_are_refused(self, store, ada):
        found = ask("my cat ate a lily", ada)

        with pytest.raises(ValueError, match="not offered"):
            services.confirm_match(
                found.match_id, outcome="chosen", answer_id=store.pk, customer_id=ada.pk, now=NOW
            )

    def test_go_with_their_customer(self, store, ada, sam):
        services.confirm_wording(
            store.pk, asked="where do cars go", staff_id=sam.pk, customer_id=ada.pk, now=NOW
        )
        services.erase(ada.pk, by="staff:1", now=NOW)

        assert not AnswerMatch.objects.filter(asked="where do cars go").exists()


def choose(answer, customer, asked="any space for a car"):
    _vote(answer, customer, asked, outcome="chosen", answer_id=answer.pk)


def mean_something_else(answer, customer, asked="any space for a car"):
    _vote(answer, customer, asked, outcome="something_else")


def _vote(answer, customer, asked, **how):
    match = AnswerMatch.objects.create(
        customer=customer,
        asked=asked,
        asked_normalised=asked,
        offered=[answer.pk],
        outcome="open",
        created_at=NOW,
    )
    services.confirm_match(match.pk, customer_id=customer.pk, now=NOW, **how)


class TestSafety:
    @pytest.fixture
    def allergy(self, ada):
        topic = make_topic("allergies", cardinality="many", permanent=True, sensitive=True)
        return Memory.objects.create(
            customer=ada,
            topic=topic,
            category="confirmed_fact",
            permanent=True,
            sensitive=True,
            text="I'm allergic to ibuprofen",
            value="ibuprofen",
            stated_at=NOW,
            recorded_at=NOW,
            confirmed_at=NOW,
        )

    def test_an_answer_that_names_what_she_must_not_have_goes_to_a_person(self, allergy, ada, sam):
        answer("What helps against the pain?", "Take ibuprofen after the meal.", sam)

        found = ask("what helps against the pain", ada)

        assert found.way == "gap"
        assert [f.value for f in found.blocked] == ["ibuprofen"]
        assert "allergies" in found.reason
        assert found.candidates  # a person sees both

    def test_a_question_that_names_it_does_too(self, allergy, ada, sam):
        answer("Is ibuprofen fine?", "One after each meal is fine for most.", sam)

        assert ask("is ibuprofen fine", ada).blocked

    def test_others_get_the_answer(self, allergy, ben, sam):
        answer("What helps against the pain?", "Take ibuprofen after the meal.", sam)

        assert ask("what helps against the pain", ben).way == "deliver"

    def test_a_fact_that_no_word_touches_blocks_nothing(self, allergy, ada, store):
        assert ask("where can i park my car", ada).way == "deliver"


SAID = [
    "I'm allergic to ibuprofen.",
    "I can't take ibuprofen",
    "Ibuprofen gives me hives.",
    "I had a bad reaction to ibuprofen once.",
    "I react badly to ibuprofen",
]


class TestWhatIsNotStoredYet:
    """An allergy counts from the moment in which she tells it."""

    @pytest.fixture(autouse=True)
    def practice(self, sam):
        for topic in TOPICS:
            make_topic(**topic)
        answer("What helps against the pain?", "Take ibuprofen after the meal.", sam)

    def in_chat(self, *texts):
        said = tuple(Said(n, "customer", text, NOW) for n, text in enumerate(texts, 1))
        return lambda: Transcript(said)

    @pytest.mark.parametrize("said", SAID)
    def test_said_in_this_chat(self, ada, said):
        chat = self.in_chat(said, "What helps against the pain?")

        found = ask("What helps against the pain?", ada, chat=chat)

        assert found.way == "gap"
        assert [f.topic for f in found.blocked] == ["allergies"]
        assert found.blocked[0].id is None

    @pytest.mark.parametrize("said", SAID)
    def test_said_in_the_very_question(self, ada, said):
        question = f"{said.rstrip('.')}. What helps against the pain?"
        services.confirm_wording(Answer.objects.get().pk, asked=question, now=NOW, staff_id=None)

        found = ask(question, ada, chat=self.in_chat(question))

        assert found.way == "gap"
        assert found.blocked

    @pytest.mark.parametrize("said", SAID)
    def test_said_in_a_chat_that_nobody_has_read(self, ada, ben, said):
        services.remember_later(
            self.in_chat(said)(), customer_id=ada.pk, ref="conversation:1:1", now=NOW
        )

        assert ask("what helps against the pain", ada).blocked
        assert ask("what helps against the pain", ben).way == "deliver"

    @pytest.mark.parametrize("status", [Status.PENDING, Status.ACTIVE])
    def test_waiting_for_a_person_or_from_a_later_day_on(self, ada, status):
        Memory.objects.create(
            customer=ada,
            topic=Topic.objects.get(key="allergies"),
            category="confirmed_fact",
            status=status,
            valid_from=None if status == Status.PENDING else NOW + timedelta(days=9),
            permanent=True,
            sensitive=True,
            text="Ibuprofen gives me hives",
            value="hives",
            stated_at=NOW,
            recorded_at=NOW,
            confirmed_at=NOW,
        )

        assert ask("what helps against the pain", ada).blocked

    def test_what_does_not_touch_the_answer_blocks_nothing(self, ada):
        chat = self.in_chat(
            "I'm allergic to nickel. And my mornings are free.", "Can I take ibuprofen?"
        )

        found = ask("What helps against the pain?", ada, chat=chat)

        assert (found.way, found.blocked) == ("deliver", ())

    def test_an_answer_that_was_not_shown_cannot_be_chosen_either(self, ada, sam):
        """A model sees the other candidates as well."""
        answer("What helps against swelling?", "Ice, ten minutes an hour.", sam)

        found = ask("what helps against swelling", ada, chat=self.in_chat(SAID[0]))

        assert found.way == "deliver"
        assert all("ibuprofen" not in " ".join(c.parts) for c in found.candidates)


class TestKeeping:
    def test_what_is_for_everyone_and_what_is_for_her(self, sam, ada):
        common = {"customer_id": ada.pk, "now": NOW, "staff_id": sam.pk, "title": "Parking?"}

        shared = services.capture_answer(parts=["Behind us."], scope="everyone", **common)
        hers = services.capture_answer(parts=["Your place is 12."], scope="customer", **common)

        assert isinstance(shared, Answer)
        assert isinstance(hers, Memory)
        assert (hers.customer, hers.text, hers.status) == (ada, "Your place is 12.", "active")
        assert services.capture_answer(parts=["Hm."], scope="none", **common) is None

    def test_the_words_she_asked_in_find_it_the_next_time(self, sam, ada, ben):
        kept = services.capture_answer(
            title="Where is the car park?",
            parts=["Behind us."],
            scope="everyone",
            customer_id=ada.pk,
            staff_id=sam.pk,
            now=NOW,
            asked="n where do i leave the car then",
        )

        found = ask("n where do i leave the car then", ben)

        assert (found.way, found.candidates[0].answer_id) == ("deliver", kept.pk)

    @pytest.fixture
    def hers(self, sam, ada):
        return services.capture_answer(
            title="When will my bridge be ready?",
            parts=["Yours lies here\u00a0since noon.", "Come by  – any time."],
            scope="customer",
            customer_id=ada.pk,
            staff_id=sam.pk,
            role="dental hygienist",
            author_name="Sam",
            now=NOW,
            asked="so when is my bridge done",
        )

    @pytest.mark.parametrize(
        "asked",
        [
            "When will my bridge be ready?",
            "so when is my bridge done",
            "when will my bridge be ready",
        ],
    )
    def test_what_was_for_her_comes_back_to_her_word_for_word(self, hers, ada, store, asked):
        found = ask(asked, ada)

        assert found.way == "deliver"
        (card,) = found.candidates
        assert card.parts == ("Yours lies here\u00a0since noon.", "Come by  – any time.")
        assert (card.role, card.author, card.said_on) == ("dental hygienist", "Sam", NOW)
        assert card.memory_id == hers.pk

    @pytest.mark.parametrize(
        "asked",
        ["When will my bridge be ready?", "so when is my bridge done", "is my bridge ready yet?"],
    )
    def test_and_to_nobody_else(self, hers, ben, store, asked):
        found = ask(asked, ben)

        assert all(c.memory_id is None for c in found.candidates)
        assert services.own_answer(hers.pk, customer_id=ben.pk, now=NOW) is None
        assert all("since noon" not in " ".join(c.parts) for c in found.candidates)

    def test_in_other_words_she_is_asked_and_her_choice_makes_them_sure(self, hers, ada, store):
        asked = "is my bridge ready by now?"
        found = ask(asked, ada)
        assert found.way == "offer"
        assert found.candidates[0].key == f"m{hers.pk}"

        services.meant_hers(hers.pk, customer_id=ada.pk, asked=asked, now=NOW)

        assert ask(asked, ada).way == "deliver"
        assert ask(asked, ada).candidates[0].memory_id == hers.pk

    def test_another_question_gets_what_everybody_gets(self, hers, ada, store):
        found = ask("where can i park my car", ada)

        assert (found.way, found.candidates[0].answer_id) == ("deliver", store.pk)

    def test_what_she_told_since_then_is_held_against_her_own_answer_too(self, sam, ada):
        topic = make_topic("allergies", permanent=True, label="Allergies")
        facts = {"customer": ada, "topic": topic, "category": topic.category, "permanent": True}
        facts |= {"recorded_at": NOW, "confirmed_at": NOW, "text": "Allergic to latex"}
        old = Memory.objects.create(**facts, value="latex", stated_at=NOW - timedelta(days=1))
        services.capture_answer(
            title="Which gloves do you use for me?",
            parts=["The ones without latex."],
            scope="customer",
            customer_id=ada.pk,
            staff_id=sam.pk,
            now=NOW,
        )
        assert ask("which gloves do you use for me", ada).way == "deliver"

        Memory.objects.filter(pk=old.pk).update(stated_at=NOW + timedelta(days=1))
        assert ask("which gloves do you use for me", ada).blocked

    def test_forgotten_it_does_not_come_back(self, hers, ada):
        services.forget(ada.pk, memory_id=hers.pk, by="staff:1", now=NOW)

        assert ask("When will my bridge be ready?", ada).way == "gap"

    @pytest.mark.parametrize("embedded", [True, False])
    @pytest.mark.parametrize(
        "again",
        ["do you post seed potatoes abroad now?", "can you send seed potatoes abroad by post?"],
    )
    def test_the_same_question_asked_again_has_the_newer_answer(self, ada, ben, again, embedded):
        first = "do you post seed potatoes abroad?"
        for who, asked, told in (
            (ada, "do you sell apple trees?", "We sell apple trees from October to March."),
            (ada, first, "We don't post seed potatoes abroad, to no country."),
            (ben, again, "We post seed potatoes abroad from 10 kg on."),
        ):
            if embedded:
                services.embed_answers()
            said = (Said(1, "customer", asked, NOW), Said(2, "staff", told, NOW))
            services.capture_staff_words(
                Transcript(said), customer_id=who.pk, now=NOW, source_ref="conversation:1"
            )

        active = Answer.objects.filter(status=Status.ACTIVE).order_by("pk")
        assert [a.title for a in active] == ["do you sell apple trees?", again]

    @pytest.mark.parametrize(
        ("again", "told", "left"),
        [
            (
                "carving names into a stone, is that possible yet?",
                "Yes, since April we carve names into any stone you like.",
                1,
            ),
            ("which stones do you sell?", "Granite and slate, and since April marble too.", 2),
        ],
    )
    def test_what_has_changed_takes_the_old_words_place_however_it_is_asked(
        self, ada, ben, again, told, left
    ):
        for who, asked, words in (
            (ada, "do you carve names into stones", "We don't carve names, only the year."),
            (ben, again, told),
        ):
            said = (Said(1, "customer", asked, NOW), Said(2, "staff", words, NOW))
            services.capture_staff_words(
                Transcript(said), customer_id=who.pk, now=NOW, source_ref="conversation:1"
            )

        assert Answer.objects.filter(status=Status.ACTIVE).count() == left

    def test_runs_of_staff_words_are_judged_alone(self, ada):
        said = [
            ("customer", "Can I swim with it? And when is mine ready?"),
            ("staff", "Hi, Joel here, give me a sec."),
            ("customer", "sure"),
            ("staff", "No swimming for at least a week, the water gets under the edge."),
            ("customer", "and mine?"),
            ("staff", "Yours is ready since this noon, number 2026-118-0457."),
        ]
        transcript = Transcript(
            tuple(Said(n, who, text, NOW) for n, (who, text) in enumerate(said, 1))
        )

        kept = services.capture_staff_words(
            transcript, customer_id=ada.pk, now=NOW, source_ref="conversation:1"
        )

        assert [type(k).__name__ for k in kept] == ["Answer", "Memory"]
        assert kept[0].parts == ["No swimming for at least a week, the water gets under the edge."]


class TestImport:
    def test_stores_each_line(self, tmp_path, ada):
        file = tmp_path / "faq.csv"
        file.write_text('title,answer,wordings\nOpen?,"Nine\nto five",when|hours please\n')

        call_command("import_answers", file, stdout=open("/dev/null", "w"))  # noqa: SIM115

        assert Answer.objects.get().parts == ["Nine\nto five"]
        assert ask("hours please", ada).way == "deliver"

    def test_names_the_line_of_each_error_and_stores_nothing(self, tmp_path):
        file = tmp_path / "faq.csv"
        file.write_text("title,answer,review_on\nOpen?,Nine,soon\n,x,\nShut?,Five,2026-12-31\n")

        with pytest.raises(CommandError, match=r"(?s)line 2: .*line 3: "):
            call_command("import_answers", file)

        assert not Answer.objects.exists()

    def test_only_a_newline_ends_a_row(self, tmp_path):
        file = tmp_path / "faq.csv"
        answers = ["one\u2028two", "three\x85four", "five\x0csix"]
        rows = "".join(f"Question {n}?,{text}\n" for n, text in enumerate(answers))
        file.write_text(f"title,answer\n{rows}", encoding="utf-8")

        call_command("import_answers", file, stdout=io.StringIO())

        assert [a.parts for a in Answer.objects.order_by("pk")] == [[text] for text in answers]

    @pytest.mark.parametrize(
        "text",
        [
            "title,answer\nOpen?,nine\x00five\n",
            f"title,answer\nOpen?,{'x' * 140_000}\n",
            'title,answer\nOpen?,"Nine\nShut?,Five\n',
            "title,answer,answer\nOpen?,Nine,Ten\n",
            f"title,answer\n{'x' * 1001},Nine\n",
            "title,answer,valid_until\nOpen?,Nine,9999-12-31\n",
        ],
        ids=["nul", "long cell", "open quote", "column twice", "long title", "far away"],
    )
    def test_says_in_one_sentence_what_it_cannot_take(self, tmp_path, text):
        file = tmp_path / "faq.csv"
        file.write_text(text)

        with pytest.raises(CommandError, match=r"^line \d: "):
            call_command("import_answers", file)

        assert not Answer.objects.exists()

    def test_a_dry_run_stores_nothing(self, tmp_path, capsys):
        file = tmp_path / "faq.csv"
        file.write_text("title,answer\nOpen?,Nine\n")

        call_command("import_answers", file, dry_run=True)

        assert not Answer.objects.exists()
        assert "1 answers would be stored" in capsys.readouterr().out


class TestNotes:
    def test_are_found_by_messages_that_mean_them(self, ada):
        services.save_note(
            title="Rescheduling",
            examples=["I need to move my appointment", "can I come on another day instead"],
            not_examples=["how late can I cancel"],
            text="Of course.",
            by="staff:1",
            now=NOW,
        )

        assert services.note_for("could i move the appointment", customer_id=ada.pk, now=NOW)
        assert not services.note_for("how late can i cancel", customer_id=ada.pk, now=NOW)

    def test_wait_for_the_fact_that_they_need(self, ada, ben):
        topic = make_topic("times")
        services.save_note(
            title="Booking",
            examples=["I need an appointment"],
            topic=topic,
            text="You like {times}.",
            by="staff:1",
            now=NOW,
        )
        services.remember(ada.pk, topic="times", value="mornings", text="", by="staff:1", now=NOW)
        Memory.objects.filter(customer=ada).update(text="mornings")

        asked = "i need an appointment"
        assert services.note_for(asked, customer_id=ada.pk, now=NOW).usable
        assert not services.note_for(asked, customer_id=ben.pk, now=NOW).usable
        assert services.note_for(asked, customer_id=ben.pk, now=NOW, known={"times"}).usable
