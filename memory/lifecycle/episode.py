"""A transcript as it is stored, and back."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from memory import secrets
from memory.types import Said, Transcript


def dump(transcript: Transcript) -> dict[str, Any]:
    """Return plain JSON without secrets: they are kept nowhere, also not till the agent ran."""
    said = [
        asdict(replace(m, text=secrets.blank(m.text))) | {"at": m.at.isoformat()}
        for m in transcript.messages
    ]
    return {
        "messages": said,
        "timezone": transcript.timezone,
        "language": transcript.language,
    }


def load(stored: dict[str, Any]) -> Transcript:
    said = tuple(
        Said(**{**m, "at": datetime.fromisoformat(m["at"])}) for m in stored.get("messages", ())
    )
    return Transcript(said, stored.get("timezone", "UTC"), stored.get("language", ""))
