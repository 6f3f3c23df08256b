"""Under the running product, its worker busy: 100 sockets, and recall among 100,000 memories."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

from chat import identity
from memory import services
from memory.models import Episode
from memory.types import Said, Transcript
from tests.bench import figures, fill, recalls, sockets, turns

CUSTOMERS, EACH = 1_000, 100
SOCKETS = 100
SECONDS = 45
WAITING = 1_500  # conversations for the knowledge agent: more than it reads meanwhile
READY_SECONDS = 60


def measure(*, only: Sequence[str] = ()) -> bool:
    port = _free_port()
    with _running(port):
        now = timezone.now()
        ids = fill.customers(CUSTOMERS, now=now)
        rate = fill.memories(dict.fromkeys(ids, EACH), now=now)
        print(
            f"{CUSTOMERS * EACH:,} memories of {CUSTOMERS:,} customers, {rate:,.0f} rows a second"
        )
        took = turns.measure(ids[SOCKETS * 5 :], now=now)
        if "turns" in only:
            return took
        chatting, asked_about = ids[: SOCKETS + 10], ids[SOCKETS + 10 : SOCKETS * 2]
        _busy(ids[SOCKETS * 2 :], now)
        tokens = [identity.issue(pk, address="", now=now) for pk in chatting]
        url = f"ws://127.0.0.1:{port}/ws/chat/"
        asyncio.run(sockets.chat(url, tokens[:10], sockets.EVERY))  # vectors of topics and answers
        cpu = _cpu_seconds()
        heard = asyncio.run(sockets.chat(url, tokens[10:], SECONDS))
        for name, used in _cpu_seconds().items():
            spent = (used - cpu.get(name, 0.0)) * 1000 / max(1, heard.said)
            print(f"{name + ', CPU for a message':44} {spent:.1f} ms")
        figures.line(f"hello -> state, {SOCKETS} at once", heard.hello)
        kept = [
            figures.line("say -> ack", heard.ack, bar=50),
            figures.line("say -> first delta or row", heard.first),
            recalls.measure("recall, 100 of 100,000", asked_about, now=now, calls=500, bar=10),
        ]
        left = Episode.objects.filter(processed_at=None, customer_id__in=ids).count()
        print(
            f"{heard.said} messages said, {heard.lost} without an ack; worker: {left} left to read"
        )
        return took and kept[0] and kept[2] and not heard.lost


@contextmanager
def _running(port: int) -> Iterator[None]:
    """`manage.py up`, as `make run` has it; only the limits for one address are lifted."""
    env = os.environ | {
        "RAPPORT_PORT": str(port),
        "RAPPORT_DEMO": "1",
        "CHAT_ADDRESS_PER_MINUTE": "100000",
        "CHAT_VISITOR_PER_MINUTE": "1000",
        "CHAT_VISITORS_PER_MINUTE": "100000",
    }
    up = subprocess.Popen([sys.executable, "manage.py", "up"], env=env)
    try:
        _wait_for(port, up)
        yield
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(30)


def _cpu_seconds() -> dict[str, float]:
    """What web server and worker have used so far: the machine's other load changes it little."""
    names = {"uvicorn": "web server", "celery": "worker"}
    used = dict.fromkeys(names.values(), 0.0)
    mine = os.environ["RAPPORT_VAR"].encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode()
            ours = mine in (entry / "environ").read_bytes()
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, UnicodeDecodeError):
            continue  # it has ended, or is another user's
        for word, name in names.items():
            if ours and word in command:
                used[name] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                break
    return used


def _wait_for(port: int, up: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and up.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("manage.py up did not become ready")


def _busy(customers: list[int], now: datetime) -> None:
    said = (
        "I only ever come in the mornings",
        "please e-mail me, don't call",
        "I'm with Guardian now",
        "my knee hurts, but that is not your business",
        "thanks, bye",
    )
    for n in range(WAITING):
        at = now - timedelta(minutes=5)
        messages = tuple(Said(i, "customer", text, at) for i, text in enumerate(said, 1))
        services.remember_later(
            Transcript(messages),
            customer_id=customers[n % len(customers)],
            ref=f"bench:{n}",
            now=now,
        )


def _free_port() -> int:
    if given := os.environ.get("RAPPORT_BENCH_PORT"):
        return int(given)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
