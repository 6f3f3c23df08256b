"""In a language that it does not handle, the built-in reader keeps nothing rather than something
wrong; what is English, however full of names, it reads."""

import pytest

from memory.speech import language
from tests.memory.test_reading_talk import read, stated

NOT_HANDLED = {
    "Italian": ["Preferisco essere contattato per e-mail, non al telefono.",
                "Il mio numero di cellulare è 0600 553 120."],
    "Dutch": ["Ik word liever gemaild dan gebeld.", "Ik kan alleen 's ochtends komen."],
    "Polish": ["Proszę o kontakt mailowy, nie telefoniczny.", "Mogę przyjść tylko rano."],
    "Swedish": ["Jag vill helst bli kontaktad via e-post, inte telefon.",
                "Mitt mobilnummer är 0600 553 120."],
    "Danish": ["Jeg vil helst kontaktes på e-mail, ikke telefon."],
    "Norwegian": ["Mobilnummeret mitt er 0600 553 120."],
    "Finnish": ["Ottakaa yhteyttä mieluiten sähköpostilla, ei puhelimella."],
    "Turkish": ["Lütfen bana e-posta ile ulaşın, telefonla aramayın.",
                "Cep telefonu numaram 0600 553 120."],
    "Czech": ["Prosím kontaktujte mě e-mailem, ne telefonicky."],
    "Hungarian": ["Kérem, e-mailben keressenek, ne telefonon."],
    "Romanian": ["Vă rog să mă contactați prin e-mail, nu la telefon."],
    "Indonesian": ["Tolong hubungi saya lewat email saja."],
    "Vietnamese": ["Xin liên hệ với tôi qua email."],
    "Swahili": ["Tafadhali nitumie email, usinipigie.", "Namba yangu ni 0600 553 120."],
    "Russian": ["Пожалуйста, пишите мне по e-mail."],
    "Japanese": ["メールで連絡してください。"],
}  # fmt: skip


@pytest.mark.parametrize(
    "text", [t for texts in NOT_HANDLED.values() for t in texts], ids=lambda t: t[:24]
)
def test_nothing_is_kept_of_a_language_that_is_not_handled(text):
    assert stated(read(text)) == set()


@pytest.mark.parametrize(
    "text",
    [
        "e-mail is best for me",
        "Fastgrips, since April",
        "Tess Okonkwo-Lindqvist always does mine",
        "Zdeněk or Özlem please, whoever is in",
        "pls txt me",
        "It's a Škoda Kodiaq",
        "card no. 44-1200",
    ],
)
def test_what_is_full_of_names_is_english_all_the_same(text):
    assert language.detect(text) == "en"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Bitte schreiben Sie mir eine E-Mail", "de"),
        ("Je préfère être contacté par e-mail", "fr"),
        ("Prefiero que me escriban por correo", "es"),
    ],
)
def test_what_is_half_understood_is_told_apart(text, code):
    assert language.detect(text) == code
