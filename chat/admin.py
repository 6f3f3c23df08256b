"""The business, its own sentences and its tools; conversations to read."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from chat import wordings
from chat.models import Business, Conversation, Message, Tool, Turn, Wording


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]


class JsonBox(forms.JSONField):
    """JSON as it is typed: nothing, or null, is an empty object, which every column takes."""

    def to_python(self, value: Any) -> Any:
        try:
            found = super().to_python(value.strip() if isinstance(value, str) else value)
        except RecursionError:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from None
        return {} if found is None else found

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except RecursionError:  # shown as it was typed
            return forms.fields.InvalidJSONInput(data)


class BusinessForm(forms.ModelForm[Business]):
    emergency_words = LinesField(required=False, help_text="What an emergency is, one a line.")

    class Meta:
        model = Business
        fields = [
            "name",
            "timezone",
            "hours_in_words",
            "welcome",
            "privacy_text",
            "emergency_words",
            "emergency_text",
            "show_staff_names",
        ]

    def clean_timezone(self) -> str:
        name = str(self.cleaned_data["timezone"])
        try:
            return ZoneInfo(name).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise forms.ValidationError(
                "There is no time zone of this name, like America/New_York."
            ) from None


class WordingForm(forms.ModelForm[Wording]):
    key = forms.ChoiceField(choices=[(k, k.replace("_", " ")) for k in wordings.DEFAULTS])
    variants = LinesField(
        strip=False,
        label="Your words",
        help_text="One a line; the bot picks one. What is in { } is filled in: each line must hold"
        " the same ones as the words of this name below.",
    )

    class Meta:
        model = Wording
        fields = ["key", "variants"]

    def clean(self) -> None:
        super().clean()
        key, variants = self.cleaned_data.get("key"), self.cleaned_data.get("variants")
        if key and variants and (faults := wordings.faults(key, variants)):
            self.add_error("variants", faults)


@admin.register(Business)
class BusinessAdmin(admin.ModelAdmin[Business]):
    form = BusinessForm

    def has_add_permission(self, request: HttpRequest) -> bool:
        return not Business.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: Business | None = None) -> bool:
        return False


@admin.register(Wording)
class WordingAdmin(admin.ModelAdmin[Wording]):
    form = WordingForm
    list_display = ["key", "first"]
    search_fields = ["key", "variants"]
    fields = ["key", "variants", "without"]
    readonly_fields = ["without"]

    @admin.display(description="says")
    def first(self, wording: Wording) -> str:
        return str(wording.variants[0])[:120] if wording.variants else ""

    @admin.display(description="The bot says otherwise")
    def without(self, wording: Wording) -> SafeString:
        """The whole of what is changed; of all there is while no name is chosen yet."""
        shown = {wording.key: wordings.DEFAULTS[wording.key]} if wording.key else wordings.DEFAULTS
        return format_html_join(
            "",
            "<p><strong>{}</strong></p><ul>{}</ul>",
            (
                (key.replace("_", " "), format_html_join("", "<li>{}</li>", zip(variants)))
                for key, variants in shown.items()
            ),
        )


class ToolForm(forms.ModelForm[Tool]):
    class Meta:
        model = Tool
        fields = "__all__"  # noqa: DJ007 - staff's own
        field_classes = {"arguments": JsonBox, "result": JsonBox}
        help_texts = {
            "url": "{order_id} takes an argument of that name, {customer} the number of who asks. "
            "Without {customer} whoever names an order may read it."
        }


@admin.register(Tool)
class ToolAdmin(admin.ModelAdmin[Tool]):
    form = ToolForm
    list_display = ["name", "description", "url", "needs_identity", "active"]
    list_filter = ["active", "needs_identity"]
    search_fields = ["name", "description"]


class ReadOnly:
    """What was said stands; nobody writes it anew."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MessageInline(ReadOnly, admin.TabularInline[Message, Conversation]):
    model = Message
    fields = ["seq", "created_at", "sender", "kind", "text", "author_name", "role"]
    ordering = ["seq"]
    extra = 0


class TurnInline(ReadOnly, admin.TabularInline[Turn, Conversation]):
    model = Turn
    fields = ["question_seq", "outcome", "reason", "reply_seq", "trace"]
    ordering = ["pk"]
    extra = 0


@admin.register(Conversation)
class ConversationAdmin(ReadOnly, admin.ModelAdmin[Conversation]):
    list_display = ["__str__", "customer", "handler", "started_at", "last_message_at", "closed_at"]
    list_filter = ["handler", "close_reason", "rating"]
    list_select_related = ["customer"]
    search_fields = ["customer__name", "customer__external_id", "messages__text"]
    date_hierarchy = "started_at"
    inlines = [MessageInline, TurnInline]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).defer("working_memory")
