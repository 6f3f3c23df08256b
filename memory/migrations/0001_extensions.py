from django.contrib.postgres.operations import TrigramExtension, UnaccentExtension
from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    """Vectors, and likeness of words for the search: both come with the embedded server."""

    initial = True
    dependencies: list[tuple[str, str]] = []
    operations = [VectorExtension(), TrigramExtension(), UnaccentExtension()]
