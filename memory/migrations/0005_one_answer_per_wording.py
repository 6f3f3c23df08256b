import django.contrib.postgres.constraints
import django.db.models.functions.text
from django.contrib.postgres.operations import BtreeGistExtension
from django.db import migrations, models

# Staff's latest word stands; what was said before it means something else now.
LATEST_STANDS = """
UPDATE memory_answermatch AS old SET outcome = 'something_else', answer_id = NULL
 WHERE old.outcome = 'confirmed' AND EXISTS (
    SELECT 1 FROM memory_answermatch AS new
     WHERE new.outcome = 'confirmed' AND new.asked_normalised = old.asked_normalised
       AND new.answer_id <> old.answer_id
       AND (new.decided_at, new.id) > (old.decided_at, old.id))
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0004_reports_in_one_pass")]

    operations = [
        BtreeGistExtension(),
        migrations.RunSQL(LATEST_STANDS, migrations.RunSQL.noop),
        # The rows that were changed have checks that are due at the end of the transaction.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="answermatch",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                condition=models.Q(("answer__isnull", False), ("outcome", "confirmed")),
                deferrable=models.Deferrable["IMMEDIATE"],
                expressions=[
                    (django.db.models.functions.text.MD5("asked_normalised"), "="),
                    ("answer", "<>"),
                ],
                name="answermatch_one_answer_per_wording",
            ),
        ),
    ]
