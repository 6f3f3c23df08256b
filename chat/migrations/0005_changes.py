from django.db import migrations

from memory.kept import unwatch_sql, watch_sql

TABLES = ("chat_business", "chat_wording", "chat_tool")


class Migration(migrations.Migration):
    dependencies = [("chat", "0004_reports_in_one_pass"), ("memory", "0007_changes")]

    operations = [migrations.RunSQL(watch_sql(*TABLES), unwatch_sql(*TABLES))]
