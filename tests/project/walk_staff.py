"""The same walk: what staff, programs and admins can write of a customer."""

from __future__ import annotations

import re
from typing import Any

from config.api import api
from memory.services.topics import FIELDS
from tests.project.test_up import wait_for
from tests.project.walk import PLAN, UNKNOWN, Customers, one, rows
from tests.project.walking import Program

# Judged by rule and kept for everybody with its answer, as a title that holds nothing of hers.
BLEACHING = "How long does the bleaching of a tooth last when one smokes?"
# What admins do to rows that they ticked in a list; some of it is refused, in words.
ACTIONS = {
    "memory_memory": "confirm restore forget approve reject",
    "memory_answermatch": "confirm refuse",
    "memory_conflict": "undo keep replace both",
    "escalations_delivery": "try_again",
}
ACTS_ON = {
    "memory_memory": "status = 'active'",
    "memory_answermatch": "answer_id IS NOT NULL AND customer_id IS NOT NULL",
    "memory_conflict": "true",
    "escalations_delivery": "customer_id IS NOT NULL",
}


class Walk(Customers):
    mails: set[tuple[str, str]]

    def all(self) -> None:
        self.mails = set()
        for step in (
            self.everybody_comes_in,
            self.frames_of_every_kind,
            self.forms_of_the_chat,
            self.the_desk_answers,
            self.the_desk_changes_hands,
            self.programs_call,
            self.memory_reads,
            self.the_desk_knows_her,
            self.she_says_otherwise,
            self.what_waits_is_decided,
            self.customers_look_again,
            self.programs_look_again,
            self.admins_put_right,
            self.everything_is_looked_at,
        ):
            step()
            # A mail that nobody needs any more goes.
            self.mails |= set(rows("SELECT kind, subject || body FROM escalations_delivery"))

    # --- the desk ---------------------------------------------------------------------------------

    def _waiting(self) -> list[tuple[int, int]]:
        """Open escalations with their conversation, hers first."""
        return rows(
            "SELECT e.id, conversation_id FROM escalations_escalation e JOIN chat_conversation c"
            " ON c.id = conversation_id WHERE e.closed_at IS NULL AND handler <> 'staff' AND"
            " EXISTS (SELECT 1 FROM escalations_question q WHERE q.escalation_id = e.id)"
            " ORDER BY customer_id = %s DESC, e.id DESC",
            self.her,
        )

    def _sends(self, name: str, pk: int, **words: Any) -> None:
        """Once more where it touches what is grave about her, as somebody who compared the two."""
        said = self.kim.post(name, pk, anyhow=True, **words)
        if box := re.search(r'name="compared" value="([^"]+)"', said):
            self.kim.post(name, pk, compared=box[1], **words)

    def the_desk_answers(self) -> None:
        """Kept for her alone; the next one for everybody, in words that hold nothing of hers."""
        for scope, of in (("customer", "text title"), ("everyone", "")):
            pk, chat = self._waiting()[0]
            self.kim.get(f"/inbox/{pk}/")
            self.kim.post("escalations:claim", pk)
            self.kim.post("escalations:draft", pk, of="text")
            self.kim.post("escalations:note", chat, of="text", escalation=pk)
            self.kim.post("escalations:look_at_request", pk)
            text = f"Wait a day before the {scope} thing. " + ("{mark}" if of else "")
            self._sends("escalations:send", pk, of=of.replace(" title", ""), text=text)
            self.kim.get(f"/inbox/{pk}/keep/")
            seqs = rows(
                "SELECT seq, q.id FROM chat_message m, escalations_question q WHERE m.sender ="
                " 'staff' AND m.conversation_id = %s AND q.escalation_id = %s",
                chat,
                pk,
            )
            kept: dict[str, Any] = {f"keep-{seq}": scope for seq, _ in seqs}
            kept["question"] = seqs[0][1]
            title: dict[str, Any] = {
                "title": f"What about the {scope} thing?" + (" {mark}" if of else "")
            }
            self.kim.post("escalations:keep", pk, of=of.replace("text ", ""), **kept, **title)

    def the_desk_changes_hands(self) -> None:
        pk, chat = self._waiting()[0]
        self.kim.post("escalations:claim", pk)
        self.kim.post("escalations:release", pk)
        (kim,) = rows("SELECT id FROM auth_user WHERE username = 'kim'")[0]
        self.kim.post("escalations:assign", pk, to=kim)
        self.kim.post("escalations:return", pk)
        self.kim.post("escalations:take_over", chat)
        self.kim.post("escalations:note", chat, of="text")
        mine = one("SELECT id FROM escalations_escalation WHERE closed_at IS NULL AND"
                   " conversation_id = %s", chat)  # fmt: skip
        answer = one("SELECT min(id) FROM memory_answer WHERE status = 'active'")
        self.kim.post("escalations:send_answer", mine, answer, compared="1")
        self._sends("escalations:write_first", self.her, of="text")
        told = one("SELECT max(conversation_id) FROM chat_message WHERE sender = 'staff'")
        self.kim.post("escalations:note", told, of="text")
        of_gaps = "SELECT gap_id, min(id) FROM escalations_question WHERE answer_id IS NULL"
        for gap, question in rows(f"{of_gaps} AND gap_id IS NOT NULL GROUP BY gap_id"):
            self.kim.get(f"/inbox/gaps/{gap}/")
            self.kim.post("escalations:waiting", gap, question=question, do="apart")
        unhappy = one("SELECT min(id) FROM chat_conversation WHERE rating = -1")
        self.kim.get("/inbox/review/")
        self.kim.post("escalations:looked", unhappy, of="worked")

    def the_desk_knows_her(self) -> None:
        self.kim.get(f"/inbox/customer/{self.her}/")
        self.kim.post("escalations:look", self.her)
        self.kim.post("escalations:customer_note", self.her, of="text")
        for topic in ("contact_channel", "insurance_plan"):
            self.kim.post("escalations:add_fact", self.her, of="text", topic=topic)
        facts = self._facts("active")
        assert len(facts) > 2, "she told more than that"
        self.kim.post("escalations:correct", facts[0], of="text")
        self.kim.post("escalations:confirm", facts[1])
        self.kim.post("escalations:forget", facts[2])
        mail = one("SELECT min(id) FROM escalations_delivery WHERE customer_id IS NOT NULL")
        self.kim.get("/inbox/mails/")
        self.kim.post("escalations:mail_again", mail)

    def memory_reads(self) -> None:
        wait_for(lambda: not rows("SELECT 1 FROM memory_episode WHERE processed_at IS NULL"), 150)

    def she_says_otherwise(self) -> None:
        """Than staff put right: a card, whose decision teaches the topic an example of hers."""
        self.ada.post("chat:new")
        for text in (PLAN, "I moved to {mark} Dental, that is my insurance now.",
                     "Please text me at {mark} from now on, don't e-mail."):  # fmt: skip
            self.ada.post("chat:send", of="client_id text", text=text)
        self.ada.post("chat:end", of="client_id")
        self.memory_reads()

    def what_waits_is_decided(self) -> None:
        told, *proposed = self._facts("pending")
        self.kim.get("/inbox/review/")
        for pk, decision in ((told, "approve"), (proposed[0], "reject")):
            self.kim.post("escalations:look_at_card", kind="memory", pk=pk)
            self.kim.post("escalations:decide", kind="memory", pk=pk, decision=decision)
        self.boss.get("/admin/memory/memory/review/")
        for pk, decision in ((proposed[1], "approve"), (proposed[2], "reject")):
            self.boss.post("admin:memory_review_decide", kind="memory", pk=pk, decision=decision)
        taught = "SELECT 1 FROM memory_topic WHERE concat(examples, not_examples) LIKE %s"
        assert rows(taught, "%zorvak%"), "nothing was taught in her words"

    def _facts(self, status: str) -> list[int]:
        """Those that rest on her own words first, then the newest."""
        found = rows(
            "SELECT id FROM memory_memory WHERE customer_id = %s AND status = %s AND kind = 'fact'"
            " ORDER BY quote = '', id DESC",
            self.her,
            status,
        )
        return [pk for (pk,) in found]

    # --- programs and admins ----------------------------------------------------------------------

    def _key(self, namespaces: str = "") -> str:
        self.boss.get("/admin/memory/apikey/add/")
        said = self.boss.post("admin:memory_apikey_add", name="walk", namespaces=namespaces)
        return said.partition("The key is ")[2].split(" ")[0]

    def programs_call(self) -> None:
        keys = self._key(), self._key("customers\nagents\nshared\ntasks")
        self.api = Program(self.base, api.get_openapi_schema(), self.marks, *keys)
        self._talk(self.api.call)
        self._remember(self.api.call)

    def _talk(self, call: Any) -> None:
        """As she would, and as the desk would: judged without a choice, and kept for her alone."""
        judged: tuple[dict[str, Any], ...] = (
            {},
            {"keep": [{"scope": "customer", "seqs": [0], "question_id": None, "title": "{mark}"}]},
        )
        for told in judged:
            chat = {"conversation_id": call("POST /api/conversations")["id"]}
            said = "POST /api/conversations/{conversation_id}/messages"
            call(said, chat, text=BLEACHING)
            call(said, chat, text="I would like to talk to a person about {mark}.")
            pk = {"pk": one("SELECT max(id) FROM escalations_escalation")}
            for act in ("claim", "release", "claim"):
                call(f"POST /api/escalations/{{pk}}/{act}", pk)
            hers = " On Tuesday, {mark}." if "keep" in told else ""
            call("POST /api/escalations/{pk}/reply", pk, text=f"It lasts about a year.{hers}")
            for keep in told.get("keep", ()):
                keep["seqs"] = [one("SELECT max(seq) FROM chat_message WHERE sender = 'staff' AND"
                                    " conversation_id = %s", chat["conversation_id"])]  # fmt: skip
            call("POST /api/escalations/{pk}/resolve", pk, **({"keep": None} | told))
            call("POST /api/conversations/{conversation_id}/close", chat, reason="ended")
        for path in ("", "/{pk}"):
            call(f"GET /api/escalations{path}", pk | {"list": "everyone"})
        for path in ("", "/{conversation_id}", "/{conversation_id}/messages"):
            call(f"GET /api/conversations{path}", chat | {"handler": "bot"})

    def _remember(self, call: Any) -> None:
        call("POST /api/memory/customers", timezone="UTC")
        her = {"customer_id": self.her, "when": "2026-01-01T00:00:00Z"}
        said = [{"sender": "customer", "text": text} for text in (PLAN, "I like {mark} evenings.")]
        observe = "POST /api/memory/{customer_id}/observe"
        call(observe, her, timezone="UTC", messages=said)
        for ref, text in (("twice", PLAN), ("twice", PLAN), ("unstorable", f"{PLAN} \0")):
            again = [{"sender": "customer", "text": text}]
            call(observe, her, timezone="UTC", messages=again, ref=ref, refused="\0" in text)
        call("POST /api/memory/{customer_id}/recall", her)
        call("POST /api/memory/answer_for", customer_id=self.her, question=UNKNOWN)
        for topic in ("insurance_plan", "appointment_times", "contact_channel", None, None):
            call("POST /api/memory/{customer_id}/remember", her, topic=topic, category="preference")
        asked = {"topic": None, "memory_id": None, "request": "Forget that I like {mark}"}
        call("POST /api/memory/{customer_id}/forget", her, **asked)
        for path in ("", "/as_of", "/history"):
            call(f"GET /api/memory/{{customer_id}}{path}", her)
        call("POST /api/agents/{agent}/context", {"agent": "walk"}, customer_id=self.her)
        call("DELETE /api/tasks/{task_id}", {"task_id": "walk"})

    def programs_look_again(self) -> None:
        """At everything that can be read, once all is written."""
        at: dict[str, Any] = {"customer_id": self.her, "when": "2026-12-31T00:00:00Z"}
        at |= {"agent": "bot", "list": "everyone", "handler": "bot", "status": "active"}
        at["answer_id"] = one("SELECT max(id) FROM memory_answer")
        for pk, chat in rows("SELECT id, conversation_id FROM escalations_escalation"):
            at |= {"pk": pk, "conversation_id": chat}
            for path in ("conversations/{conversation_id}/messages", "escalations/{pk}"):
                self.api.call(f"GET /api/{path}", at)
        at["namespace"] = "agents/bot"
        for path, methods in self.api.schema["paths"].items():
            if "get" in methods:
                self.api.call(f"GET {path}", at)
        self.api.call("POST /api/memory/{customer_id}/recall", at, message=UNKNOWN)
        self.api.call("POST /api/memory/answer_for", customer_id=self.her, question=UNKNOWN)

    def admins_put_right(self) -> None:
        self.boss.get("/admin/memory/memory/add/")
        self.boss.post(
            "admin:memory_memory_add", of="value text", customer=self.her,
            topic=one("SELECT id FROM memory_topic WHERE key = 'insurance_plan'"),
        )  # fmt: skip
        fact = one("SELECT max(id) FROM memory_memory WHERE status = 'active' AND customer_id = %s",
                   self.her)  # fmt: skip
        self.boss.get(f"/admin/memory/memory/{fact}/change/")
        self.boss.post("admin:memory_memory_change", fact, of="value text")
        # What the review queue taught a topic goes into its history with the next change of it.
        for pk, key, label in rows("SELECT id, key, label FROM memory_topic"):
            self._topic(pk, key, label)
        eve = one("SELECT max(id) FROM memory_customer WHERE kind = 'visitor'")
        self.boss.post("admin:memory_customer_merge", visitor=eve, into=self.her)
        self.boss.post("admin:memory_customer_changelist", action="merge_chosen",
                       _selected_action=[self.her], anyhow=True)  # fmt: skip
        for table, actions in ACTIONS.items():
            for action in actions.split():
                pk = one(f"SELECT min(id) FROM {table} WHERE {ACTS_ON[table]}")  # noqa: S608
                assert pk is not None, f"nothing in {table}"
                self.boss.post(
                    f"admin:{table}_changelist", action=action, _selected_action=[pk], anyhow=True
                )

    def _topic(self, pk: int, key: str, label: str) -> None:
        self.boss.get(f"/admin/memory/topic/{pk}/change/")
        fields_of = list(FIELDS)
        fields_of.remove("label")
        kept = rows(f"SELECT {', '.join(fields_of)} FROM memory_topic WHERE id = %s", pk)[0]  # noqa: S608
        sent: dict[str, Any] = {
            name: "\n".join(value) if isinstance(value, list) else value
            for name, value in zip(fields_of, kept, strict=True)
            if value not in (None, False)
        }
        sent["examples"] += f"\nanother way to speak of {label}"
        self.boss.post("admin:memory_topic_change", pk, **sent, key=key, label=label)

    def everything_is_looked_at(self) -> None:
        word = self.marks.at("search q")
        shown = ["", "gaps/", "replay/", "reports/", "review/", f"search/?q={word}", "mails/"]
        for table, path in (("chat_conversation", "chat"), ("chat_turn", "receipt")):
            shown += [f"{path}/{pk}/" for (pk,) in rows(f"SELECT id FROM {table}")]  # noqa: S608
        for path in shown:
            self.kim.get(f"/inbox/{path}")
        self.boss.get(f"/admin/memory/customer/{self.her}/export/")
        self.boss.get(f"/admin/memory/customer/{self.her}/as-of/")

    # --- and the end ------------------------------------------------------------------------------

    def everybody_is_erased(self) -> None:
        """All but the demo's own people, who were not in it."""
        gone = [pk for (pk,) in rows("SELECT id FROM memory_customer WHERE id >= %s", self.her)]
        self.boss.post("admin:memory_customer_changelist", action="erase_chosen",
                       _selected_action=gone)  # fmt: skip
        self.boss.post("admin:memory_customer_erase", pk=gone)
        assert not rows("SELECT 1 FROM memory_customer WHERE id >= %s", self.her)
