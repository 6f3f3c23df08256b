"""Addresses of the desk, below /inbox/."""

from django.urls import path

from .views import acts, answers, console, customers, keeping, learning, replies, reporting, review

app_name = "escalations"
urlpatterns = [
    path("", console.inbox, name="inbox"),
    path("live/", console.live, name="live"),
    path("<int:pk>/", console.detail, name="detail"),
    path("<int:pk>/claim/", acts.claim_view, name="claim"),
    path("<int:pk>/release/", acts.release, name="release"),
    path("<int:pk>/assign/", acts.assign, name="assign"),
    path("<int:pk>/return/", acts.return_to_bot, name="return"),
    path("<int:pk>/send/", replies.send, name="send"),
    path("<int:pk>/draft/", replies.draft, name="draft"),
    path("<int:pk>/answer/<int:answer_id>/", replies.send_answer, name="send_answer"),
    path("<int:pk>/look/", replies.look, name="look_at_request"),
    path("<int:pk>/keep/", keeping.keep, name="keep"),
    path("chat/<int:pk>/", console.chat, name="chat"),
    path("chat/<int:pk>/take-over/", acts.take_over, name="take_over"),
    path("chat/<int:conversation_pk>/note/", replies.note, name="note"),
    path("customer/<int:pk>/", customers.customer, name="customer"),
    path("customer/<int:pk>/write/", customers.write_first, name="write_first"),
    path("customer/<int:pk>/look/", customers.look, name="look"),
    path("customer/<int:pk>/fact/", customers.add_fact, name="add_fact"),
    path("fact/<int:pk>/correct/", customers.correct, name="correct"),
    path("fact/<int:pk>/confirm/", customers.confirm, name="confirm"),
    path("fact/<int:pk>/forget/", customers.forget, name="forget"),
    path("chat/<int:pk>/looked/", learning.looked, name="looked"),
    path("review/", review.cards, name="review"),
    path("review/decide/", review.decide, name="decide"),
    path("review/look/", review.look, name="look_at_card"),
    path("answers/add/", learning.add_answer, name="add_answer"),
    path("answers/how-to/", answers.how_to, name="how_to"),
    path("answers/how-to/<int:pk>/", answers.approve_how_to, name="approve_how_to"),
    path("answers/<int:pk>/", answers.answer, name="answer"),
    path("gaps/", learning.ledger, name="gaps"),
    path("gaps/<int:pk>/", keeping.waiting, name="waiting"),
    path("search/", learning.find, name="search"),
    path("reports/", reporting.overview, name="reports"),
    path("reports/<slug:name>.csv", reporting.csv, name="csv"),
    path("receipt/<int:pk>/", reporting.receipt, name="receipt"),
    path("replay/", reporting.replay, name="replay"),
]
