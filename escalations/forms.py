"""What is typed at the desk, read back. Words are never trimmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from chat.frames import BadFrame, clean
from memory.types import told_time

from . import people
from .capture import SCOPES, Keep, Scope, Step


class Words(forms.CharField):
    """Text as it was typed: one line ending, no NUL, and nothing else is changed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)

    def clean(self, value: Any) -> str:
        try:
            return clean(super().clean(value))
        except BadFrame as exc:
            raise forms.ValidationError(str(exc)) from exc


class AnswerForm(forms.Form):
    """An answer that somebody at the desk has anyway."""

    title = forms.CharField(
        label=_("The question, as you would put it"),
        max_length=300,
        help_text=_("Customers see it when we ask “did you mean …?”. No names in it."),
    )
    text = Words(label=_("The answer, word for word"), widget=forms.Textarea(attrs={"rows": 6}))
    wordings = Words(
        label=_("Other ways to ask it"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One a line. Nobody is shown these; they help to recognise the question."),
    )
    role = forms.CharField(
        label=_("Whose words these are"), max_length=120, help_text=_("For example: dentist")
    )
    review_on = forms.DateField(
        label=_("Look at it again on"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=_("Empty: after the usual time."),
    )
    owner = forms.ModelChoiceField(
        queryset=User.objects.none(), required=False, label=_("Who looks at it then")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["owner"]
        chosen.queryset = people.staff()
        chosen.label_from_instance = people.name_of


class FactForm(forms.Form):
    """Something about a customer that staff know."""

    topic = forms.SlugField(label=_("About"))
    text = forms.CharField(label=_("What is so"), max_length=500)


@dataclass(frozen=True, slots=True)
class Fault:
    field: str
    text: str


def keeps(data: Mapping[str, Any], step: Step, now: datetime) -> tuple[list[Keep], list[Fault]]:
    """Read the keeping step: the ticked messages of one choice are one answer."""
    chosen: dict[Scope, list[int]] = {scope: [] for scope in SCOPES}
    for part in step.parts:
        choice = data.get(f"keep-{part.message.seq}", "none")
        if choice in chosen:
            chosen[choice].append(part.message.seq)
    title = str(data.get("title", "")).strip()
    if not any(chosen.values()):
        return [], []
    if not title:
        return [], [Fault("title", str(_("Which question does this answer? Please write it.")))]
    replaces = step.rival.answer_id if step.rival and data.get("rival") == "replace" else None
    if chosen["everyone"] and replaces is None and step.same_title(title):
        said = _("This very question has an answer. Put yours differently, or replace that one.")
        return [], [Fault("title", str(said))]
    until, fault = _until(str(data.get("valid_until", "")), step.zone, now)
    if fault:
        return [], [fault]
    review_on, fault = _review(str(data.get("review_on", "")), now)
    if fault:
        return [], [fault]
    question = str(data.get("question", ""))
    owner = str(data.get("owner", ""))
    return [
        Keep(
            scope=scope,
            seqs=tuple(chosen[scope]),
            title=title,
            question_id=int(question) if question.isdecimal() and len(question) < 16 else None,
            replaces=replaces if scope == "everyone" else None,
            valid_until=until,
            end_told="valid_until" in data,
            review_on=review_on,
            owner_id=next((u.pk for u in people.staff() if str(u.pk) == owner), None),
        )
        for scope in SCOPES
        if chosen[scope]
    ], []


def _until(text: str, zone: str, now: datetime) -> tuple[datetime | None, Fault | None]:
    """Return the end of that day in the business's zone."""
    if not text:
        return None, None
    try:
        day = date.fromisoformat(text)
        end = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(zone))
        until = told_time(end.astimezone(UTC))
    except (ValueError, OverflowError):
        return None, Fault("valid_until", str(_("This is not a date.")))
    if until <= now:
        return None, Fault("valid_until", str(_("That day is over.")))
    return until, None


def _review(text: str, now: datetime) -> tuple[date | None, Fault | None]:
    if not text:
        return None, None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None, Fault("review_on", str(_("This is not a date.")))
    if day <= now.date():
        return None, Fault("review_on", str(_("Please name a day to come.")))
    return day, None
