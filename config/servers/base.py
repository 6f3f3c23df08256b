"""A server that several processes share: started by the first, stopped by the last one out.

Two lock files in var/lock: whoever uses the server holds a shared lock on `users` (a killed
process lets go by itself), and whoever starts or stops it holds `change`.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Self

START_SECONDS = 120  # crash recovery of a busy disk takes its time
STOP_SECONDS = 10


class EmbeddedError(Exception):
    """One sentence for the terminal."""


def var_dir() -> Path:
    return Path(os.environ.get("RAPPORT_VAR") or Path(__file__).parents[2] / "var").resolve()


class Server:
    """Entering starts or finds it; leaving stops it when nobody else uses it."""

    def __init__(self, name: str) -> None:
        self.name = name
        digest = hashlib.sha256(str(var_dir() / name).encode()).hexdigest()[:10]
        # A socket's path may have 107 bytes: it cannot live below just any project folder.
        self.run_dir = Path(tempfile.gettempdir()) / f"rapport-{os.getuid()}-{digest}"
        self.process: subprocess.Popen[bytes] | None = None
        self._users: IO[str] | None = None

    def __enter__(self) -> Self:
        if not Path("/proc/self").exists():
            raise EmbeddedError("The embedded servers need Linux: set DATABASE_URL and REDIS_URL.")
        with self._changing():
            self._start_unless_running()
            self._users = self._lock_file("users")
            fcntl.flock(self._users, fcntl.LOCK_SH)
        return self

    def __exit__(self, *_: object) -> None:
        if self._users is None:
            return
        with self._changing(), self._users, contextlib.suppress(BlockingIOError):
            fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.stop()
            shutil.rmtree(self.run_dir, ignore_errors=True)

    def restart_if_dead(self) -> bool:
        """Return whether it had to be started again."""
        with self._changing():
            return self._start_unless_running()

    @property
    def data_dir(self) -> Path:
        return var_dir() / self.name

    def runs(self) -> bool:
        return works_in(self._pid(), self.data_dir)

    def before_stop(self) -> None:
        """Begin, and do not wait for, what makes a stop short that comes in a moment."""

    def stop(self) -> None:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError

    def _pid(self) -> int:
        """Return the number it has written down; 0 when there is none."""
        raise NotImplementedError

    def _spawn(self) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def _clear_away(self) -> None:
        """Deal with what a predecessor left that answers no more."""
        raise NotImplementedError

    def _start_unless_running(self) -> bool:
        if self.runs() and self._answers_soon():
            return False
        self._clear_away()
        self.process = self._spawn()
        if not self._answers_soon():
            raise EmbeddedError(f"{self.name} did not start; its last words: {self._last_words()}")
        return True

    def _answers_soon(self) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while self.runs() or self._is_young():
            if self._answers():
                return True
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        return False

    def _is_young(self) -> bool:
        """It has been started by this process, and may not have written down its number yet."""
        return self.process is not None and self.process.poll() is None

    def _last_words(self) -> str:
        lines = self.log_path.read_text(errors="replace").strip().splitlines()
        return f"{lines[-1] if lines else 'none'} ({self.log_path})"

    @property
    def log_path(self) -> Path:
        return var_dir() / "log" / f"{self.name}.log"

    def _popen(self, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        """Run it in a session of its own: a terminal's Ctrl-C is not for servers."""
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **options,
            )

    def _signal_and_wait(self, pid: int, *signals: int) -> None:
        """Send each signal in turn until the process is gone."""
        for number in signals:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            deadline = time.monotonic() + STOP_SECONDS
            while _alive(pid) and time.monotonic() < deadline:
                if self.process is not None:
                    self.process.poll()  # a child of ours stays a zombie until it is asked
                time.sleep(0.02)
            if not _alive(pid):
                return

    def _make_run_dir(self, uid: int) -> None:
        """Trust authentication and an open Valkey are safe only behind this folder's mode."""
        with contextlib.suppress(FileExistsError):
            self.run_dir.mkdir(mode=0o700)
            os.chown(self.run_dir, uid, -1)
        found = self.run_dir.lstat()
        if self.run_dir.is_symlink() or found.st_uid != uid or found.st_mode & 0o077:
            raise EmbeddedError(
                f"{self.run_dir} is not a private folder of ours: remove it, or set TMPDIR."
            )

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock_file("change") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _lock_file(self, kind: str) -> IO[str]:
        path = var_dir() / "lock" / f"{self.name}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a")


def package_dir(name: str) -> Path:
    """Return where an installed package lies, without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise EmbeddedError(
            f"The package {name} is missing: run `make setup`, or name servers of your own."
        )
    return Path(spec.origin).parent


def processes_in(folder: Path) -> list[int]:
    """Return the living processes that work in `folder`, oldest first; a zombie works nowhere."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        if works_in(int(entry.name), folder):
            found.append(int(entry.name))
    return sorted(found)


def works_in(pid: int, folder: Path) -> bool:
    """Tell a living server of ours from a zombie, and from a stranger that has its number now."""
    try:
        return pid > 0 and Path(f"/proc/{pid}/cwd").readlink() == folder.resolve()
    except OSError:
        return False


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
