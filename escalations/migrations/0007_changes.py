from django.db import migrations

from memory.kept import unwatch_sql, watch_sql

TABLES = (
    "escalations_queue",
    "escalations_calendar",
    "escalations_queue_topics",
    "escalations_reportsetting",
)


class Migration(migrations.Migration):
    dependencies = [("escalations", "0006_waiting_mails"), ("memory", "0007_changes")]

    operations = [migrations.RunSQL(watch_sql(*TABLES), unwatch_sql(*TABLES))]
