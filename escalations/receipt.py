"""Why this answer: a turn's trace in the words of people who work here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from chat.models import Turn
from memory.models import Answer, Note, Topic


@dataclass(frozen=True, slots=True)
class Item:
    text: str
    score: str = ""
    mark: str = ""  # what became of it
    url_id: int | None = None  # the stored answer


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    said: str
    items: tuple[Item, ...] = ()


def sections(turn: Turn) -> list[Section]:
    """Return what was known, used and rejected, with scores; facts by their topic alone."""
    trace: dict[str, Any] = turn.trace or {}
    if "chosen" in trace:
        return _of_choice(turn)
    built = [
        _reading(trace),
        _past(trace),
        _facts(_("Facts that were used"), trace.get("facts")),
        _facts(_("Facts that were looked at, and not used"), trace.get("facts_rejected")),
        _withheld(trace),
        _answers(trace),
        _note(trace),
        _engine(trace),
    ]
    return [section for section in built if section is not None]


def _of_choice(turn: Turn) -> list[Section]:
    """A pick from an offer: what was known when it was offered, and which of it was taken."""
    chosen = turn.trace["chosen"]
    picked = Answer.objects.filter(pk=chosen if isinstance(chosen, int) else 0).first()
    said = picked.title if picked else _("None of what was offered")
    offers = Turn.objects.filter(
        conversation=turn.conversation_id, outcome="offered", reply_seq__lt=turn.question_seq
    )
    offered = offers.order_by("-reply_seq").first()
    before = dict(offered.trace) if offered else {}
    if "answer" in before:
        before["answer"] = {**before["answer"], "used": [picked.pk] if picked else []}
    built = [
        Section(_("The customer chose"), said),
        _past(before),
        _facts(_("Facts that were looked at"), before.get("facts_rejected")),
        _withheld(before),
        _answers(before, mark=_("chosen")),
    ]
    return [section for section in built if section is not None]


def _reading(trace: dict[str, Any]) -> Section | None:
    reading = trace.get("reading")
    if not reading:
        return None
    kind = str(reading.get("kind", "")).replace("_", " ")
    return Section(_("Read as"), f"{kind}: {reading.get('why', '')}".strip(": "))


def _past(trace: dict[str, Any]) -> Section | None:
    gate = trace.get("gate")
    if not isinstance(gate, dict):
        return None
    looked, spared = _("The customer’s past was looked up"), _("The past was not needed")
    needed = looked if gate.get("passed") else spared
    return Section(_("Memory"), f"{needed}: {gate.get('reason', '')}".strip(": "))


def _facts(title: str, facts: Any) -> Section | None:
    if not facts:
        return None
    labels = _labels(f.get("topic") for f in facts)
    items = (
        Item(
            text=labels.get(f.get("topic"), _("something said without a topic")),
            score=_score(f.get("score")),
        )
        for f in facts
    )
    return Section(title, "", tuple(items))


def _withheld(trace: dict[str, Any]) -> Section | None:
    topics = trace.get("withheld")
    if not topics:
        return None
    names = _labels(topics)
    said = _("Not said, because it may have changed or is disputed:")
    return Section(_("Held back"), f"{said} {', '.join(names.get(t, t) for t in topics)}")


def _answers(trace: dict[str, Any], *, mark: str = "") -> Section | None:
    answer = trace.get("answer")
    if not answer:
        return None
    found = answer.get("candidates") or []
    titles = dict(
        Answer.objects.filter(pk__in=[pk for pk, _score in found]).values_list("pk", "title")
    )
    mark = mark or (_("offered") if answer.get("way") == "offer" else _("used"))
    items = (
        Item(
            text=titles.get(
                pk, _("told this customer alone") if pk < 0 else _("an answer that is gone")
            ),
            score=_score(score),
            mark=mark if pk in (answer.get("used") or []) else "",
            url_id=pk if pk in titles else None,
        )
        for pk, score in found
    )
    way = {
        "deliver": _("Sure enough to deliver"),
        "offer": _("Likely enough to offer"),
        "gap": _("Nothing near enough"),
    }.get(answer.get("way", ""), "")
    said = f"{way}: {answer.get('reason', '')}".strip(": ")
    return Section(_("Stored answers"), said, tuple(items))


def _note(trace: dict[str, Any]) -> Section | None:
    note = Note.objects.filter(pk=trace.get("note") or 0).first()
    return Section(_("Note that applied"), note.title) if note else None


def _engine(trace: dict[str, Any]) -> Section | None:
    if not trace.get("engine"):
        return None
    engine = str(trace["engine"])
    without = engine in ("offline", "verbatim")
    parts = [
        _("The built-in rules, no model") if without else _("The model {name}").format(name=engine)
    ]
    if trace.get("tokens"):
        parts.append(_("{number} tokens").format(number=trace["tokens"]))
    spent = trace.get("ms")
    if isinstance(spent, dict):
        parts.append(_("{number} ms").format(number=round(sum(map(float, spent.values())))))
    failures = [Item(str(f)) for f in trace.get("failures") or []]
    return Section(_("Written by"), " · ".join(parts), tuple(failures))


def _labels(keys: Iterable[Any]) -> dict[Any, str]:
    wanted = [key for key in keys if key]
    return dict(Topic.objects.filter(key__in=wanted).values_list("key", "label"))


def _score(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else ""
