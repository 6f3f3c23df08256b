"""`manage.py up` as a person meets it: starts, survives kills, stops, and leaves nothing."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from config import embedded

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


class Up:
    def __init__(self, var: Path) -> None:
        self.var = var
        self.port = free_port()
        self.process: subprocess.Popen[str] | None = None

    def run(
        self, *, to: "int | IO[str]" = subprocess.PIPE, **settings: str
    ) -> "subprocess.Popen[str]":
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "RAPPORT_VAR": str(self.var),
            "RAPPORT_PORT": str(self.port),
            "RAPPORT_DEMO": "0",
            **settings,
        }
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=to,
            stderr=subprocess.STDOUT,
        )
        return self.process

    def answers(self) -> bool:
        try:
            url = f"http://127.0.0.1:{self.port}/admin/login/"
            with urllib.request.urlopen(url, timeout=5) as response:
                return response.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def child(self, word: str) -> int:
        """Return the number of the child that runs `word`; 0 when there is none."""
        assert self.process
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_text().split("\0")
            except OSError:
                continue
            if parent == self.process.pid and word in command:
                return int(entry.name)
        return 0


def processes_started_by(supervisor: int) -> list[str]:
    """Return the children and what they forked: all carry the supervisor's number."""
    mark = f"config.child\0{supervisor}\0"
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark in entry.read_text():
                found.append(entry.parent.name)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


@pytest.fixture
def up(monkeypatch: pytest.MonkeyPatch) -> Iterator[Up]:
    var = Path(tempfile.mkdtemp(prefix="rapport-test-"))
    var.chmod(0o755)
    monkeypatch.setenv("RAPPORT_VAR", str(var))
    up = Up(var)
    yield up
    if up.process:
        up.process.kill()
        up.process.communicate()
    for server in (embedded.valkey(), embedded.postgres()):
        server.stop()
        shutil.rmtree(server.run_dir, ignore_errors=True)
    shutil.rmtree(var)


def test_everything_comes_back_and_nothing_is_left(up: Up) -> None:
    first = up.run()
    wait_for(up.answers)
    wait_for(lambda: up.child("celery"))

    worker, web = up.child("celery"), up.child("uvicorn")
    os.kill(worker, signal.SIGKILL)
    os.kill(web, signal.SIGKILL)
    os.kill(embedded.postgres()._pid(), signal.SIGKILL)
    os.kill(embedded.valkey()._pid(), signal.SIGKILL)
    wait_for(lambda: up.child("celery") not in {0, worker} and up.child("uvicorn") not in {0, web})
    wait_for(lambda: embedded.postgres().runs() and embedded.valkey().runs())
    wait_for(up.answers)

    database = embedded.postgres()._pid()
    first.kill()
    wait_for(lambda: not processes_started_by(first.pid))
    assert embedded.postgres().runs()

    second = up.run()
    wait_for(up.answers)
    assert embedded.postgres()._pid() == database, "the next `up` attaches"

    began = time.monotonic()
    second.send_signal(signal.SIGINT)
    assert second.wait(timeout=20) == 0
    assert time.monotonic() - began < 5
    assert not embedded.postgres().runs()
    assert not embedded.valkey().runs()
    assert not processes_started_by(second.pid)


def test_a_taken_port_is_said_in_one_sentence(up: Up) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", up.port))
        taken.listen()
        process = up.run()
        words, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    wanted = f"CommandError: Port {up.port} is taken: set RAPPORT_PORT to another one."
    assert words.strip() == wanted
    assert not embedded.postgres().runs()
