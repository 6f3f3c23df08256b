from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("escalations", "0002_rating_look"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="cannedreply",
            options={
                "verbose_name": "ready-made reply",
                "verbose_name_plural": "ready-made replies",
            },
        ),
    ]
