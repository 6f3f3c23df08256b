"""The admin's lists on an office screen: every column can be seen."""

import pytest
from django.contrib import admin
from django.urls import reverse

from tests.browser.test_every_page import something_of_everything

pytestmark = [pytest.mark.usefixtures("practice"), pytest.mark.slow]

OFFICE = {"width": 1280, "height": 800}
HIDDEN = """[...document.querySelectorAll("#changelist .results")]
    .map((e) => e.scrollWidth - e.clientWidth).find((n) => n > 0) || 0"""


async def test_show_every_column_at_1280(visitor, staff_page):
    await something_of_everything(visitor)
    boss = await staff_page("admin", password="admin-demo", viewport=OFFICE)
    boss.set_default_timeout(60_000)
    cut = {}
    for model in admin.site._registry:
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        await boss.goto(path)
        if hidden := await boss.evaluate(HIDDEN):
            cut[path] = hidden
    assert not cut
