"""Everything that can be written of a customer is written, and after her erasure nothing is left.

The walk goes through the running product: every frame, every form, every operation of the API. A
new one that it does not know fails the test, until it is walked or left out with a reason.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core import signing
from django.test import RequestFactory
from django.urls import URLResolver, get_resolver

from chat import consumers, feed, frames
from config import embedded
from config.api import api
from escalations import delivery
from memory.services import registry
from tests.project.test_up import Up, up, wait_for  # noqa: F401 - a fixture
from tests.project.walk import SECRET
from tests.project.walk_staff import Walk
from tests.project.walking import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RUNS_WITH = {
    "RAPPORT_DEMO": "1",
    "CHAT_IDENTITY_SECRET": SECRET,
    "CHAT_VISITOR_PER_MINUTE": "9999",
    "CHAT_ADDRESS_PER_MINUTE": "9999",
    "CHAT_BURST_MS": "0",
    "EMAIL_HOST": "127.0.0.1",  # nobody listens there: what cannot be sent is tried again
    "EMAIL_PORT": "9",
}

READ = "shows things, and takes no words"
OURS = "the business's own words, for everybody: nothing of one customer belongs there"
AGENTS = "an agent's own: refused in a customer's namespace"
LEFT_OUT = {
    **dict.fromkeys(
        [
            "chat:page",
            "chat:privacy",
            "chat:back",
            "escalations:inbox",
            "escalations:live",
            "escalations:alerts",
            "escalations:mails",
            "escalations:detail",
            "escalations:chat",
            "escalations:customer",
            "escalations:review",
            "escalations:answer",
            "escalations:gaps",
            "escalations:search",
            "escalations:csv",
            "escalations:receipt",
            "escalations:replay",
            "admin:index",
            "admin:jsi18n",
            "admin:autocomplete",
            "admin:view_on_site",
            "admin:app_list",
            "admin:memory_review",
            "theme",
            "admin:memory_customer_as_of",
            "admin:memory_customer_export",
            "admin:password_change_done",
        ],
        READ,
    ),
    **dict.fromkeys(
        [
            "escalations:add_answer",
            "escalations:how_to",
            "escalations:approve_how_to",
            "escalations:reports",
        ],
        OURS,
    ),
    **dict.fromkeys(
        [
            "logout",
            "admin:login",
            "admin:logout",
            "admin:password_change",
            "chat:not_me",
            "chat:as",
        ],
        "who is at the browser, and no words",
    ),
    "admin:memory_customer_erase": "the end of the walk",
}
OPERATIONS_LEFT_OUT = {
    **dict.fromkeys(
        [
            "GET /api/answers",
            "GET /api/answers/export",
            "GET /api/answers/{answer_id}",
            "POST /api/answers",
            "POST /api/answers/{answer_id}/retire",
            "POST /api/answers/procedures",
            "POST /api/answers/{answer_id}/approve",
            "POST /api/answers/{answer_id}/reject",
        ],
        OURS,
    ),
    "GET /api/lessons": AGENTS,
    "POST /api/lessons": AGENTS,
    "POST /api/lessons/{lesson_id}/promote": AGENTS,
}
FIELDS_LEFT_OUT = {
    "login": {"username"},
    "admin:memory_apikey_add": {"name", "namespaces"},
    "admin:memory_memory_add": {"customer"},  # a number
    "admin:memory_topic_change": {"label", "description", "examples", "not_examples"},
}
# What staff write for themselves, and the drafts of what they may yet say.
INTERNAL = {
    "escalations:note text",
    "escalations:customer_note text",
    "escalations:draft text",
    "escalations:looked worked",
}
FRAMES_LEFT_OUT = {
    "frame delta": "a piece of what a model writes: the row that follows has it",
    "frame typing": "says who is writing, and holds no words",
}
MAILS_LEFT_OUT = {
    "realert": "an alert of later: one function writes both",
    "review": "how many answers are due, and no word of them",
}
# What worked with her last time is among the facts of the next like question: an agent's to use.
MAY_READ = {
    "POST /api/memory/{customer_id}/recall": {"escalations:looked worked"},
    "POST /api/agents/{agent}/context": {"escalations:looked worked"},
}
HELD_BY = {  # tables that the walk has to reach, or it proves too little
    "memory_customer", "memory_memory", "memory_episode", "memory_memoryevent", "memory_topic",
    "memory_answermatch", "chat_conversation", "chat_message", "escalations_question",
    "escalations_staffnote", "escalations_delivery", "escalations_gap",
}  # fmt: skip


@pytest.fixture
def walk(up: Up) -> Iterator[Walk]:  # noqa: F811
    with (up.var / "output.log").open("w") as log:
        up.run(to=log, **RUNS_WITH)
        wait_for(up.answers, 180)  # it loads the demo first
        wait_for(lambda: up.child("celery"))
        yield Walk(up.port)


def dump() -> Iterator[tuple[str, str]]:
    """Every table in plain text; of sessions, what their signed text stands for."""
    about = embedded.postgres().django_database()
    with psycopg.connect(
        host=about["HOST"], user=about["USER"], dbname=about["NAME"]
    ) as connection:
        tables = connection.execute(
            "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = current_schema"
        ).fetchall()
        for (table,) in tables:
            with connection.cursor().copy(f"COPY {table} TO STDOUT") as copy:
                yield table, b"".join(bytes(line) for line in copy).decode(errors="replace")
        for (kept,) in connection.execute("SELECT session_data FROM django_session").fetchall():
            told = signing.loads(kept, key=_secret(), salt=SessionStore().key_salt)
            yield "django_session", str(told)


def _secret() -> str:
    return (embedded.postgres().data_dir.parent / "secret_key").read_text().strip()


def files(var: Path) -> Iterator[tuple[str, str]]:
    """Files and logs. What the database's own folder holds is read as its tables."""
    for path in var.rglob("*"):
        if path.is_file() and embedded.postgres().data_dir not in path.parents:
            yield str(path.relative_to(var)), path.read_bytes().decode(errors="replace")


