"""A model that answers at once, as a program of its own: its work is not ours. Ends with its input.

Run as `python -m tests.bench.scripted`; it prints its address.
"""

import sys

from tests.llm_server import ScriptedServer

REPLY = "Let me look at that with you."


def main() -> None:
    with ScriptedServer() as server:
        server.on(tool=("probe", {"ok": True}), offers_tool="probe")
        server.on(text=REPLY, offers_tool="hand_over")
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
