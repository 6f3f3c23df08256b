"""Read-only tools against a small real service: what may be read, what a failure teaches."""

import socket

import pytest

from chat.tools.base import Attempt, ToolSpec
from chat.tools.http_get import HttpGet
from chat.tools.reflection import Reflector
from tests.tool_service import TOKEN, ToolService

ORDER_ID = {
    "type": "object",
    "properties": {"order_id": {"type": "string", "pattern": "^[A-Z]-[0-9]+$"}},
    "required": ["order_id"],
    "additionalProperties": False,
}
ORDER = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}


@pytest.fixture
def service():
    with ToolService() as service:
        yield service


@pytest.fixture
def get():
    return HttpGet(hosts={"127.0.0.1"}, private_hosts={"127.0.0.1"})


def order_status(service, **changes):
    fields = {
        "name": "order_status",
        "description": "Where an order is.",
        "arguments": ORDER_ID,
        "url": f"{service.url}/orders/{{order_id}}",
        "result": ORDER,
        "auth_header": "Authorization",
        "token": TOKEN,
    }
    return ToolSpec(**fields | changes)


def reader(service, path, **changes):
    return order_status(service, url=f"{service.url}/{path}", arguments={}, **changes)


async def test_learns_from_a_401_that_the_token_is_needed_and_then_gets_the_order(service, get):
    run = await Reflector(get).run(order_status(service), {"order_id": "A-17"})

    assert [o.status for o in run.outcomes] == [401, 200]
    assert run.last.data["status"] == "on its way"
    assert run.lessons[0].change == {"with_token": True}
    assert run.lessons[0].conditions == {"status": 401}


async def test_uses_what_it_learnt_from_the_start_the_next_time(service, get):
    first = await Reflector(get).run(order_status(service), {"order_id": "A-17"})

    second = await Reflector(get).run(
        order_status(service), {"order_id": "A-17"}, [lesson.change for lesson in first.lessons]
    )

    assert [o.status for o in second.outcomes] == [200]


async def test_keeps_no_lesson_when_the_retry_failed_too(service, get):
    run = await Reflector(get).run(order_status(service), {"order_id": "B-1"})

    assert not run.ok
    assert run.last.status == 404
    assert run.lessons == ()


async def test_does_not_repeat_what_would_be_the_same(service, get):
    run = await Reflector(get).run(reader(service, "forbidden"), {})

    assert len(run.outcomes) == 1
    assert run.skipped == "another try would be the same"


async def test_gives_a_slow_service_more_time_once_it_knows(service, get):
    run = await Reflector(get).run(reader(service, "slow", result={}, timeout=0.2), {})

    assert run.ok
    assert run.outcomes[0].failure == "timeout"
    assert run.lessons[-1].change["timeout"] > 0.2


@pytest.mark.parametrize("order_id", ["../admin", "A-17?x=1", "17", "A-17/../../etc"])
async def test_refuses_arguments_that_do_not_fit_before_anything_is_sent(service, get, order_id):
    outcome = await get(order_status(service), Attempt({"order_id": order_id}))

    assert outcome.failure == "arguments"
    assert service.seen == []


async def test_keeps_an_argument_inside_its_own_place_in_the_address(service, get):
    loose = order_status(service, arguments={"type": "object"})

    await get(loose, Attempt({"order_id": "a/../b?c=d#e"}))

    assert service.seen[0][0] == "/orders/a%2F..%2Fb%3Fc%3Dd%23e"


@pytest.mark.parametrize(
    ("path", "failure"),
    [
        ("huge", "too_large"),
        ("page", "not_json"),
        ("deep", "not_json"),
        ("long", "not_json"),
        ("free", "schema"),
        ("forbidden", "status"),
    ],
)
async def test_says_what_was_wrong_with_what_came_back(service, get, path, failure):
    outcome = await get(reader(service, path), Attempt({}))

    assert outcome.failure == failure


async def test_reads_no_private_address_unless_it_is_listed(service):
    outcome = await HttpGet(hosts={"127.0.0.1"})(reader(service, "free"), Attempt({}))

    assert outcome.failure == "refused"
    assert service.seen == []


async def test_reads_no_host_that_is_not_listed(service):
    outcome = await HttpGet(hosts={"shop.example"})(reader(service, "free"), Attempt({}))

    assert outcome.failure == "refused"
    assert service.seen == []


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "fd00::1"])
async def test_a_public_name_that_points_to_a_private_address_is_refused(monkeypatch, address):
    def resolve(host, port, *args, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    tool = ToolSpec("x", "x", {}, "https://shop.example/orders")

    outcome = await HttpGet(hosts={"shop.example"})(tool, Attempt({}))

    assert outcome.failure == "refused"
    assert "private" in outcome.detail


async def test_a_redirect_to_a_host_that_is_not_listed_is_refused(service, get):
    tool = reader(service, "away?to=http://localhost:1/secret")

    outcome = await get(tool, Attempt({}))

    assert outcome.failure == "refused"


async def test_the_token_does_not_follow_a_redirect_to_another_host(service):
    with ToolService() as other:
        tool = reader(service, f"away?to={other.url}/free", result={})

        outcome = await HttpGet({"127.0.0.1"}, {"127.0.0.1"})(tool, Attempt({}, with_token=True))

    assert outcome.ok
    assert service.seen[0][1] == TOKEN
    assert other.seen[0][1] == ""


async def test_a_token_is_shown_in_no_description_of_the_tool(service):
    tool = order_status(service)

    assert TOKEN not in repr(tool)
    assert TOKEN not in str(tool.for_model())
