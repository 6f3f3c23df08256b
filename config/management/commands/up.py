"""The whole of Rapport from one command: servers, migrations, demo data, web and worker."""

import errno
import gc
import signal
import socket
import time
from contextlib import ExitStack
from importlib import import_module
from types import FrameType
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command, get_commands

from config import embedded
from config.supervisor import Child, Supervisor, only_one

HOST = "127.0.0.1"
READY_SECONDS = 60


class Command(BaseCommand):
    help = "Run everything on one machine until Ctrl-C."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _interrupt)
        try:
            with only_one(), ExitStack() as stack:
                self._run(stack, began)
        except embedded.EmbeddedError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            self.say("Stopped.")
            gc.freeze()  # the last collections would look at all that is loaded, for a second

    def _run(self, stack: ExitStack, began: float) -> None:
        _refuse_a_taken_port()
        servers = embedded.needed()
        for server in servers:
            stack.enter_context(server)
        self._prepare()
        supervisor = Supervisor(servers, [_web(), _worker()], self.say)
        stack.callback(supervisor.stop_children)
        for child in supervisor.children:
            child.start()
        self._wait_for_web(supervisor)
        self._welcome(time.monotonic() - began)
        supervisor.watch()

    def _prepare(self) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        if settings.PRODUCTION:
            call_command("collectstatic", interactive=False, verbosity=0)
        if _has_demo() and not apps.get_model("memory", "Customer")._default_manager.exists():
            self.say("Loading the demo data ...")
            call_command("load_demo", verbosity=0)
        embedded.close_connections()

    def _wait_for_web(self, supervisor: Supervisor) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if supervisor.children[0].is_dead():
                raise CommandError("The web server did not start; its reason is above.")
            with socket.socket() as probe:
                if probe.connect_ex((HOST, settings.RAPPORT_PORT)) == 0:
                    return
            time.sleep(0.05)
        raise CommandError(f"The web server did not answer within {READY_SECONDS} seconds.")

    def _welcome(self, seconds: float) -> None:
        base = f"http://{HOST}:{settings.RAPPORT_PORT}"
        self.say(f"Rapport is ready after {seconds:.1f} s; Ctrl-C stops it.")
        for name, path in (("Chat", "chat/"), ("Inbox", "inbox/"), ("Admin", "admin/")):
            self.say(f"  {name:6} {base}/{path}")
        if not _has_demo():
            return
        demo = import_module("config.management.commands.load_demo")
        for role, username, password in getattr(demo, "LOGINS", ()):
            self.say(f"  Sign in as {role}: {username} / {password}")

    def say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Begin an orderly stop, which no further signal may break off."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _refuse_a_taken_port() -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, settings.RAPPORT_PORT))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            reason = "is taken" if taken else f"cannot be used ({error.strerror})"
            raise CommandError(
                f"Port {settings.RAPPORT_PORT} {reason}: set RAPPORT_PORT to another one."
            ) from None


def _has_demo() -> bool:
    return bool(settings.RAPPORT_DEMO) and "load_demo" in get_commands()


def _web() -> Child:
    where = ["--host", HOST, "--port", str(settings.RAPPORT_PORT)]
    how = "--lifespan off --no-access-log --log-level warning --timeout-graceful-shutdown 2"
    return Child("The web server", ["uvicorn", "config.asgi:application", *where, *how.split()])


def _worker() -> Child:
    how = "worker --beat --concurrency 1 --loglevel WARNING --without-gossip --without-mingle"
    arguments = ["celery", "--app", "config.celery", "--quiet", *how.split()]
    return Child("The worker", arguments, nice=10)  # who waits for a reply comes first
