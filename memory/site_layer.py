"""The site's own layer over extraction: fitted again when the review queue has decided."""

from __future__ import annotations

from datetime import datetime

from memory.lifecycle.extract import site
from memory.lifecycle.write import record_event
from memory.llm.embeddings import embed_here
from memory.models import Topic


def refit(topic_id: int, *, by: str, now: datetime) -> None:
    """Fit the topic's layer to its examples and counter-examples, and name their version.

    Outside of locks: it embeds. Whoever changes the examples meanwhile makes it stale, not wrong.
    """
    topic = Topic.objects.get(pk=topic_id)
    vectors = embed_here([*topic.examples, *topic.not_examples])
    own, other = vectors[: len(topic.examples)], vectors[len(topic.examples) :]
    offset, steep = site.refit(own, other)
    fit = {"version": topic.version, "offset": round(offset, 4), "steep": round(steep, 4)}
    if Topic.objects.filter(pk=topic_id, version=topic.version).update(fit=fit):
        record_event(
            "topic.refitted", at=now, actor=by, topic_key=topic.key, reason=f"v{topic.version}"
        )


def refit_stale(*, now: datetime) -> int:
    """Those whose examples were edited or forgotten since: nightly."""
    stale = [t.pk for t in Topic.objects.exclude(fit={}) if not t.lean]
    for topic_id in stale:
        refit(topic_id, by="nightly", now=now)
    return len(stale)
