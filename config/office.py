"""The admin by the business's clock: times are shown and read there as they are at the desk."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest, HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.utils import timezone


class Office(AdminSite):
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        guarded = super().admin_view(view, cacheable)

        def by_our_clock(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            from chat.conversations import business_clock

            with timezone.override(business_clock()):
                response: HttpResponseBase = guarded(request, *args, **kwargs)
                # A page that is written later would be written by the server's clock.
                if isinstance(response, SimpleTemplateResponse):
                    response.render()
                return response

        return update_wrapper(by_our_clock, guarded)


class OfficeConfig(AdminConfig):
    default_site = "config.office.Office"
