from django.urls import path

from . import views

app_name = "chat"
urlpatterns = [
    path("", views.page, name="page"),
    path("send/", views.send, name="send"),
    path("choose/", views.choose, name="choose"),
    path("person/", views.person, name="person"),
    path("end/", views.end, name="end"),
    path("rate/", views.rate, name="rate"),
    path("email/", views.email, name="email"),
    path("new/", views.new, name="new"),
    path("not-me/", views.not_me, name="not_me"),
    path("privacy/", views.privacy, name="privacy"),
    path("as/", views.chat_as, name="as"),
    path("back/<str:signed>/", views.back, name="back"),
]
