"""A scripted OpenAI-compatible server over real HTTP on loopback. It proves wiring, not quality.

Rules are tried in order and matched by schema name, model, a pattern on the last user text or on
the system text, an offered tool, or what a tool returned. A request that no rule matches is
answered with 500 and makes the test fail: no silent default. Every request is in `journal`.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jsonschema

Request = dict[str, Any]


@dataclass
class Fault:
    """What goes wrong: a status with Retry-After, a delay, a drop, a truncation, a bad chunk."""

    status: int = 0
    retry_after: float | None = None
    delay: float = 0.0  # seconds before anything
    first_byte: float = 0.0  # seconds between the headers and the first byte of the answer
    garbage: bool = False  # 200, and a page of something else
    unchecked: bool = False  # `data` need not be of the schema's form
    drop_after: int | None = None  # chunks, then the connection is closed without a word
    truncate_after: int | None = None  # chunks, then [DONE] without a finish_reason
    malformed: bool = False  # one chunk that is no JSON
    finish_reason: str = "stop"


@dataclass
class Rule:
    text: str | Callable[[Request], str] | None = None
    data: Any = None  # structured output, checked against the request's schema
    tool: tuple[str, dict[str, Any]] | None = None
    answer: Callable[[Request], Rule] | None = None  # another rule, made for this request
    schema: str = ""
    user: str = ""
    system: str = ""
    model: str = ""
    offers_tool: str = ""
    after_tool: str = ""
    refusal: str = ""
    fault: Fault = field(default_factory=Fault)
    times: int | None = None

    def reason(self) -> str:
        """Why the reply ends."""
        said = self.fault.finish_reason
        return "tool_calls" if self.tool and said == "stop" else said

    def matches(self, request: Request) -> bool:
        if self.times is not None and self.times <= 0:
            return False
        schema = request.get("response_format", {}).get("json_schema", {}).get("name", "")
        tools = [t["function"]["name"] for t in request.get("tools", [])]
        last = request["messages"][-1]
        return (
            (not self.schema or self.schema == schema)
            and (not self.model or self.model == request.get("model"))
            and (not self.offers_tool or self.offers_tool in tools)
            and (
                not self.after_tool
                or (last["role"] == "tool" and bool(re.search(self.after_tool, text_of(last))))
            )
            and bool(re.search(self.user, last_text(request, "user"), re.I | re.S))
            and bool(re.search(self.system, last_text(request, "system"), re.I | re.S))
        )


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(p.get("text", "") for p in content)


def last_text(request: Request, role: str) -> str:
    return next((text_of(m) for m in reversed(request["messages"]) if m["role"] == role), "")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is what some tests are about."""


class ScriptedServer:
    """`with ScriptedServer() as server: server.on(text="Hi", user="hello")`; `url` ends in /v1."""

    def __init__(self, *, tool_calling: bool = True) -> None:
        self.rules: list[Rule] = []
        self.journal: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.unmatched: list[Request] = []
        self.tool_calling = tool_calling
        self.embedding_fault = Fault()
        self.embedded: Callable[[list[Request]], list[Request]] = lambda data: data
        self._lock = threading.Lock()
        owner = self

        class Handler(_Handler):
            server_owner = owner

        self._http = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def on(self, text: Any = None, **kwargs: Any) -> Rule:
        rule = Rule(text=text, **kwargs)
        self.rules.append(rule)
        return rule

    def __enter__(self) -> ScriptedServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def check(self) -> None:
        """Fail where a request found no rule. Call it at the end of the test."""
        assert not self.unmatched, f"no rule for: {self.unmatched[0]}"

    def sent(self) -> str:
        """Everything that went over the wire, as one text, to look for what must not be there."""
        return json.dumps(self.journal, ensure_ascii=False)

    def take(self, request: Request) -> Rule | None:
        with self._lock:
            self.journal.append(request)
            rule = next((r for r in self.rules if r.matches(request)), None)
            if rule is None:
                self.unmatched.append(request)
            elif rule.times is not None:
                rule.times -= 1
            return rule.answer(request) if rule and rule.answer else rule


