#!/usr/bin/env python3
"""Django's command line; a command that needs the embedded servers finds or runs them."""

import contextlib
import os
import sys

from django.core.management import execute_from_command_line

from config import embedded

# `up` runs the servers itself; the others work without a database.
WITHOUT_SERVERS = {
    *("up", "help", "version", "check", "diffsettings", "collectstatic", "findstatic", "test"),
    *("startapp", "startproject", "makemessages", "compilemessages"),
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        with _servers(sys.argv):
            execute_from_command_line(sys.argv)
    except embedded.EmbeddedError as error:
        sys.exit(str(error))


def _servers(argv: list[str]) -> contextlib.AbstractContextManager[object]:
    command = argv[1] if len(argv) > 1 else "help"
    if command in WITHOUT_SERVERS or command.startswith("-") or {"-h", "--help"} & set(argv):
        return contextlib.nullcontext()
    return embedded.held_for_a_command()


if __name__ == "__main__":
    main()
