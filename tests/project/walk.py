"""A walk through the running product: what customers can write, by frames and by forms."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import fields
from typing import Any

import jwt
import psycopg
import websockets
from django.urls import reverse

import chat.urls
from chat import frames, identity
from config import embedded
from tests.project.test_up import wait_for
from tests.project.walking import Browser, Marks

SECRET = "walk" * 10
UNKNOWN = "How long should I wait before rinsing after an extraction, {mark}?"
OFFERED = "What do I need for my first visit?"
PLAN = "My dental insurance is {mark} Dental."


def rows(sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    about = embedded.postgres().django_database()
    with psycopg.connect(
        host=about["HOST"], user=about["USER"], dbname=about["NAME"], autocommit=True
    ) as connection:
        return connection.execute(sql, parameters).fetchall()


def one(sql: str, *parameters: object) -> Any:
    return rows(sql, *parameters)[0][0]


class Customers:
    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.marks = Marks()
        self.framed = {"hello"}
        self.ada, self.vic, self.eve, self.kim, self.boss = (
            Browser(self.base, self.marks) for _ in range(5)
        )

    # --- who, and what she writes ---------------------------------------------------------------

    def everybody_comes_in(self) -> None:
        claims: dict[str, Any] = {"aud": "rapport", "exp": int(time.time()) + 1800}
        claims |= {name: self.marks.at(f"identity {name}") for name in ("sub", "name")}
        claims["email"] = f"{self.marks.at('identity email')}@example.org"
        self.ada.get(f"/chat/?identity={jwt.encode(claims, SECRET, algorithm='HS256')}")
        for visitor in (self.vic, self.eve):
            visitor.get("/chat/")
        for browser, name in ((self.kim, "kim"), (self.boss, "admin")):
            browser.get("/login/?next=/inbox/")
            browser.post("login", username=name, password=f"{name}-demo")
        self.her = one("SELECT id FROM memory_customer WHERE external_id = %s", claims["sub"])

    async def speak(self, browser: Browser, *said: tuple[type, dict[str, Any]]) -> None:
        """Send frames; each text in them is a mark, or what is told with a mark in it."""
        async with websockets.connect(
            f"ws{self.base[4:]}/ws/chat/",
            origin=websockets.Origin(self.base),
            additional_headers={"Cookie": f"{identity.COOKIE}={browser.cookie(identity.COOKIE)}"},
        ) as socket:
            await socket.send(json.dumps({"type": "hello", "token": "", "after": 0}))
            for kind, told in said:
                sent = self._frame(kind, told)
                await socket.send(json.dumps(sent))
                while "client_id" in sent:
                    heard = await self._heard(socket, browser)
                    assert heard["type"] != "error", heard
                    if heard["type"] == "ack" and heard["client_id"] == sent["client_id"]:
                        break
                await asyncio.to_thread(self._replied)
            await socket.send("no frame")  # the answer to it comes last
            while (await self._heard(socket, browser))["type"] != "error":
                pass

    async def _heard(self, socket: Any, browser: Browser) -> dict[str, Any]:
        text = await asyncio.wait_for(socket.recv(), 60)
        frame: dict[str, Any] = json.loads(text)
        browser.told.append((f"frame {frame['type']}", text))
        return frame

    def _frame(self, kind: type, told: dict[str, Any]) -> dict[str, Any]:
        name = kind.__name__.lower()
        self.framed.add(name)
        sent: dict[str, Any] = {"type": name}
        for field in fields(kind):
            value = told.get(field.name, "{mark}" if field.type == "str" else None)
            if isinstance(value, str) and "{mark}" in value:
                value = value.replace("{mark}", self.marks.at(f"frame {name} {field.name}"))
            sent |= {} if value is None else {field.name: value}
        return sent

    def _replied(self) -> None:
        wait_for(lambda: not rows("SELECT 1 FROM chat_conversation WHERE answer_due_at > now()"))

    def frames_of_every_kind(self) -> None:
        say = frames.Say
        asyncio.run(
            self.speak(
                self.ada,
                (say, {"text": PLAN}),
                (say, {"text": "I'm allergic to {mark}."}),
                (say, {"text": "Please e-mail me at {mark}, don't call."}),
                (say, {"text": "When do I like to come?"}),
                (say, {"text": "Early {mark} mornings"}),
                (frames.Typing, {}),
                (say, {"text": OFFERED}),
            )
        )
        last = "SELECT seq FROM chat_message WHERE kind = 'offer' ORDER BY id DESC LIMIT 1"
        asyncio.run(
            self.speak(
                self.ada,
                (frames.Choose, {"offer_seq": one(last), "choice": "none"}),
                (frames.Person, {}),
                (frames.End, {}),
                (frames.Rate, {"score": -1}),
            )
        )
        asyncio.run(
            self.speak(
                self.vic,
                (say, {"text": UNKNOWN}),
                (frames.Email, {"address": "{mark}@example.org"}),
                (say, {"text": "I prefer {mark} mornings. Forget my insurance."}),
            )
        )

    def forms_of_the_chat(self) -> None:
        for browser in (self.ada, self.vic):
            browser.get("/chat/")
            browser.post("chat:end", of="client_id")
            browser.post("chat:rate", of="client_id words", score="-1")
            browser.post("chat:new")
            browser.get("/chat/")
            for text in (PLAN, UNKNOWN, OFFERED):
                browser.post("chat:send", of="client_id text", text=text, twice=text == PLAN)
            last = one("SELECT seq FROM chat_message WHERE kind = 'offer' ORDER BY id DESC LIMIT 1")
            browser.post("chat:choose", of="client_id", offer_seq=last, choice="none")
            browser.post("chat:person", of="client_id text")
        self.vic.post("chat:email", of="client_id address", address="{mark}@example.org")
        for text in ("I like to come on {mark} mornings.", UNKNOWN):
            self.eve.post("chat:send", of="client_id text", text=text)

    def customers_look_again(self) -> None:
        """At every page, at all rows of the log, and at what the bot says of them."""
        asked = ("What do you know about me?", "What did we try before?", UNKNOWN, "Thank you!")
        for browser in (self.ada, self.vic):
            for one_of in chat.urls.urlpatterns:
                if not one_of.pattern.converters:
                    browser.get(reverse(f"chat:{one_of.name}"))
            asyncio.run(self.speak(browser, *((frames.Say, {"text": text}) for text in asked)))
            browser.get("/chat/")
