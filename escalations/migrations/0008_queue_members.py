from django.db import migrations

from memory.kept import unwatch_sql, watch_sql

TABLES = ("escalations_queue_members",)


class Migration(migrations.Migration):
    dependencies = [("escalations", "0007_changes"), ("memory", "0007_changes")]

    operations = [migrations.RunSQL(watch_sql(*TABLES), unwatch_sql(*TABLES))]
