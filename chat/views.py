"""The customer's page and its forms: every frame of the socket has a twin that works without it."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat import conversations, demo, door, feed, frames, identity, throttle, wordings
from chat.events import Failed
from chat.identity import COOKIE, Who
from chat.turns import in_db_thread
from memory.models import Customer

DAY = 86_400  # seconds


@never_cache
@require_GET
async def page(request: HttpRequest) -> HttpResponse:
    """The chat. `?identity=`: a signed token, taken out of the address at once."""
    if signed := request.GET.get("identity", ""):
        return await _signed_in(request, signed)
    who = await in_db_thread(identity.recognise)(_token(request), now=timezone.now())
    return await _page(request, who)


@require_POST
async def send(request: HttpRequest) -> HttpResponse:
    return await _form(request, {"type": "say", "text": request.POST.get("text", "")})


@require_POST
async def choose(request: HttpRequest) -> HttpResponse:
    sent = {"offer_seq": request.POST.get("offer_seq", ""), "choice": request.POST.get("choice")}
    return await _form(request, {"type": "choose", **sent})


@require_POST
async def person(request: HttpRequest) -> HttpResponse:
    return await _form(request, {"type": "person", "text": request.POST.get("text", "")})


@require_POST
async def end(request: HttpRequest) -> HttpResponse:
    return await _form(request, {"type": "end"})


@require_POST
async def rate(request: HttpRequest) -> HttpResponse:
    sent = {"score": request.POST.get("score", ""), "words": request.POST.get("words", "")}
    return await _form(request, {"type": "rate", **sent})


@require_POST
async def email(request: HttpRequest) -> HttpResponse:
    return await _form(request, {"type": "email", "address": request.POST.get("address", "")})


@require_POST
async def new(request: HttpRequest) -> HttpResponse:
    """Start another conversation, after the last one ended."""
    now = timezone.now()
    who = await in_db_thread(identity.recognise)(_token(request), now=now)
    if who is not None:
        await in_db_thread(conversations.current_or_new)(
            who.customer_id, now=now, verified=who.verified
        )
    return redirect("chat:page")


@require_POST
async def not_me(request: HttpRequest) -> HttpResponse:
    """Another person at this browser: whoever was here before is not known to it any more."""
    await in_db_thread(identity.drop)(_token(request))
    response = redirect("chat:page")
    response.delete_cookie(COOKIE)
    return response


@require_GET
async def privacy(request: HttpRequest) -> HttpResponse:
    business = await in_db_thread(conversations.business)()
    return await in_db_thread(render)(request, "chat/privacy.html", {"business": business})


@never_cache
@require_GET
async def back(request: HttpRequest, signed: str) -> HttpResponse:
    """The link in the one e-mail: this browser is that visitor's from here on."""
    conversation = await in_db_thread(identity.from_link)(signed)
    if conversation is None:
        business = await in_db_thread(conversations.business)()
        context = {"business": business, "link_days": settings.CHAT_LINK_DAYS}
        return await in_db_thread(render)(request, "chat/gone.html", context, status=410)
    token = await in_db_thread(identity.issue)(
        conversation.customer_id, address=_address(request), now=timezone.now()
    )
    return _with_cookie(redirect("chat:page"), token)


@never_cache
@require_http_methods(["GET", "POST"])
async def chat_as(request: HttpRequest) -> HttpResponse:
    """Chat as one of the made-up customers; in demo mode alone."""
    if not settings.RAPPORT_DEMO:
        raise Http404
    now = timezone.now()
    if request.method == "GET":
        context = await in_db_thread(demo.context)(now=now)
        return await in_db_thread(render)(request, "chat/demo.html", context)
    chosen = request.POST.get("customer", "")
    if not chosen:
        return await not_me(request)
    customer = await in_db_thread(demo.customer)(chosen)
    if customer is None:
        raise Http404
    token = await in_db_thread(identity.issue)(
        customer.pk, address=_address(request), now=now, days=1
    )
    # Whoever was ended last time begins anew: a demo that opens on "this has ended" shows nothing.
    await in_db_thread(conversations.current_or_new)(customer.pk, now=now, verified=True)
    return _with_cookie(redirect("chat:page"), token, days=1)


# --- helpers -------------------------------------------------------------------------------------


