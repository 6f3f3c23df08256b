"""Which app answers which address."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from config.api import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/chat/")),
    path("admin/", admin.site.urls),
    path("api/", api.urls),
]
for prefix, module in (("chat/", "chat.urls"), ("inbox/", "escalations.urls")):
    if find_spec(module):
        urlpatterns.append(path(prefix, include(module)))
