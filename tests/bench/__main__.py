"""`make bench`, and with --quick `make bench-quick`: figures, and whether they keep their bars."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack


def main() -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    with tempfile.TemporaryDirectory(prefix="rapport-bench-") as var, ExitStack() as stack:
        # A folder of its own: servers, data, locks; nothing of yours is touched.
        os.environ["RAPPORT_VAR"] = os.environ.get("RAPPORT_BENCH_VAR") or var
        os.chmod(var, 0o755)  # noqa: S103 - PostgreSQL runs as a user of its own
        import django

        from config import embedded

        stack.enter_context(embedded.postgres())
        stack.callback(embedded.close_connections)
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0, interactive=False)
        only = [a for a in sys.argv[1:] if not a.startswith("-")]
        if "--quick" in sys.argv:
            from tests.bench import quick

            return 0 if quick.measure(only=only) else 1
        from tests.bench import full

        return 0 if full.measure(only=only) else 1


if __name__ == "__main__":
    sys.exit(main())