def keys() -> Iterator[tuple[str, str]]:
    """What the broker, the cache and the channel layer keep."""
    with redis.from_url(embedded.valkey().url) as valkey:
        for key in valkey.scan_iter():
            yield f"key {key!r}", f"{key!r} {valkey.dump(key)!r}"


def test_an_erased_customer_is_nowhere_any_more(walk: Walk, up: Up, db: None) -> None:  # noqa: F811
    walk.all()
    reached = {table for table, text in dump() if walk.marks.found_in(text)}
    assert sorted(HELD_BY - reached) == []
    everything_was_walked(walk)
    nothing_internal_was_told(walk)

    walk.everybody_is_erased()

    left = {
        f"{place}: in {where}"
        for where, text in (*dump(), *files(up.var), *keys())
        for place in walk.marks.found_in(text)
    }
    assert sorted(left) == []


def everything_was_walked(walk: Walk) -> None:
    wanted = {name for name in names() if not name.startswith(("admin:", "api"))}
    wanted |= set(own_admin_pages())
    assert sorted(wanted - set(Browser.posted) - set(LEFT_OUT)) == []
    operations = {
        f"{method.upper()} {path}"
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
    }
    assert sorted(operations - walk.api.called - set(OPERATIONS_LEFT_OUT)) == []
    assert set(frames._READERS) == walk.framed
    missed = {
        f"{name} {field}"
        for name, fields in Browser.forms.items()
        if name not in LEFT_OUT
        for field in fields - Browser.posted[name] - FIELDS_LEFT_OUT.get(name, set())
    }
    assert sorted(missed) == [], "fields of forms that nothing was written into"
    unknown = {*LEFT_OUT, *FIELDS_LEFT_OUT} - set(names())
    unknown |= set(OPERATIONS_LEFT_OUT) - operations
    assert not unknown, "left out, and not there"


def nothing_internal_was_told(walk: Walk) -> None:
    """In no page, no frame, no mail and no operation that shows what customers see."""
    customers = [*walk.ada.told, *walk.vic.told, *walk.eve.told]
    told = [*customers, *walk.api.told, *((f"mail {kind}", text) for kind, text in walk.mails)]
    found = {
        f"{place}: in {what}"
        for what, text in told
        for place in walk.marks.found_in(text) & INTERNAL
        if place not in MAY_READ.get(what, ())
    }
    assert sorted(found) == []
    assert {place for _, text in customers for place in walk.marks.found_in(text)}
    wanted = {f"frame {kind}" for kind in frame_types()} - set(FRAMES_LEFT_OUT)
    assert sorted(wanted - {what for what, _ in customers}) == []
    assert sorted(mail_kinds() - {kind for kind, _ in walk.mails} - set(MAILS_LEFT_OUT)) == []


def frame_types() -> set[str]:
    """What the chat's socket sends, by its source."""
    sources = (Path(str(module.__file__)).read_text() for module in (consumers, feed, frames))
    return {kind for text in sources for kind in re.findall(r'"type": "(\w+)"', text)}


def mail_kinds() -> set[str]:
    """What mails there are, by the source of the app that writes them all."""
    here = Path(delivery.__file__).parent
    found = set(delivery.TO_CUSTOMER)
    for path in here.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("_mail"):
                told = {word.arg: word.value for word in call.keywords}
                kind = told.get("kind")
                found |= {str(kind.value)} if isinstance(kind, ast.Constant) else set()
    return found


def names(patterns: URLResolver | None = None, space: str = "") -> Iterator[str]:
    for one in (patterns or get_resolver()).url_patterns:
        if isinstance(one, URLResolver):
            yield from names(one, f"{one.namespace}:" if one.namespace else space)
        elif one.name:
            yield f"{space}{one.name}"


def own_admin_pages() -> Iterator[str]:
    """Pages of the admin that write what is a customer's, and the pages that belong to no model.

    What the permissions of a superuser do not open is read only.
    """
    models = {label for keeper in registry.keepers().values() for label in keeper.models}
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True, is_staff=True)
    of_a_model = re.compile(r"admin:(\w+_\w+?)_(add|change|changelist|delete|history)$")
    for model, page in admin.site._registry.items():
        start = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        if model._meta.label not in models:
            continue
        if page.has_add_permission(request):
            yield f"{start}_add"
        if page.has_change_permission(request, model(pk=1)):
            yield f"{start}_change"
        missing = set(page.get_actions(request)) - Browser.posted[f"{start}_changelist"]
        # Nothing may be deleted there, and erasing is the end of the walk.
        missing -= {"delete_selected", "erase_chosen"}
        assert not missing, f"actions of {start} that were not walked"
        assert not page.has_delete_permission(request, model(pk=1)), start
    own = {name for name in names() if name.startswith("admin:")}
    yield from (name for name in own if not of_a_model.match(name) and "auth_" not in name)
