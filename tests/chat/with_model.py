"""A turn with a model: the settings point to the scripted server, over real HTTP."""

import json

from chat.models import Tool
from memory.types import AnswerCandidate, AnswerFor
from tests.factories import NOW

GATE = "memory_gate"
CALLS = ("calls tools", "schemas only")
EVERYTHING = {"ids": [], "text": "", "topic": "", "tool": "", "arguments": ""}


def use(settings, server, **more):
    settings.OPENAI_API_KEY = "k"
    settings.OPENAI_BASE_URL = server.url
    for purpose in ("ANSWER", "KNOWLEDGE", "GATE"):
        setattr(settings, f"OPENAI_{purpose}_MODEL", purpose.lower())
    settings.OPENAI_PRICES = {"answer": [1.0, 10.0]}
    settings.CHAT_BURST_MS = 0
    for name, value in more.items():
        setattr(settings, name, value)


def probed(server):
    """Let the endpoint be found out: it calls tools, or says that it does not.

    The gate's model, where it is asked, says that the past is needed.
    """
    server.on(tool=("probe", {"ok": True}), offers_tool="probe")
    needs_past(server, True)
    return server


def needs_past(server, needed, **more):
    server.on(data={"retrieve": needed, "save": False}, schema=GATE, **more)


def decide(server, way, *, user="", times=None, fault=None, **data):
    """Script one decision in the dialect that the endpoint speaks."""
    full = EVERYTHING | data
    more = {"user": user, "times": times} | ({"fault": fault} if fault else {})
    if not server.tool_calling:
        server.on(data={"way": way} | full, schema="turn_decision", **more)
    elif way == "reply":
        server.on(text=full["text"], offers_tool="hand_over", **more)
    elif way == "call_tool":
        called = (full["tool"], json.loads(full["arguments"]))
        server.on(tool=called, offers_tool="hand_over", **more)
    else:
        server.on(tool=(way, data), offers_tool="hand_over", **more)


def asked(server):
    """The requests that asked for a decision."""
    asked = [r for r in server.journal if r not in gate_asked(server)]
    return [r for r in asked if "probe" not in json.dumps(r.get("tools", ""))]


def gate_asked(server):
    """The requests that asked whether the past is needed."""
    return [r for r in server.journal if GATE in json.dumps(r.get("response_format", ""))]


def candidate(answer, *, score=0.7):
    return AnswerCandidate(
        answer.pk, answer.title, tuple(answer.parts), answer.role, answer.author_name, NOW, score
    )


def offer(*answers):
    return AnswerFor("offer", tuple(candidate(a) for a in answers))


def deliver(answer):
    return AnswerFor("deliver", (candidate(answer, score=0.97),))


def order_status(service, **fields):
    return Tool.objects.create(
        **{
            "name": "order_status",
            "description": "Where an order is.",
            "arguments": {
                "type": "object",
                "properties": {"order_id": {"type": "string", "pattern": "^[A-Z]-[0-9]+$"}},
                "required": ["order_id"],
                "additionalProperties": False,
            },
            "result": {"type": "object", "required": ["status"]},
            "url": f"{service.url}/customers/{{customer}}/orders/{{order_id}}",
            "auth_header": "Authorization",
            "auth_secret": "RAPPORT_TOOL_ORDERS",
        }
        | fields
    )


def free_appointments(service, **fields):
    return Tool.objects.create(
        **{
            "name": "free_appointments",
            "description": "When there is room.",
            "arguments": {"type": "object", "properties": {}},
            "result": {"type": "object", "required": ["free"]},
            "url": f"{service.url}/free",
            "needs_identity": False,
        }
        | fields
    )
