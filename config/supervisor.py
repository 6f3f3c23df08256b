"""One process that keeps web, worker and the embedded servers running, and stops them in order."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from config.servers.base import EmbeddedError, Server, var_dir

LOOK_SECONDS = 0.3
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0  # seconds before a dead child is started again
STEADY_SECONDS = 60  # a child that lived so long starts again at the first wait
PATIENCE_SECONDS = 2.0  # for the running turn or task, after which a stop is a kill


class Backoff:
    def __init__(self) -> None:
        self.wait = FIRST_WAIT
        self.started_at = time.monotonic()
        self.due_at: float | None = None

    def is_due(self, now: float) -> bool:
        """Plan the next start at the first call after a death; return whether its time has come."""
        if self.due_at is None:
            steady = now - self.started_at > STEADY_SECONDS
            wait = FIRST_WAIT if steady else self.wait
            self.wait = min(wait * 2, LONGEST_WAIT)
            self.due_at = now + wait
        if now < self.due_at:
            return False
        self.due_at, self.started_at = None, now
        return True


class Child:
    """A program that dies with this process, in a session of its own so that Ctrl-C misses it.

    `nice`: by how much it gives way to others where the processor is short.
    """

    def __init__(self, name: str, arguments: list[str], *, nice: int = 0) -> None:
        self.name, self.nice = name, nice
        self.arguments = arguments
        self.backoff = Backoff()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        how = [str(os.getpid()), str(self.nice)]
        command = [sys.executable, "-m", "config.child", *how, *self.arguments]
        root = Path(__file__).parents[1]
        self.process = subprocess.Popen(command, cwd=root, start_new_session=True)

    def is_dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def signal(self, number: int) -> None:
        """Reach what it forked, too: a worker's pool and clock outlive a worker that was killed."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


class Supervisor:
    def __init__(
        self, servers: list[Server], children: list[Child], say: Callable[[str], None]
    ) -> None:
        self.servers = servers
        self.children = children
        self.say = say
        self.server_backoffs = {server.name: Backoff() for server in servers}

    def watch(self) -> None:
        """Look after everything until an exception (a signal's) ends it."""
        while True:
            time.sleep(LOOK_SECONDS)
            self.look_once(time.monotonic())

    def look_once(self, now: float) -> None:
        for server in self.servers:
            if not server.runs() and self.server_backoffs[server.name].is_due(now):
                self.say(f"{server.name} is gone: starting it again.")
                try:
                    server.restart_if_dead()
                except EmbeddedError as error:
                    self.say(str(error))
        for child in self.children:
            if child.is_dead() and child.backoff.is_due(now):
                code = child.process.returncode if child.process else None
                self.say(f"{child.name} ended ({code}): starting it again.")
                child.signal(signal.SIGKILL)
                child.start()

    def stop_children(self) -> None:
        for child in self.children:
            if child.process is not None:
                child.process.terminate()
        for server in self.servers:
            server.before_stop()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and not all(c.is_dead() for c in self.children):
            time.sleep(0.05)
        for child in self.children:
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Two supervisors in one folder would run two clocks."""
    path = var_dir() / "lock" / "up"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedError(
                f"Rapport is running already with its data in {var_dir()}."
            ) from None
        yield
