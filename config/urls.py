"""Which app answers which address."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from config.api import api
from config.theme import theme_css

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/chat/")),
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("chat/", include("chat.urls")),
    path("inbox/", include("escalations.urls")),
    path("theme.css", theme_css, name="theme"),
]