def strict_schema_faults(schema: Any, path: str = "") -> list[str]:
    """What OpenAI refuses in a strict schema: every object closed, every property required.

    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    faults: list[str] = []
    if isinstance(schema, dict):
        if schema.get("type") == "object" or "properties" in schema:
            if schema.get("additionalProperties") is not False:
                faults.append(f"{path or '/'}: additionalProperties must be false")
            if set(schema.get("required", [])) != set(schema.get("properties", {})):
                faults.append(f"{path or '/'}: every property must be required")
        for key, value in schema.items():
            faults += strict_schema_faults(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for value in schema:
            faults += strict_schema_faults(value, path)
    return faults


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_owner: ScriptedServer

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the journal is the log."""

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server_owner.headers.append(dict(self.headers))
        if self.path.endswith("/embeddings"):
            return self._embeddings(request)
        schema = request.get("response_format", {}).get("json_schema")
        if schema and schema.get("strict") and (faults := strict_schema_faults(schema["schema"])):
            return self._error(400, f"Invalid schema: {faults[0]}")
        rule = self.server_owner.take(request)
        if rule is None:
            return self._error(500, "no rule matches this request")
        return self._answer(rule, request, schema)

    def _answer(self, rule: Rule, request: Request, schema: Any) -> None:
        time.sleep(rule.fault.delay)
        if rule.fault.status:
            headers = (
                {}
                if rule.fault.retry_after is None
                else {"Retry-After": str(rule.fault.retry_after)}
            )
            return self._error(rule.fault.status, "scripted fault", headers)
        if rule.tool and not self.server_owner.tool_calling:
            return self._error(400, "tools are not supported")
        if rule.fault.garbage:
            return self._raw(200, b"<html>We are improving our service.</html>")
        text = rule.text(request) if callable(rule.text) else (rule.text or "")
        if rule.data is not None:
            if schema and not (rule.fault.malformed or rule.fault.unchecked):
                jsonschema.validate(rule.data, schema["schema"])
            text = json.dumps(rule.data) if not rule.fault.malformed else json.dumps(rule.data)[:-2]
        if request.get("stream"):
            return self._stream(rule, text)
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if rule.refusal:
            message |= {"refusal": rule.refusal}
        if rule.tool:
            message |= {"tool_calls": [_call(rule.tool)]}
        reason = rule.reason()
        truncated = rule.fault.truncate_after is not None
        choice = {"index": 0, "message": message, "finish_reason": None if truncated else reason}
        whole = _envelope("chat.completion") | {"choices": [choice], "usage": _usage(text)}
        return self._raw(200, json.dumps(whole).encode(), rule.fault)

    def _stream(self, rule: Rule, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()
        time.sleep(rule.fault.first_byte)
        for i, delta in enumerate(_deltas(rule, text)):
            if rule.fault.drop_after == i:
                self.wfile.flush()
                self.connection.close()
                return
            if rule.fault.truncate_after == i:
                return self._done()
            if rule.fault.malformed and i == 1:
                self.wfile.write(b"data: {not json\n\n")
            self._chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        reason = rule.reason()
        self._chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        self._chunk({"choices": [], "usage": _usage(text)})
        self._done()

    def _chunk(self, body: dict[str, Any]) -> None:
        data = json.dumps(_envelope("chat.completion.chunk") | body, ensure_ascii=False)
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _done(self) -> None:
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        self.close_connection = True

    def _embeddings(self, request: Request) -> None:
        fault = self.server_owner.embedding_fault
        time.sleep(fault.delay)
        if fault.status:
            wait = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            return self._error(fault.status, "scripted fault", wait)
        if fault.garbage:
            return self._raw(200, b"<html>We are improving our service.</html>")
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        width = request.get("dimensions", 512)
        data = [
            {"object": "embedding", "index": i, "embedding": hashed(t, width)}
            for i, t in enumerate(texts)
        ]
        data = self.server_owner.embedded(data)
        whole = {"object": "list", "data": data, "model": request["model"], "usage": _usage("")}
        self._raw(200, json.dumps(whole).encode(), fault)

    def _error(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        self._json(
            status, {"error": {"message": message, "type": "scripted", "code": None}}, headers
        )

    def _json(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> None:
        self._raw(status, json.dumps(body, ensure_ascii=False).encode(), headers=headers)

    def _raw(
        self,
        status: int,
        data: bytes,
        fault: Fault | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(data))} | (headers or {})
        ).items():
            self.send_header(name, value)
        self.end_headers()
        if fault:
            self.wfile.flush()
            time.sleep(fault.first_byte)
        if fault and fault.drop_after is not None:
            data, self.close_connection = data[: len(data) // 2], True
        self.wfile.write(data)


def _deltas(rule: Rule, text: str) -> list[dict[str, Any]]:
    if rule.refusal:
        return [{"refusal": rule.refusal}]
    if rule.tool:
        return _call_in_pieces(rule.tool)
    return [{"content": piece} for piece in re.findall(r"\S+\s*|\s+", text)]


def _call_in_pieces(tool: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The name first, then the arguments bit by bit, as they come in life."""
    whole = _call(tool)
    pieces = re.findall(r".{1,8}", whole["function"]["arguments"], re.S)
    whole["function"]["arguments"] = ""
    bits = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [bit]} for bit in ({"index": 0} | whole, *bits)]


def _call(tool: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": tool[0], "arguments": json.dumps(tool[1])},
    }


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": "scripted"}


def _usage(text: str) -> dict[str, int]:
    return {
        "prompt_tokens": 100,
        "completion_tokens": len(text.split()),
        "total_tokens": 100 + len(text.split()),
    }


def hashed(text: str, width: int) -> list[float]:
    """Words and trigrams hashed into a unit vector: shared words give a positive cosine."""
    folded = f" {text.casefold()} "
    vector = [0.0] * width
    for piece in folded.split() + [folded[i : i + 3] for i in range(len(folded) - 2)]:
        vector[int.from_bytes(hashlib.md5(piece.encode()).digest()[:4]) % width] += 1.0  # noqa: S324
    norm = sum(x * x for x in vector) ** 0.5 or 1.0
    return [x / norm for x in vector]
