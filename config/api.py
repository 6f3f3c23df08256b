"""The one API: who may call it, how it says no, and where each app's router hangs."""

import logging
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer

import chat.api
import escalations.api
import memory.api
from config.refusals import UNSTORABLE, error, kind_of
from memory import services
from memory.models import ApiKey

logger = logging.getLogger(__name__)


class KeyAuth(HttpBearer):
    """`Authorization: Bearer rk_…`: staff make keys in the admin; only their hash is kept."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiKey | None:
        key = services.key_for(token, now=timezone.now())
        if key is not None:
            request.user = key.user
        return key


class DeskAuth(KeyAuth):
    """What staff do at the desk takes a key of the desk: an agent's opens memory alone."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiKey | None:
        key = super().authenticate(request, token)
        if key is not None and key.namespaces:
            raise PermissionDenied("An agent's key may not do that: it takes a key of the desk.")
        return key


api = NinjaAPI(
    title="Rapport",
    version="1",
    description=(
        "Conversations, answers and escalations, and memory for agents of your own. Every error is "
        '{"error": {"code", "message", "fields"}}; times are ISO 8601 with an offset. Each call'
        " says which key it takes: one of the desk (made without namespaces), or an agent's, which"
        " reaches the namespaces that it was made with and no desk. Both are made in the admin."
    ),
    auth=KeyAuth(),
)


def _error(
    request: HttpRequest, status: int, message: str, fields: dict[str, str] | None = None
) -> HttpResponse:
    return api.create_response(request, error(status, message, fields), status=status)


@api.exception_handler(AuthenticationError)
def _no_key(request: HttpRequest, exc: Any) -> HttpResponse:
    answer = _error(request, 401, "Send a valid key: Authorization: Bearer rk_…")
    answer["WWW-Authenticate"] = "Bearer"
    return answer


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, exc: Any) -> HttpResponse:
    # ("body", "payload", "messages", 0, "sender"): callers know what is inside the payload.
    fields = {".".join(map(str, e["loc"][2:] or e["loc"][1:])): str(e["msg"]) for e in exc.errors}
    return _error(request, 422, "Some fields are missing or wrong.", fields)


@api.exception_handler(HttpError)
def _refused(request: HttpRequest, exc: Any) -> HttpResponse:
    return _error(request, exc.status_code, str(exc))


@api.exception_handler(Http404)
@api.exception_handler(ObjectDoesNotExist)
def _not_found(request: HttpRequest, exc: Any) -> HttpResponse:
    return _error(request, 404, "There is nothing here under that number.")


@api.exception_handler(PermissionDenied)
def _forbidden(request: HttpRequest, exc: Any) -> HttpResponse:
    return _error(request, 403, str(exc) or "This key may not do that.")


@api.exception_handler(DataError)
def _unstorable(request: HttpRequest, exc: Any) -> HttpResponse:
    """What PostgreSQL cannot hold is the caller's mistake; no field is worth a check of its own."""
    logger.warning("Not stored: %s", kind_of(exc))
    return _error(request, 422, UNSTORABLE)


@api.exception_handler(Exception)
def _failed(request: HttpRequest, exc: Any) -> HttpResponse:
    logger.error("Unable to answer %s %s", request.method, request.path, exc_info=exc)
    return _error(request, 500, "It is our fault, and it has been noted. Please try again.")


api.add_router("", chat.api.router, auth=DeskAuth())
api.add_router("", memory.api.router, auth=KeyAuth())
api.add_router("", escalations.api.router, auth=DeskAuth())