async def _form(request: HttpRequest, sent: dict[str, Any]) -> HttpResponse:
    """Do what a frame would do, wait for what comes of it, and lead back to the page."""
    now = timezone.now()
    try:
        act = frames.parse({**sent, "client_id": request.POST.get("client_id", "")})
    except frames.BadFrame as exc:
        return await _refuse(request, str(exc))
    token = _token(request)
    who = await in_db_thread(identity.recognise)(token, now=now)
    if who is None:
        try:
            who, token = await in_db_thread(identity.new_visitor)(
                token, address=_address(request), now=now
            )
        except throttle.Throttled as exc:
            words = await in_db_thread(wordings.say)("throttled", 0, 0, seconds=str(exc.seconds))
            return await _refuse(request, words, status=429)
    course = await door.enter(who, act, address=_address(request), now=now)  # type: ignore[arg-type]
    async for event in course:
        if isinstance(event, Failed):
            status = 429 if event.code == "throttled" else 409
            return await _refuse(request, event.text, status=status, who=who)
    if not who.verified:
        await in_db_thread(identity.renew)(token, now=now)
    newest = redirect(reverse("chat:page") + "#newest")
    return _with_cookie(newest, token, days=1 if who.verified else None)


async def _refuse(
    request: HttpRequest, words: str, *, status: int = 422, who: Who | None = None
) -> HttpResponse:
    """The page again, with what was wrong beside the text that was typed."""
    who = who or await in_db_thread(identity.recognise)(_token(request), now=timezone.now())
    draft = request.POST.get("text", "")
    return await _page(request, who, refused=words, draft=draft, status=status)


async def _page(
    request: HttpRequest,
    who: Who | None,
    *,
    refused: str = "",
    draft: str = "",
    status: int = 200,
) -> HttpResponse:
    context = await in_db_thread(_context)(who)
    context |= {"refused": refused, "draft": draft}
    response = await in_db_thread(render)(request, "chat/page.html", context, status=status)
    if who is not None and not who.verified:
        await in_db_thread(identity.renew)(_token(request), now=timezone.now())
        return _with_cookie(response, _token(request))
    if who is None and not await in_db_thread(identity.unused)(_token(request)):
        return _with_cookie(response, identity.mint())
    return response


def _context(who: Who | None) -> dict[str, Any]:
    seen = feed.since(who.customer_id if who else None)
    return {
        "business": conversations.business(),
        "welcome": wordings.say("welcome", 0, 0),
        "conversation": seen.conversation,
        "clock": conversations.clock_of(seen.conversation),
        "rows": seen.rows,
        "state": seen.state,
        "customer": Customer.objects.filter(pk=who.customer_id).first() if who else None,
        "may_leave_email": feed.may_leave_email(seen.conversation),
        "link_days": settings.CHAT_LINK_DAYS,
        "token": "",
        "client_id": secrets.token_urlsafe(9),
        "max_text": frames.MAX_TEXT,
    }


async def _signed_in(request: HttpRequest, signed: str) -> HttpResponse:
    now = timezone.now()
    was = await in_db_thread(identity.recognise)(_token(request), now=now)
    try:
        who = await in_db_thread(identity.from_signed)(signed, now=now)
    except identity.NotAccepted:
        words = await in_db_thread(wordings.say)("bad_token", 0, 0)
        return await _page(request, was, refused=words, status=403)
    if was is not None and was != who:
        await in_db_thread(identity.part)(was, now=now)
    hours = settings.CHAT_IDENTITY_MINUTES / 60
    token = await in_db_thread(identity.issue)(
        who.customer_id, address=_address(request), now=now, days=hours / 24
    )
    return _with_cookie(redirect("chat:page"), token, days=hours / 24)


def _token(request: HttpRequest) -> str:
    return request.COOKIES.get(COOKIE, "")


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _with_cookie(
    response: HttpResponse | HttpResponseRedirect, token: str, *, days: float | None = None
) -> HttpResponse:
    response.set_cookie(
        COOKIE,
        token,
        max_age=int((settings.CHAT_VISITOR_DAYS if days is None else days) * DAY),
        httponly=True,
        secure=settings.RAPPORT_HTTPS,
        samesite="Lax",
    )
    return response
