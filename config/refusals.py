"""What came in and cannot be stored: said in words, for every page at once."""

from __future__ import annotations

import logging

from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

logger = logging.getLogger(__name__)

UNSTORABLE = "Something in it cannot be stored: a NUL character, or a number or date too large."


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
