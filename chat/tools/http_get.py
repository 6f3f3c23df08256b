"""Read from a registered address: allowed hosts alone, no private addresses, bounded time and size.

The address is resolved first, checked, and then used for the connection itself, so that a name
cannot point elsewhere in between. Redirects are followed by hand, each hop checked like the first.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import httpx2 as httpx
import jsonschema

from .base import Attempt, Failure, Outcome, ToolSpec

MAX_BYTES = 65_536
MAX_HOPS = 3
EVIDENCE_CHARS = 400


class _Refused(Exception):
    """The address is not one that tools may read."""


class _TooLarge(Exception):
    pass


@dataclass(frozen=True)
class HttpGet:
    """`hosts`: what tools may read; `private_hosts`: which of these may be on a private net."""

    hosts: Collection[str]
    private_hosts: Collection[str] = ()

    async def __call__(self, tool: ToolSpec, attempt: Attempt) -> Outcome:
        if problem := _first_problem(attempt.arguments, tool.arguments):
            return Outcome(attempt, "arguments", detail=problem)
        if any(str(value) in {".", ".."} for value in attempt.arguments.values()):
            return Outcome(attempt, "arguments", detail="an argument climbs out of its place")
        try:
            async with asyncio.timeout(attempt.timeout):
                status, body = await self._get(_filled(tool.url, attempt.arguments), tool, attempt)
        except TimeoutError:
            return Outcome(attempt, "timeout", detail=f"no answer in {attempt.timeout:g} s")
        except _Refused as exc:
            return Outcome(attempt, "refused", detail=str(exc))
        except _TooLarge:
            return Outcome(attempt, "too_large", detail=f"more than {MAX_BYTES} bytes")
        except (httpx.HTTPError, OSError) as exc:
            return Outcome(attempt, "connection", detail=type(exc).__name__)
        return _judged(tool, attempt, status, body)

    async def _get(self, url: str, tool: ToolSpec, attempt: Attempt) -> tuple[int, bytes]:
        origin = urlsplit(url)[:2]
        async with httpx.AsyncClient(timeout=attempt.timeout, trust_env=False) as client:
            for _ in range(MAX_HOPS + 1):
                headers = {"Accept": "application/json", "Host": urlsplit(url).netloc}
                # The token belongs to the registered host: a redirect elsewhere does not get it.
                if attempt.with_token and tool.auth_header and urlsplit(url)[:2] == origin:
                    headers[tool.auth_header] = tool.token
                status, where, body = await self._hop(client, url, headers)
                if status not in {301, 302, 303, 307, 308} or not where:
                    return status, body
                url = urljoin(url, where)
        raise _Refused("too many redirects")

    async def _hop(
        self, client: httpx.AsyncClient, url: str, headers: dict[str, str]
    ) -> tuple[int, str, bytes]:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        address = await self._checked_address(parts.scheme, host, port)
        literal = f"[{address}]" if ":" in address else address
        pinned = parts._replace(netloc=f"{literal}:{port}").geturl()
        request = client.build_request(
            "GET", pinned, headers=headers, extensions={"sni_hostname": host}
        )
        answer = await client.send(request, stream=True)
        try:
            body = b""
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise _TooLarge
        finally:
            await answer.aclose()
        return answer.status_code, answer.headers.get("location", ""), body

    async def _checked_address(self, scheme: str, host: str, port: int) -> str:
        private_allowed = host in self.private_hosts
        if scheme != "https" and not (scheme == "http" and private_allowed):
            raise _Refused(f"{scheme or 'no scheme'} is not allowed")
        if host not in self.hosts:
            raise _Refused(f"{host} is not among the allowed hosts")
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(info[4][0]) for info in found]
        if not private_allowed:
            for address in addresses:
                if not ipaddress.ip_address(address.split("%")[0]).is_global:
                    raise _Refused(f"{host} points to a private address")
        return addresses[0]


def _filled(template: str, arguments: dict[str, Any]) -> str:
    """Arguments are data: whatever they hold, they stay inside their own path segment or value."""
    for name, value in arguments.items():
        template = template.replace("{" + name + "}", quote(str(value), safe=""))
    return template


def _judged(tool: ToolSpec, attempt: Attempt, status: int, body: bytes) -> Outcome:
    text = body.decode("utf-8", "replace")
    seen = text[:EVIDENCE_CHARS]

    def failed(failure: Failure, detail: str) -> Outcome:
        return Outcome(attempt, failure, status=status, body=seen, detail=detail)

    if not 200 <= status < 300:
        return failed("status", f"status {status}")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # also a number too long, or lists nested too deep
        return failed("not_json", "the answer is no JSON")
    if problem := _first_problem(data, tool.result):
        return failed("schema", problem)
    return Outcome(attempt, status=status, data=data, body=seen)


def _first_problem(data: Any, schema: dict[str, Any]) -> str:
    error = next(iter(jsonschema.Draft202012Validator(schema).iter_errors(data)), None)
    return f"{'/'.join(map(str, error.path)) or 'value'}: {error.message[:120]}" if error else ""
