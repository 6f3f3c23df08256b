"""What every page of memory's records shares: nothing is written but by `memory.services`."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from typing_extensions import override

from memory import services

M = TypeVar("M", bound=Model)

# What a service says no with; anything else is a fault of ours.
REFUSED = (ValueError, LookupError, ObjectDoesNotExist, services.Touched, services.StillSeveral)


def actor(request: HttpRequest) -> str:
    return f"staff:{request.user.pk}"


def staff_id(request: HttpRequest) -> int:
    return int(request.user.pk or 0)  # the admin lets nobody in without one


def now() -> datetime:
    return timezone.now()


class RecordAdmin(admin.ModelAdmin[M]):
    """Read only: what happened is shown, not changed. Nothing here is ever deleted by hand."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def has_act_permission(self, request: HttpRequest) -> bool:
        """For the actions: whoever may change such rows. To look at a list decides nothing."""
        return bool(request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}"))

    def about(self, request: HttpRequest, obj: M) -> dict[str, Any]:
        """What the page of one row shows beside its fields."""
        return {}

    @override
    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: M | None = None,
    ) -> HttpResponse:
        if obj is not None:
            context.update(self.about(request, obj))
        return super().render_change_form(request, context, add, change, form_url, obj)


class ServiceAdmin(RecordAdmin[M]):
    """Editable, but every form ends in one call of a service; it returns the row that now
    stands."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"{self.opts.app_label}.add_{self.opts.model_name}"))

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self.has_act_permission(request)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except REFUSED as exc:
            self.message_user(request, f"Not saved: {exc}.", messages.ERROR)
            return redirect(request.path)

    def save_model(self, request: HttpRequest, obj: M, form: Any, change: bool) -> None:
        if change and not form.has_changed():
            return
        made = self.write(request, obj, form.cleaned_data, change=change)
        if made is not None:
            obj.pk = made.pk

    def write(
        self, request: HttpRequest, obj: M, data: dict[str, Any], *, change: bool
    ) -> Model | None:
        raise NotImplementedError

    @override
    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        return self._logged(request, obj, ADDITION, message)

    @override
    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        return self._logged(request, obj, CHANGE, message)

    def _logged(self, request: HttpRequest, obj: Model, flag: int, message: Any) -> LogEntry:
        """Django's own log names a row by its words, out of reach of forgetting and erasing: by
        its number here. What changed is told by the row's MemoryEvents."""
        return LogEntry.objects.create(
            user_id=staff_id(request),
            content_type=ContentType.objects.get_for_model(obj),
            object_id=str(obj.pk),
            object_repr=f"{obj._meta.verbose_name} {obj.pk}",
            action_flag=flag,
            change_message=json.dumps(message) if isinstance(message, list) else message,
        )

    def each(
        self,
        request: HttpRequest,
        rows: QuerySet[M],
        do: Any,
        *,
        done: str,
    ) -> None:
        """Run an action on each row by itself: one that is refused does not stop the others."""
        count = 0
        for row in rows:
            try:
                do(row)
            except REFUSED as exc:
                self.message_user(request, f"{row}: {exc}", messages.WARNING)
            else:
                count += 1
        if count:
            self.message_user(request, f"{count} {done}.", messages.SUCCESS)


class LinesField(forms.CharField):
    """A list of texts, one on each line."""

    widget = forms.Textarea(attrs={"rows": 6, "cols": 80})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))


class PartsWidget(forms.Textarea):
    """Several messages of one answer, each in a box of its own, and an empty one for the next."""

    @override
    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        parts = [*(value or []), ""]
        context = {"name": name, "parts": parts, "id": (attrs or {}).get("id", f"id_{name}")}
        # Not Django's form renderer, which looks into apps alone.
        return mark_safe(render_to_string("admin/memory/parts.html", context))  # noqa: S308 - a template

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        texts: list[str] = data.getlist(name)
        return texts

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0"


class PartsField(forms.Field):
    """The very words: line ends become LF, nothing else is touched."""

    widget = PartsWidget

    def to_python(self, value: Any) -> list[str]:
        texts = [t.replace("\r\n", "\n").replace("\r", "\n") for t in value or []]
        return [t for t in texts if t]

    def validate(self, value: Any) -> None:
        super().validate(value)
        if any("\x00" in t for t in value):
            raise forms.ValidationError("A character is in it that cannot be stored (NUL).")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))
