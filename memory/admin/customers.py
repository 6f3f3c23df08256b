"""A customer: what is known, what was believed on a date, a copy of all of it, and its end."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.timezone import get_current_timezone

from memory import services
from memory.admin.base import RecordAdmin, actor, now, staff_id
from memory.models import Customer, Memory
from memory.types import Status


@admin.register(Customer)
class CustomerAdmin(RecordAdmin[Customer]):
    list_display = ["name_shown", "kind", "external_id", "known", "last_seen_at", "erase_due_at"]
    list_filter = ["kind", ("erase_requested_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "external_id", "email"]
    ordering = ["-last_seen_at", "-pk"]
    actions = ["merge_chosen", "erase_chosen"]
    change_form_template = "admin/memory/customer/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Customer]:
        active = Count("memories", filter=Q(memories__status=Status.ACTIVE, memories__kind="fact"))
        return super().get_queryset(request).annotate(active=active)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("<int:pk>/as-of/", view(self.as_of), name="memory_customer_as_of"),
            path("<int:pk>/export/", view(self.export), name="memory_customer_export"),
            path("erase/", view(self.erase), name="memory_customer_erase"),
            path("merge/", view(self.merge), name="memory_customer_merge"),
        ]
        return [*own, *super().get_urls()]

    def has_change_permission(self, request: HttpRequest, obj: Customer | None = None) -> bool:
        # For the list alone, whose action asks again before anything is done.
        return obj is None and self.has_act_permission(request)

    @admin.display(description="customer", ordering="name")
    def name_shown(self, customer: Customer) -> str:
        return str(customer)

    @admin.display(description="facts known", ordering="active")
    def known(self, customer: Customer) -> int:
        return int(customer.active)  # type: ignore[attr-defined]

    def about(self, request: HttpRequest, obj: Customer) -> dict[str, Any]:
        found = Memory.objects.for_customer(obj.pk).select_related("topic")
        memories = list(found.order_by("status", "-stated_at")[:200])
        services.looked_at(memories, staff_id=staff_id(request), now=now())
        return {"memories": memories}

    def as_of(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What was believed about this customer at the end of a day, or at a given time."""
        customer = self._seen(request, pk)
        given = request.GET.get("when", "")
        when = _end_of(given) or now()
        facts = services.as_of(customer.pk, when=when)
        sensitive = {f.topic or f.category for f in facts if f.sensitive}
        services.looked(customer.pk, sensitive, staff_id=staff_id(request), now=now())
        return TemplateResponse(
            request,
            "admin/memory/customer/as_of.html",
            {
                **self.admin_site.each_context(request),
                "title": f"What was believed about {customer}",
                "customer": customer,
                "opts": self.opts,
                "when": when,
                "misread": bool(given) and _end_of(given) is None,
                "facts": facts,
            },
        )

    def export(self, request: HttpRequest, pk: int) -> HttpResponse:
        customer = self._seen(request, pk)
        memories = Memory.objects.for_customer(customer.pk).select_related("topic")
        services.looked_at(memories, staff_id=staff_id(request), now=now())
        found = services.export(customer.pk, now=now())
        answer = JsonResponse(found, json_dumps_params={"ensure_ascii": False, "indent": 2})
        answer["Content-Disposition"] = f'attachment; filename="customer-{customer.pk}.json"'
        return answer

    @admin.action(description="Erase, with a receipt", permissions=["act"])
    def erase_chosen(
        self, request: HttpRequest, rows: QuerySet[Customer]
    ) -> HttpResponseBase | None:
        chosen = "&".join(f"pk={pk}" for pk in rows.values_list("pk", flat=True))
        return redirect(f"{reverse('admin:memory_customer_erase')}?{chosen}")

    @admin.action(description="Merge a visitor into a known customer", permissions=["act"])
    def merge_chosen(
        self, request: HttpRequest, rows: QuerySet[Customer]
    ) -> HttpResponseBase | None:
        kinds = {c.kind: c.pk for c in rows}
        if len(rows) != 2 or len(kinds) != 2:
            words = "Choose two: a visitor, and the customer who this visitor is."
            self.message_user(request, words, messages.WARNING)
            return None
        chosen = f"visitor={kinds['visitor']}&into={kinds['identified']}"
        return redirect(f"{reverse('admin:memory_customer_merge')}?{chosen}")

    def merge(self, request: HttpRequest) -> HttpResponse:
        """Ask first, by GET; merge by POST. It cannot be undone."""
        if not self.has_act_permission(request):
            raise PermissionDenied
        given = request.POST if request.method == "POST" else request.GET
        pks = [given.get(name, "") for name in ("visitor", "into")]
        visitor, into = (get_object_or_404(Customer, pk=pk if pk.isdecimal() else 0) for pk in pks)
        if request.method != "POST":
            context = {
                **self.admin_site.each_context(request),
                "title": "Are these the same person?",
                "visitor": visitor,
                "into": into,
                "opts": self.opts,
            }
            return TemplateResponse(request, "admin/memory/customer/merge.html", context)
        try:
            services.merge(visitor.pk, into.pk, by=actor(request), now=now())
        except ValueError as exc:
            self.message_user(request, f"Not merged: {exc}.", messages.ERROR)
        else:
            self.message_user(request, f"Merged into {into}.", messages.SUCCESS)
        return redirect("admin:memory_customer_changelist")

    def erase(self, request: HttpRequest) -> HttpResponse:
        """Ask first, by GET; erase by POST. It cannot be undone."""
        if not self.has_act_permission(request):
            raise PermissionDenied
        given = request.POST if request.method == "POST" else request.GET
        rows = Customer.objects.filter(pk__in=[p for p in given.getlist("pk") if p.isdecimal()])
        if request.method != "POST":
            context = {
                **self.admin_site.each_context(request),
                "title": "Erase for good?",
                "customers": [(c, services.unfinished(c.pk)) for c in rows],
                "opts": self.opts,
            }
            return TemplateResponse(request, "admin/memory/customer/erase.html", context)
        for pk in rows.values_list("pk", flat=True):
            receipt = services.erase(pk, by=actor(request), now=now())
            self.message_user(
                request, f"Erased; the receipt is number {receipt.pk}.", messages.SUCCESS
            )
        return redirect("admin:memory_customer_changelist")

    def _seen(self, request: HttpRequest, pk: int) -> Customer:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return get_object_or_404(Customer, pk=pk)


def _end_of(given: str) -> datetime | None:
    """Return the end of that day by the business's clock, or the time if it has its offset."""
    try:
        day, moment = parse_date(given), parse_datetime(given)
    except ValueError:
        return None
    if day is not None:
        return datetime.combine(day, time.max, tzinfo=get_current_timezone())
    return moment if moment is not None and moment.tzinfo is not None else None
