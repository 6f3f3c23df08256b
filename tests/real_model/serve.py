"""Serve a small real model on loopback until standard input ends: serve.py MODEL.gguf PORT."""

import os
import sys
from typing import Any

# With its default spin-wait, two threads on a busy machine fall to under a token a second.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def main(model: str, port: int) -> None:
    xllamacpp: Any = __import__("xllamacpp")  # lives in an environment of its own
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 2
    params.cpuparams.n_threads = 2
    params.use_jinja = True
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
