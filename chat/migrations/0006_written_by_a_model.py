from django.db import migrations, models


class Migration(migrations.Migration):
    """A database can make such a column anew, and not change it."""

    dependencies = [
        ("chat", "0005_changes"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="turn",
            name="turn_outcome_at",
        ),
        migrations.RemoveField(
            model_name="turn",
            name="generated",
        ),
        migrations.AddField(
            model_name="turn",
            name="generated",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(
                        models.Q(("outcome", "answered"), ("trace__moves__contains", ["Remark"])),
                        then=models.Value(True),
                    ),
                    default=models.Value(False),
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                fields=["created_at", "outcome"],
                include=("generated", "past_skipped"),
                name="turn_outcome_at",
            ),
        ),
    ]
