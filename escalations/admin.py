"""The desk's records: what admins set up, and what is there to read."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import admin as auth
from django.contrib.auth.models import Group, User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from chat.admin import JsonBox
from escalations import hours
from escalations.models import (
    Calendar,
    CannedReply,
    Delivery,
    Escalation,
    Gap,
    MemoryView,
    Question,
    Queue,
    ReportSetting,
    StaffProfile,
)


class ReadOnly(admin.ModelAdmin[Any]):
    """To look at: these rows are written by what happens at the desk."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class CalendarForm(forms.ModelForm[Calendar]):
    class Meta:
        model = Calendar
        fields = ["name", "timezone", "weekly", "exceptions"]
        field_classes = {"weekly": JsonBox, "exceptions": JsonBox}
        help_texts = {
            "timezone": "For example Europe/Berlin or America/New_York.",
            "weekly": 'Monday is 0: {"0": [["08:00", "12:00"], ["13:00", "17:00"]]}',
            "exceptions": 'Days that differ: {"2026-12-25": []}, or with spans of their own',
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        try:
            hours.parse(
                timezone=data.get("timezone", ""),
                weekly=data.get("weekly") or {},
                exceptions=data.get("exceptions") or {},
            )
        except hours.BadHours as exc:
            raise forms.ValidationError(f"These hours cannot be read: {exc}.") from exc
        return data


@admin.register(Calendar)
class CalendarAdmin(admin.ModelAdmin[Calendar]):
    form = CalendarForm
    list_display = ["name", "timezone", "week"]

    @admin.display(description="open")
    def week(self, calendar: Calendar) -> str:
        try:
            parsed = hours.parse(
                timezone=calendar.timezone,
                weekly=calendar.weekly,
                exceptions=calendar.exceptions,
            )
        except hours.BadHours as exc:
            return f"cannot be read: {exc}"
        return hours.week_in_words(parsed)


@admin.register(Queue)
class QueueAdmin(admin.ModelAdmin[Queue]):
    list_display = ["name", "calendar", "first_reply_minutes", "alert_after_minutes", "is_default"]
    list_select_related = ["calendar"]


# Django's own pages, without its two-list boxes and boxes for what nobody types: both lack names.
for model in (User, Group):
    admin.site.unregister(model)


@admin.register(User)
class UserAdmin(auth.UserAdmin[User]):
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")


@admin.register(Group)
class GroupAdmin(auth.GroupAdmin):
    filter_horizontal = ()


@admin.register(StaffProfile)
class StaffProfileAdmin(admin.ModelAdmin[StaffProfile]):
    list_display = ["user", "display_name", "role", "notify_by_email"]
    list_select_related = ["user"]


@admin.register(CannedReply)
class CannedReplyAdmin(admin.ModelAdmin[CannedReply]):
    list_display = ["shortcut", "text"]
    search_fields = ["shortcut", "text"]


@admin.register(ReportSetting)
class ReportSettingAdmin(admin.ModelAdmin[ReportSetting]):
    list_display = ["minutes_per_answer", "reopened_within_days", "assumed_after_hours"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return not ReportSetting.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class QuestionInline(admin.TabularInline[Question, Escalation]):
    model = Question
    fields = ["text", "reason", "asked_at", "answer"]
    readonly_fields = ["text", "reason", "asked_at", "answer"]
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Escalation)
class EscalationAdmin(ReadOnly):
    list_display = [
        "customer",
        "reason",
        "opened_at",
        "due_at",
        "claimed_by",
        "resolution",
        "queue",
    ]
    list_filter = ["reason", "resolution", "queue"]
    list_select_related = ["conversation__customer", "queue", "claimed_by"]
    exclude = ["request"]  # what is sensitive in it is read at the desk, which records it
    date_hierarchy = "opened_at"
    inlines = [QuestionInline]

    @admin.display(ordering="conversation__customer__name")
    def customer(self, escalation: Escalation) -> str:
        return str(escalation.conversation.customer)


@admin.register(Gap)
class GapAdmin(ReadOnly):
    list_display = ["title", "opened_at", "answered_at", "answer"]
    list_select_related = ["answer"]
    search_fields = ["title"]


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly):
    list_display = ["kind", "to", "created_at", "sent_at", "attempts", "error"]
    list_filter = ["kind", ("sent_at", admin.EmptyFieldListFilter)]
    actions = ["try_again"]

    @admin.action(description="Try again now", permissions=["view"])
    def try_again(self, request: HttpRequest, rows: QuerySet[Delivery]) -> None:
        again = rows.filter(sent_at=None).update(attempts=0, next_at=timezone.now())
        self.message_user(request, f"{again} will be tried again within a minute.")


@admin.register(MemoryView)
class MemoryViewAdmin(ReadOnly):
    """Who looked at what is sensitive."""

    list_display = ["at", "staff", "customer", "topics"]
    list_select_related = ["staff", "customer"]
    date_hierarchy = "at"
