"""What happened: transcripts that memory was made from, every change, every erasure."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from memory import services
from memory.admin.base import RecordAdmin, ServiceAdmin, now, staff_id
from memory.admin.memories import told
from memory.models import Conflict, Episode, ErasureReceipt, Memory, MemoryEvent
from memory.services.review import Verdict


@admin.register(Episode)
class EpisodeAdmin(RecordAdmin[Episode]):
    list_display = ["ref", "customer", "ended_at", "state", "attempts"]
    list_filter = [("processed_at", admin.EmptyFieldListFilter), "dismissed"]
    list_select_related = ["customer"]
    search_fields = ["ref", "customer__name", "customer__external_id"]
    ordering = ["-ended_at", "-pk"]
    exclude = ["transcript"]
    change_form_template = "admin/memory/episode/change_form.html"

    @admin.display(description="state", ordering="processed_at")
    def state(self, episode: Episode) -> str:
        if episode.dismissed:
            return "left unread at the customer's request"
        if episode.processed_at:
            return "read"
        return "failed, tried again later" if episode.error else "waiting"

    def about(self, request: HttpRequest, obj: Episode) -> dict[str, Any]:
        transcript = obj.transcript
        said = transcript.get("messages", []) if isinstance(transcript, dict) else transcript
        made = Memory.objects.for_customer(obj.customer_id).filter(episode=obj)
        made = made.select_related("topic")
        services.looked_at(made, staff_id=staff_id(request), now=now())
        return {"said": said, "made": made}


@admin.register(MemoryEvent)
class MemoryEventAdmin(RecordAdmin[MemoryEvent]):
    list_display = ["at", "kind", "sentence", "customer", "topic_key"]
    list_filter = ["kind", "actor"]
    list_select_related = ["customer", "memory"]
    search_fields = ["kind", "actor", "reason", "topic_key", "customer__name"]
    date_hierarchy = "at"
    ordering = ["-at", "-pk"]

    def about(self, request: HttpRequest, obj: MemoryEvent) -> dict[str, Any]:
        if obj.memory is not None:
            services.looked_at([obj.memory], staff_id=staff_id(request), now=now())
        return {}

    @admin.display(description="what happened")
    def sentence(self, event: MemoryEvent) -> str:
        if event.memory is not None and event.memory.sensitive:
            return "(sensitive: open the memory to read it, which is recorded)"
        return str(told([event])[0]["text"])


@admin.register(ErasureReceipt)
class ErasureReceiptAdmin(RecordAdmin[ErasureReceipt]):
    list_display = ["pk", "customer_pk", "at", "actor", "rows"]
    ordering = ["-at"]

    @admin.display(description="rows erased")
    def rows(self, receipt: ErasureReceipt) -> int:
        return sum(n for n in receipt.counts.values() if isinstance(n, int))


@admin.register(Conflict)
class ConflictAdmin(ServiceAdmin[Conflict]):
    """A customer says otherwise than staff corrected; until decided, neither value is used."""

    list_display = ["topic", "customer", "was", "says_now", "due_at", "decision", "decided_by"]
    list_filter = [("decided_at", admin.EmptyFieldListFilter), "topic"]
    list_select_related = ["topic", "customer", "old", "new", "decided_by"]
    search_fields = ["customer__name", "old__text", "new__text"]
    ordering = ["decided_at", "due_at"]
    actions = ["keep", "replace", "both", "undo"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conflict | None = None) -> bool:
        return obj is None and super().has_change_permission(request)

    @admin.display(description="corrected by staff to")
    def was(self, card: Conflict) -> str:
        return _unless_sensitive(card.old)

    @admin.display(description="the customer says now")
    def says_now(self, card: Conflict) -> str:
        return _unless_sensitive(card.new)

    @admin.action(description="Keep what staff corrected", permissions=["act"])
    def keep(self, request: HttpRequest, rows: QuerySet[Conflict]) -> None:
        self._decide(request, rows, "keep")

    @admin.action(description="Replace it by what the customer says", permissions=["act"])
    def replace(self, request: HttpRequest, rows: QuerySet[Conflict]) -> None:
        self._decide(request, rows, "replace")

    @admin.action(description="Both are true, each in its time", permissions=["act"])
    def both(self, request: HttpRequest, rows: QuerySet[Conflict]) -> None:
        self._decide(request, rows, "both")

    def _decide(self, request: HttpRequest, rows: QuerySet[Conflict], decision: Verdict) -> None:
        self.each(
            request,
            rows.filter(decided_at=None),
            lambda c: services.decide_conflict(
                c.pk, decision=decision, staff_id=staff_id(request), now=now()
            ),
            done="decided",
        )

    @admin.action(description="Undo the decision", permissions=["act"])
    def undo(self, request: HttpRequest, rows: QuerySet[Conflict]) -> None:
        self.each(
            request,
            rows.exclude(decided_at=None),
            lambda c: services.undo_conflict(c.pk, staff_id=staff_id(request), now=now()),
            done="open again",
        )


def _unless_sensitive(m: Memory) -> str:
    return "(sensitive: open it to read)" if m.sensitive else m.text
