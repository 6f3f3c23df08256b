"""Stored answers in their very words, and how the questions put to them went."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory import services
from memory.admin.base import PartsField, RecordAdmin, ServiceAdmin, actor, now, staff_id
from memory.admin.memories import told
from memory.models import Answer, AnswerMatch, MemoryEvent
from memory.services.votes import Outcome
from memory.types import Category, Status


class AnswerForm(forms.ModelForm[Answer]):
    title = forms.CharField(
        max_length=1000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 80}),
        help_text="The question in your words. Other customers see it: nothing personal.",
    )
    parts = PartsField(
        label="The very words", help_text="One box a message. They are shown exactly like this."
    )

    # One box with its name, where the admin has two without.
    valid_until = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local", "step": 1}, format="%Y-%m-%dT%H:%M:%S"
        ),
    )

    class Meta:
        model = Answer
        fields = ["title", "parts", "role", "author_name", "owner", "valid_until", "review_on"]


class StaleFilter(admin.SimpleListFilter):
    title = "review"
    parameter_name = "stale"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("due", "due for review")]

    def queryset(self, request: HttpRequest, rows: QuerySet[Answer]) -> QuerySet[Answer]:
        return rows.filter(review_on__lte=now().date()) if self.value() == "due" else rows


@admin.register(Answer)
class AnswerAdmin(ServiceAdmin[Answer]):
    form = AnswerForm
    list_display = ["title", "role", "status", "said_at", "review_on", "needs_review"]
    list_filter = ["status", StaleFilter, "needs_review", "category", "role"]
    search_fields = ["title", "parts", "author_name", "role"]
    ordering = ["-recorded_at", "-pk"]
    actions = ["approve", "reject", "retire"]
    change_form_template = "admin/memory/answer/change_form.html"

    def get_readonly_fields(self, request: HttpRequest, obj: Answer | None = None) -> list[str]:
        if obj is None or obj.status == Status.ACTIVE:
            return []
        return ["the_very_words" if f == "parts" else f for f in self.form.Meta.fields]

    def get_fields(self, request: HttpRequest, obj: Answer | None = None) -> list[Any]:
        return self.get_readonly_fields(request, obj) or list(self.form.Meta.fields)

    def the_very_words(self, answer: Answer) -> str:
        return answer.text

    def write(
        self, request: HttpRequest, obj: Answer, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        owner = data.pop("owner", None)
        data["owner_id"] = owner and owner.pk
        if change:
            if obj.status != Status.ACTIVE:  # since the page was opened
                raise ValueError("this answer was replaced or taken out of use meanwhile")
            data["owner_id"] = data["owner_id"] or services.NOBODY
            who: dict[str, Any] = {"by": actor(request), "staff_id": staff_id(request)}
            return services.revise_answer(obj.pk, **data, **who, now=now())
        return services.add_answer(
            **data, by=actor(request), staff_id=staff_id(request), now=now(), source_ref="admin"
        )

    def about(self, request: HttpRequest, obj: Answer) -> dict[str, Any]:
        events = MemoryEvent.objects.filter(answer=obj).order_by("at", "pk")
        return {"timeline": told(list(events))}

    @admin.action(description="Approve for everyone", permissions=["act"])
    def approve(self, request: HttpRequest, rows: QuerySet[Answer]) -> None:
        self.each(
            request,
            rows.filter(status=Status.PENDING),
            lambda a: _approve(request, a),
            done="approved",
        )

    @admin.action(description="Turn down a how-to", permissions=["act"])
    def reject(self, request: HttpRequest, rows: QuerySet[Answer]) -> None:
        self.each(
            request,
            rows.filter(status=Status.PENDING, category=Category.LEARNED_PROCEDURE),
            lambda a: services.reject_procedure(a.pk, by=actor(request), now=now()),
            done="turned down",
        )

    @admin.action(description="Take out of use", permissions=["act"])
    def retire(self, request: HttpRequest, rows: QuerySet[Answer]) -> None:
        self.each(
            request,
            rows.filter(status=Status.ACTIVE),
            lambda a: services.retire_answer(
                a.pk, by=actor(request), reason="taken out in the admin", now=now()
            ),
            done="taken out of use",
        )


def _approve(request: HttpRequest, answer: Answer) -> Answer:
    who: dict[str, Any] = {"by": actor(request), "now": now()}
    if answer.category != Category.LEARNED_PROCEDURE:
        return services.approve_answer(answer.pk, **who)
    name = request.user.get_username()
    return services.approve_procedure(
        answer.pk, staff_id=staff_id(request), author_name=name, **who
    )


@admin.register(AnswerMatch)
class AnswerMatchAdmin(RecordAdmin[AnswerMatch]):
    list_display = ["asked", "answered", "outcome", "score", "margin", "created_at"]
    list_filter = ["outcome", "verified"]
    list_select_related = ["answer"]
    search_fields = ["asked", "answer__title"]
    date_hierarchy = "created_at"
    ordering = ["-created_at", "-pk"]
    exclude = ["embedding", "asked_normalised"]
    actions = ["confirm", "refuse"]

    @admin.display(description="answer", ordering="answer__title")
    def answered(self, match: AnswerMatch) -> SafeString | str:
        if match.answer is None:
            return f"{len(match.offered)} offered" if match.offered else "none"
        page = reverse("admin:memory_answer_change", args=[match.answer_id])
        return format_html('<a href="{}">{}</a>', page, match.answer.title[:80])

    @admin.action(description="Confirm: this wording means this answer", permissions=["act"])
    def confirm(self, request: HttpRequest, rows: QuerySet[AnswerMatch]) -> None:
        self._decide(request, rows, "confirmed")

    @admin.action(description="Refuse: this wording means something else", permissions=["act"])
    def refuse(self, request: HttpRequest, rows: QuerySet[AnswerMatch]) -> None:
        self._decide(request, rows, "refused")

    def _decide(self, request: HttpRequest, rows: QuerySet[AnswerMatch], outcome: Outcome) -> None:
        for match in rows.exclude(answer=None):
            services.confirm_match(
                match.pk,
                outcome=outcome,
                answer_id=match.answer_id,
                staff_id=staff_id(request),
                now=now(),
            )
        self.message_user(request, f"Noted: {outcome}.")
