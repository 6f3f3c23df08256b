"""What is refused, said in words: for every page, and for programs in the API's one shape."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

logger = logging.getLogger(__name__)

UNSTORABLE = "Something in it cannot be stored: a NUL character, or a number or date too large."

API = "/api/"
CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "not_allowed",
    409: "conflict",
    413: "too_long",
    422: "invalid",
    429: "throttled",
    500: "failed",
    503: "unavailable",
}
WORDS = {
    404: "There is no such address in this API: /api/docs lists them all.",
    405: "This address does not take that method.",
}


def error(status: int, message: str, fields: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The body of every refusal of the API."""
    said = {"code": CODES.get(status, "error"), "message": message, "fields": dict(fields or {})}
    return {"error": said}


def kind_of(exception: Exception) -> str:
    """What the database said, without the words that it said it of: logs are not erased."""
    return type(exception.__cause__ or exception).__name__


class Unstorable(MiddlewareMixin):
    """A NUL or a number beyond PostgreSQL's is the sender's mistake, and no failure of ours."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DataError):
            return None
        logger.warning("Not stored, at %s: %s", request.path, kind_of(exception))
        return render(request, "400.html", {"words": UNSTORABLE}, status=400)


class InShape(MiddlewareMixin):
    """What Django itself refuses below /api/ is for programs, too: an address, a method, a host."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        told = response.headers.get("Content-Type", "")
        if (
            not request.path.startswith(API)
            or response.status_code < 400
            or told.startswith("application/json")
            or not isinstance(response, HttpResponse)
        ):
            return response
        status = response.status_code
        words = WORDS.get(status) or f"{response.reason_phrase}."
        response.content = json.dumps(error(status, words)).encode()
        response["Content-Type"] = "application/json; charset=utf-8"
        response["Content-Length"] = str(len(response.content))
        return response
