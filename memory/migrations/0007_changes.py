from django.db import migrations

from memory.kept import unwatch_sql, watch_sql

TABLES = ("memory_topic", "memory_instruction", "memory_note")

MAKE = """
CREATE TABLE memory_change (of_table text NOT NULL, salt numeric NOT NULL);
CREATE FUNCTION memory_note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memory_change VALUES (TG_TABLE_NAME, 1 + floor(random() * 1e15));
    RETURN NULL;
END $$;
"""
UNMAKE = "DROP FUNCTION memory_note_change(); DROP TABLE memory_change;"


class Migration(migrations.Migration):
    dependencies = [("memory", "0006_topic_fit")]

    operations = [
        migrations.RunSQL(MAKE, UNMAKE),
        migrations.RunSQL(watch_sql(*TABLES), unwatch_sql(*TABLES)),
    ]
