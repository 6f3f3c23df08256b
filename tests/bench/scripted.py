"""A model that answers at once, as a program of its own: its work is not ours. Ends with its input.

Run as `python -m tests.bench.scripted`; it prints its address. It says a fact that it was given, as
nothing else may be said, and without one calls a person.
"""

import json
import re
import sys

from tests.llm_server import Request, Rule, ScriptedServer, last_text


def main() -> None:
    with ScriptedServer() as server:
        server.on(tool=("probe", {"ok": True}), offers_tool="probe")
        server.on(answer=_reply, offers_tool="hand_over")
        print(server.url, flush=True)
        sys.stdin.read()


def _reply(request: Request) -> Rule:
    told = [f["fact"] for f in json.loads(last_text(request, "user"))["facts"]]
    # What reads like a promise or a rule is looked at twice, and not let through.
    if plain := [fact for fact in told if not re.search("promised|[Nn]ever", fact)]:
        return Rule(text=plain[0])
    return Rule(tool=("hand_over", {"text": "nothing is known"}))


if __name__ == "__main__":
    main()
