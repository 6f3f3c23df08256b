"""The rules that figures are counted by: one row, which an admin or the page of reports changes."""

from __future__ import annotations

from memory.kept import Kept

from .models import ReportSetting

# To read: change the row, not the value.
current: Kept[ReportSetting] = Kept(
    lambda: ReportSetting.objects.get_or_create(pk=1)[0], "escalations_reportsetting"
)
