"""What the business cares about, what it writes for situations, and what it tells the agents."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from memory import services
from memory.admin.base import LinesField, ServiceAdmin, actor, now, staff_id
from memory.models import Instruction, Note, Topic


class TopicForm(forms.ModelForm[Topic]):
    examples = LinesField(required=False, help_text="What a customer might write, one on a line.")
    not_examples = LinesField(
        required=False, label="Counter-examples", help_text="What looks alike and is not this."
    )

    class Meta:
        model = Topic
        fields = [
            "key",
            "label",
            "category",
            "cardinality",
            "description",
            "examples",
            "not_examples",
            "permanent",
            "sensitive",
            "half_life_days",
        ]
        labels = {
            "cardinality": "How many at a time",
            "permanent": "Holds for good",
            "sensitive": "Sensitive",
            "half_life_days": "Days until it is only half as sure",
        }
        help_texts = {
            "key": "A short name without spaces, for programs and for {slots} in texts.",
            "category": "What kind of thing it is: a fact, a wish, how somebody lives …",
            "cardinality": "One: what a customer says newly takes the place of what was known, "
            "like an address. Several: all of it holds side by side, like allergies.",
            "permanent": "It never fades, however long nobody mentions it: as of an allergy.",
            "sensitive": "Shown to staff only after a click, which is recorded; nothing of it is "
            "remembered of visitors whom we do not know, and an answer that touches it goes to a "
            "person first.",
            "half_life_days": "For what changes with time: after so many days without being "
            "mentioned it counts half, and in the end it is no longer used. Empty: as usual for "
            "its kind.",
        }


@admin.register(Topic)
class TopicAdmin(ServiceAdmin[Topic]):
    form = TopicForm
    list_display = ["label", "key", "category", "cardinality", "permanent", "sensitive", "version"]
    list_filter = ["category", "cardinality", "permanent", "sensitive"]
    search_fields = ["label", "key", "description"]
    ordering = ["label"]

    def get_readonly_fields(self, request: HttpRequest, obj: Topic | None = None) -> list[str]:
        return ["key"] if obj else []

    def write(
        self, request: HttpRequest, obj: Topic, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        key = obj.key if change else data.pop("key")
        return services.save_topic(key=key, **data, by=actor(request), now=now())


class NoteForm(forms.ModelForm[Note]):
    examples = LinesField(help_text="Messages that mean this situation, one on a line.")
    not_examples = LinesField(required=False, label="Counter-examples")

    class Meta:
        model = Note
        fields = [
            "title",
            "examples",
            "not_examples",
            "topic",
            "text",
            "hands_over",
            "tool",
            "active",
        ]


@admin.register(Note)
class NoteAdmin(ServiceAdmin[Note]):
    form = NoteForm
    list_display = ["title", "topic", "hands_over", "active", "version", "updated_at"]
    list_filter = ["active", "hands_over", "topic"]
    list_select_related = ["topic"]
    search_fields = ["title", "text"]
    ordering = ["title"]

    def write(
        self, request: HttpRequest, obj: Note, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        pk = obj.pk if change else None
        return services.save_note(pk, **data, by=actor(request), now=now())


@admin.register(Instruction)
class InstructionAdmin(ServiceAdmin[Instruction]):
    """Each change is a new version; the newest is in force."""

    list_display = ["kind", "version", "created_at", "created_by"]
    list_filter = ["kind"]
    list_select_related = ["created_by"]
    fields = ["kind", "text"]
    ordering = ["kind", "-version"]

    def has_change_permission(self, request: HttpRequest, obj: Instruction | None = None) -> bool:
        return False

    def write(
        self, request: HttpRequest, obj: Instruction, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        return services.save_instruction(
            data["kind"], data["text"], staff_id=staff_id(request), now=now()
        )
