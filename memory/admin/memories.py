"""What is remembered: one page a fact, with her very words and its history in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory import services
from memory.admin.base import ServiceAdmin, actor, now, staff_id
from memory.admin.sentences import maker, replaced_by, sentence, usefulness
from memory.models import Memory, MemoryEvent
from memory.types import Status


class MemoryForm(forms.ModelForm[Memory]):
    value = forms.CharField(max_length=500, required=False, help_text="The fact in a word or two.")
    text = forms.CharField(
        max_length=1000, widget=forms.Textarea(attrs={"rows": 3, "cols": 80}), label="Sentence"
    )

    class Meta:
        model = Memory
        fields = ["customer", "topic", "value", "text"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "topic" in self.fields:
            self.fields["topic"].required = True  # what has none comes from conversations alone

    def clean_text(self) -> str:
        """A value that the new sentence no longer says would be said to the customer again."""
        text, value = str(self.cleaned_data["text"]), self.cleaned_data.get("value", "")
        left = value and value == self.initial.get("value")
        said = value.casefold() in str(self.initial.get("text", "")).casefold()
        if left and said and value.casefold() not in text.casefold():
            raise forms.ValidationError(f"The value still says “{value}”: change it too.")
        return text


class EndsFilter(admin.SimpleListFilter):
    title = "how long it holds"
    parameter_name = "holds"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("always", "until something newer is said"),
            ("ends", "until a date"),
            ("over", "over"),
        ]

    def queryset(self, request: HttpRequest, rows: QuerySet[Memory]) -> QuerySet[Memory]:
        if self.value() == "always":
            return rows.filter(valid_until=None)
        if self.value() == "ends":
            return rows.filter(valid_until__gt=now())
        return rows.filter(valid_until__lte=now()) if self.value() == "over" else rows


@admin.register(Memory)
class MemoryAdmin(ServiceAdmin[Memory]):
    form = MemoryForm
    list_display = ["what", "customer", "label", "state", "said_on", "confirmed_on"]
    list_filter = ["status", "needs_review", "topic", "category", "kind", "sensitive", EndsFilter]
    list_select_related = ["customer", "topic"]
    search_fields = [
        "text",
        "value",
        "quote",
        "customer__name",
        "customer__external_id",
        "topic__label",
    ]
    raw_id_fields = ["customer"]  # a box with a name, which a list that is typed into has not
    date_hierarchy = "stated_at"
    ordering = ["-recorded_at", "-pk"]
    actions = ["confirm", "restore", "forget", "approve", "reject"]
    change_form_template = "admin/memory/memory/change_form.html"
    shown = ["customer", "topic", "category", "state", "held", "said", "useful", "maker"]

    def get_urls(self) -> list[URLPattern]:
        from memory.admin import review

        view = self.admin_site.admin_view
        own = [
            path("review/", view(review.queue), name="memory_review"),
            path("review/decide/", view(review.decide), name="memory_review_decide"),
        ]
        return [*own, *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Memory | None = None) -> list[Any]:
        editable = ["value", "text"]
        return [*self.shown, *editable] if obj else ["customer", "topic", *editable]

    def get_readonly_fields(self, request: HttpRequest, obj: Memory | None = None) -> list[str]:
        if obj is None:
            return []
        settled = obj.status not in (Status.ACTIVE, Status.PENDING)
        return [*self.shown, "value", "text"] if settled else self.shown

    def write(
        self, request: HttpRequest, obj: Memory, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        words: dict[str, Any] = {"value": data["value"], "text": data["text"]}
        who: dict[str, Any] = {"by": actor(request), "staff_id": staff_id(request), "now": now()}
        if change:
            return services.correct(obj.pk, **words, **who)
        return services.remember(data["customer"].pk, topic=data["topic"].key, **words, **who)

    def about(self, request: HttpRequest, obj: Memory) -> dict[str, Any]:
        versions = _versions(obj)
        services.looked_at([obj, *versions], staff_id=staff_id(request), now=now())
        faded = (
            obj.status == Status.FORGOTTEN and bool(obj.text) and self.has_act_permission(request)
        )
        told = {"quotes": _quotes(obj), "timeline": timeline(obj), "versions": versions}
        return told | {"faded": bool(faded)}

    @admin.action(description="Confirm: it still holds", permissions=["act"])
    def confirm(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        self.each(
            request,
            rows.filter(status=Status.ACTIVE),
            lambda m: services.confirm(m.pk, by=actor(request), now=now()),
            done="confirmed",
        )

    @admin.action(description="Restore: it had faded, and still holds", permissions=["act"])
    def restore(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        self.each(
            request,
            rows.filter(status=Status.FORGOTTEN).exclude(text=""),
            lambda m: services.confirm(m.pk, by=actor(request), now=now()),
            done="brought back",
        )

    @admin.action(description="Forget at the customer's request", permissions=["act"])
    def forget(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        self.each(
            request,
            rows,
            lambda m: services.forget(m.customer_id, memory_id=m.pk, by=actor(request), now=now()),
            done="forgotten",
        )

    @admin.action(description="Approve what waits", permissions=["act"])
    def approve(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        self._review(request, rows, approve=True)

    @admin.action(description="Reject what waits", permissions=["act"])
    def reject(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        self._review(request, rows, approve=False)

    def _review(self, request: HttpRequest, rows: QuerySet[Memory], *, approve: bool) -> None:
        who: dict[str, Any] = {"by": actor(request), "staff_id": staff_id(request), "now": now()}
        self.each(
            request,
            rows.filter(status=Status.PENDING),
            lambda m: services.review(m.pk, approve=approve, **who),
            done="approved" if approve else "rejected",
        )

    @admin.display(description="fact", ordering="text")
    def what(self, m: Memory) -> str:
        if m.sensitive and m.text:
            return "(sensitive: open it to read, which is recorded)"
        return m.text[:120] or "(forgotten)"

    @admin.display(description="topic", ordering="topic__label")
    def label(self, m: Memory) -> str:
        return m.topic.label if m.topic else m.kind.replace("_", " ")

    @admin.display(description="state", ordering="status")
    def state(self, m: Memory) -> str:
        return f"{m.status} – to review: {m.review_reason}" if m.needs_review else m.status

    @admin.display(description="said", ordering="stated_at")
    def said_on(self, m: Memory) -> str:
        times = f", {m.times_stated} times" if m.times_stated > 1 else ""
        return f"{m.stated_at:%-d %b %Y}{times}"

    @admin.display(description="confirmed", ordering="confirmed_at")
    def confirmed_on(self, m: Memory) -> str:
        return f"{m.confirmed_at:%-d %b %Y}"

    @admin.display(description="holds")
    def held(self, m: Memory) -> str:
        since = m.valid_from or m.stated_at
        until = m.valid_until or m.ended_at
        return f"since {since:%-d %B %Y}" + (f" until {until:%-d %B %Y}" if until else "")

    @admin.display(description="useful")
    def useful(self, m: Memory) -> str:
        return usefulness(services.outcomes_of(m.pk))

    @admin.display(description="made by")
    def maker(self, m: Memory) -> str:
        return maker(m.made_by, _staff([m.made_by.partition(",")[0]]))

    @admin.display(description="said")
    def said(self, m: Memory) -> SafeString | str:
        when = (
            f"{m.stated_at:%-d %B %Y}, {m.times_stated} times"
            if m.times_stated > 1
            else (f"{m.stated_at:%-d %B %Y}")
        )
        link = source_link(m)
        return format_html('{} · <a href="{}">the conversation</a>', when, link) if link else when


def source_link(m: Memory) -> str:
    """The transcript that it was made from, at the message itself."""
    if m.episode_id is None:
        return ""
    page = reverse("admin:memory_episode_change", args=[m.episode_id])
    return f"{page}#said-{m.source_seq}" if m.source_seq else page


def _quotes(m: Memory) -> list[str]:
    found = [q.get("quote", "") if isinstance(q, dict) else str(q) for q in m.quotes or []]
    return list(dict.fromkeys(q for q in (m.quote, *found) if q))


def _versions(m: Memory) -> QuerySet[Memory]:
    same = Memory.objects.for_customer(m.customer_id).filter(topic=m.topic_id, kind=m.kind)
    none = Memory.objects.none()
    return same.exclude(pk=m.pk).order_by("-stated_at")[:20] if m.topic_id else none


def timeline(m: Memory) -> list[dict[str, Any]]:
    events = told(list(MemoryEvent.objects.filter(memory=m).order_by("at", "pk")))
    if m.superseded_by is not None and m.ended_at:
        events.append({"at": m.ended_at, "text": replaced_by(m.superseded_by)})
    return events


def told(events: list[MemoryEvent]) -> list[dict[str, Any]]:
    staff = _staff(e.actor for e in events)
    return [{"at": e.at, "text": sentence(e, staff=staff)} for e in events]


def _staff(actors: Iterable[str]) -> dict[int, str]:
    """Return the names of those who are staff."""
    ids = {int(a[6:]) for a in actors if a.startswith("staff:") and a[6:].isdecimal()}
    users = get_user_model()._default_manager.filter(pk__in=ids)
    return {u.pk: u.get_full_name() or u.get_username() for u in users}
