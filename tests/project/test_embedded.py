"""The servers that come as wheels: shared, stopped by the last one out, and hard to kill."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from config import embedded
from config.servers import base
from config.servers.postgres import Postgres

EXTENSIONS = {"vector", "pg_trgm", "unaccent", "pg_stat_statements"}


@pytest.fixture
def var(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="rapport-test-"))
    folder.chmod(0o755)
    monkeypatch.setenv("RAPPORT_VAR", str(folder))
    yield folder
    forget(folder)


def forget(folder: Path) -> None:
    for server in (cluster(), embedded.valkey()):
        server.stop()
        shutil.rmtree(server.run_dir, ignore_errors=True)
        shutil.rmtree(server.data_dir, ignore_errors=True)
    shutil.rmtree(folder)


def cluster() -> Postgres:
    return Postgres("pg", durable=False)


def connect(server: Postgres) -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect(host=str(server.run_dir), user="postgres", dbname="rapport")


def test_the_extensions_that_memory_needs_are_there(var: Path) -> None:
    with cluster() as server, connect(server) as connection:
        rows = connection.execute("select name from pg_available_extensions").fetchall()
    assert {name for (name,) in rows} >= EXTENSIONS


def test_the_last_one_out_stops_the_server(var: Path) -> None:
    first, second = cluster(), cluster()
    with first:
        with second:
            assert second.process is None, "the second one finds the server running"
        assert first.runs()
    assert not first.runs()


def test_a_killed_server_comes_back_with_its_rows(var: Path) -> None:
    with cluster() as server:
        with connect(server) as connection:
            connection.execute("create table kept as select 1 as row")
            connection.commit()
            connection.execute("checkpoint")  # this cluster does not sync by itself
        assert server.process
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        assert server.restart_if_dead()
        with connect(server) as connection:
            assert connection.execute("select row from kept").fetchone() == (1,)


def test_a_strangers_process_number_does_not_block_the_start(var: Path) -> None:
    with cluster() as server:
        words = (server.data_dir / "postmaster.pid").read_text().splitlines()
    (server.data_dir / "postmaster.pid").write_text("\n".join([str(os.getpid()), *words[1:]]))
    with cluster() as server:
        assert server.runs()


def test_a_half_made_cluster_is_made_anew(var: Path) -> None:
    (var / "pg.init" / "base").mkdir(parents=True)
    with cluster() as server, connect(server):
        assert not (var / "pg.init").exists()


def test_a_socket_folder_that_others_can_enter_is_refused(var: Path) -> None:
    server = embedded.valkey()
    server.run_dir.mkdir(mode=0o755)
    with pytest.raises(embedded.EmbeddedError, match="not a private folder"), server:
        pass


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_root_may_keep_its_checkout_to_itself(var: Path) -> None:
    var.chmod(0o700)
    with cluster() as server, connect(server):
        assert not server.data_dir.is_relative_to(var)
        assert (var.stat().st_mode & 0o777) == 0o700, "no parent folder is opened to others"


def test_valkey_keeps_what_it_was_told(var: Path) -> None:
    with embedded.valkey() as server:
        redis.Redis(unix_socket_path=server.url.removeprefix("unix://")).set("kept", "1")
    with embedded.valkey() as server:
        assert redis.Redis(unix_socket_path=server.url.removeprefix("unix://")).get("kept") == b"1"


def test_a_missing_wheel_is_said_in_one_sentence() -> None:
    with pytest.raises(
        embedded.EmbeddedError, match=r"^The package no_such_wheel is missing: .*\.$"
    ):
        base.package_dir("no_such_wheel")


def test_the_secret_key_is_made_once_and_private(var: Path) -> None:
    assert embedded.secret_key() == embedded.secret_key()
    assert (var / "secret_key").stat().st_mode & 0o777 == 0o600


def test_two_checkouts_have_sockets_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    here = embedded.postgres().run_dir
    monkeypatch.setenv("RAPPORT_VAR", "/elsewhere/var")
    assert embedded.postgres().run_dir != here
