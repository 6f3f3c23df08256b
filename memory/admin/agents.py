"""Agents: their keys, and what they learnt."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from memory import services
from memory.admin.base import LinesField, RecordAdmin, ServiceAdmin, actor, now, staff_id
from memory.models import ApiKey, Lesson, StoreItem


class NamespacesField(LinesField):
    def prepare_value(self, value: Any) -> Any:
        return "\n".join("/".join(n) for n in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = super().to_python(value)
        found = [[s for s in line.split("/") if s] for line in lines]
        if any("." in s for n in found for s in n):
            raise forms.ValidationError("A segment cannot hold a period.")
        return found


class ApiKeyForm(forms.ModelForm[ApiKey]):
    namespaces = NamespacesField(
        required=False,
        help_text=(
            "Empty: a key to the desk's API. For an agent, what it may reach, one on a line: "
            "customers/12, customers (all of them), agents/billing, shared, tasks/7."
        ),
    )

    class Meta:
        model = ApiKey
        fields = ["name", "namespaces"]


@admin.register(ApiKey)
class ApiKeyAdmin(ServiceAdmin[ApiKey]):
    form = ApiKeyForm
    list_display = ["name", "prefix", "user", "reaches", "created_at", "last_used_at", "revoked_at"]
    list_filter = ["revoked_at"]
    list_select_related = ["user"]
    search_fields = ["name", "prefix"]
    ordering = ["-created_at"]
    actions = ["revoke"]

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        # Its page may be looked at; the list needs the permission for its action.
        return obj is None and super().has_change_permission(request)

    def write(
        self, request: HttpRequest, obj: ApiKey, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        key, raw = services.issue_key(
            **data, user_id=staff_id(request), by=actor(request), now=now()
        )
        # In the page and nowhere else: a log or a mail would keep it.
        self.message_user(
            request, f"The key is {raw} – copy it now, it is not shown again.", messages.WARNING
        )
        return key

    @admin.display(description="reaches")
    def reaches(self, key: ApiKey) -> str:
        return ", ".join("/".join(n) for n in key.namespaces) or "the desk"

    @admin.action(description="Revoke", permissions=["act"])
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiKey]) -> None:
        for key in rows:
            services.revoke_key(key.pk, by=actor(request), now=now())
        self.message_user(request, "Revoked: these keys open nothing any more.")


@admin.register(Lesson)
class LessonAdmin(RecordAdmin[Lesson]):
    list_display = ["about", "text", "where", "status", "times_seen", "confirmed_at"]
    list_filter = ["status", "namespace"]
    search_fields = ["about", "text"]
    ordering = ["-confirmed_at"]
    actions = ["share", "propose"]

    @admin.display(description="namespace")
    def where(self, lesson: Lesson) -> str:
        return "/".join(lesson.namespace)

    @admin.action(description="Approve for all agents", permissions=["act"])
    def share(self, request: HttpRequest, rows: QuerySet[Lesson]) -> None:
        for lesson in rows:
            services.promote(lesson.pk, by=actor(request), approved_by=staff_id(request), now=now())
        self.message_user(request, "Shared: every agent reads it from now on.")

    @admin.action(description="Propose as a how-to for customers", permissions=["act"])
    def propose(self, request: HttpRequest, rows: QuerySet[Lesson]) -> None:
        for lesson in rows:
            try:
                made = services.propose_from_lesson(lesson.pk, by=actor(request), now=now())
            except ValueError as exc:
                self.message_user(request, f"{lesson}: {exc}", messages.WARNING)
            else:
                said = "waits at the desk, for its question and a yes" if made else "was there"
                self.message_user(request, f"{lesson.about}: {said}.")


@admin.register(StoreItem)
class StoreItemAdmin(RecordAdmin[StoreItem]):
    list_display = ["where", "key", "updated_at", "expires_at"]
    search_fields = ["key"]
    exclude = ["embedding"]
    ordering = ["-updated_at"]

    @admin.display(description="namespace")
    def where(self, item: StoreItem) -> str:
        return "/".join(item.namespace)
