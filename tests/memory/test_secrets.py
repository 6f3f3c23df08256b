"""Secrets are found, and what only looks like one is left alone."""

import pytest

from memory import secrets


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("pay with 4111 1111 1111 1111 please", "4111 1111 1111 1111", "card number"),
        ("card 5500005555555559.", "5500005555555559", "card number"),
        ("amex 3782-822463-10005", "3782-822463-10005", "card number"),
        ("cvv is 123", "123", "card check code"),
        ("my password is hunter2!", "hunter2", "password"),
        ("Password: Sunshine", "Sunshine", "password"),
        ("das Passwort lautet geheim99", "geheim99", "password"),
        ("mi contraseña es gatito12", "gatito12", "password"),
        ("use sk-proj-a8f3k2l9d0s7f6g5h4", "sk-proj-a8f3k2l9d0s7f6g5h4", "key"),
        ("AKIAIOSFODNN7EXAMPLE is it", "AKIAIOSFODNN7EXAMPLE", "key"),
        ("api key: 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706", "key"),
        ("the verification code is 482913", "482913", "one-time code"),
        ("your code they texted me: 4821", "4821", "one-time code"),
        ("my pin is 4821", "4821", "password"),
        ("my card on file: 4242 4242 4242 4242", "4242 4242 4242 4242", "card number"),
        ("my card for the deposit: 4242424242424242", "4242424242424242", "card number"),
        ("card for the booking 4242424242424242", "4242424242424242", "card number"),
        ("the code they sent to my mobile is 482913", "482913", "one-time code"),
        ("code texted to my cell is 482913", "482913", "one-time code"),
        ("my verification code for the order is 482913", "482913", "one-time code"),
    ],
)
def test_finds_and_blanks_a_secret(text, secret, kind):
    assert [(text[s.start : s.end], s.kind) for s in secrets.find(text)] == [(secret, kind)]
    assert secret not in secrets.blank(text)


@pytest.mark.parametrize(
    "text",
    [
        "my password is wrong",
        "I forgot my password again",
        "the password reset link is broken",
        "member number DDX-0049317-02",
        "call me at (607) 555-0188",
        "order 1234567890123 has not come",
        "the zip code is 13820",
        "my claim is 2026-118-0457",
        "the login page does not load",
        "use the code SPRING10 for ten percent",
        "we have 4111 members",
        "order number 4242424242424242 has not come",
        "the area code they sent me is 4821",
        "my parcel: 4242424242424242",
    ],
)
def test_leaves_alone_what_is_no_secret(text):
    assert secrets.find(text) == []
    assert secrets.blank(text) == text
