"""A small business service over real HTTP on loopback: an order's status, and free appointments."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "Bearer let-me-in"
ORDERS = {"A-17": {"order": "A-17", "status": "on its way", "expected": "2026-05-06"}}
OWNERS = {"A-17": "ada"}
FREE = ["Tuesday 8:00", "Thursday 8:30"]


class ToolService:
    """`with ToolService() as service:` `service.url`; `service.seen` holds (path, token sent)."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        owner = self

        class Handler(_Handler):
            service = owner

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> ToolService:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    service: ToolService

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        token = self.headers.get("Authorization", "")
        self.service.seen.append((self.path, token))
        parts = urlsplit(self.path)
        name = parts.path.split("/")[1]
        answer = getattr(self, f"_{name}", self._nothing)
        answer(parts.path.rpartition("/")[2], parse_qs(parts.query), token)

    def _orders(self, key: str, query: dict[str, Any], token: str) -> None:
        if token != TOKEN:
            return self._send(401, {"error": "token needed"})
        order = ORDERS.get(key)
        return self._send(200, order) if order else self._send(404, {"error": "unknown order"})

    def _customers(self, key: str, query: dict[str, Any], token: str) -> None:
        """Of this customer alone: /customers/ada/orders/A-17."""
        who = urlsplit(self.path).path.split("/")[2]
        if OWNERS.get(key) != who:
            return self._send(404, {"error": "unknown order"})
        return self._orders(key, query, token)

    def _free(self, key: str, query: dict[str, Any], token: str) -> None:
        times = [t for t in FREE if query.get("part", [""])[0] != "afternoon"]
        self._send(200, {"free": times})

    def _forbidden(self, *args: object) -> None:
        self._send(403, {"error": "forbidden"})

    def _slow(self, *args: object) -> None:
        time.sleep(0.4)
        self._send(200, {"ok": True})

    def _huge(self, *args: object) -> None:
        self._send(200, {"text": "x" * 200_000})

    def _page(self, *args: object) -> None:
        self._send(200, "<html>welcome</html>", raw=True)

    def _deep(self, *args: object) -> None:
        self._send(200, "[" * 50_000, raw=True)

    def _long(self, *args: object) -> None:
        self._send(200, "9" * 5_000, raw=True)

    def _away(self, key: str, query: dict[str, Any], token: str) -> None:
        self._send(302, {}, {"Location": query["to"][0]})

    def _nothing(self, *args: object) -> None:
        self._send(404, {"error": "no such page"})

    def _send(
        self, status: int, body: Any, headers: dict[str, str] | None = None, *, raw: bool = False
    ) -> None:
        data = (body if raw else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
