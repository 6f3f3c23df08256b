"""The front door: what chat, escalations and everything outside may ask of memory."""

from .conflicts import decide_conflict, undo_conflict
from .forgetting import Forgotten, forget
from .lessons import feedback, learn_from_tool, learn_lesson, lessons_for
from .people import erase, export, identify, new_customer, request_erase
from .registry import Keeper, keepers, register
from .review import Touched, confirm, correct, review, undo_review
from .topics import StillSeveral, save_instruction, save_topic
from .writing import (
    history,
    listen,
    nightly,
    note_now,
    propose,
    remember,
    remember_later,
    run_agent,
    sweep,
    without_bell,
)

__all__ = [
    "Forgotten",
    "Keeper",
    "StillSeveral",
    "Touched",
    "confirm",
    "correct",
    "decide_conflict",
    "erase",
    "export",
    "feedback",
    "forget",
    "history",
    "identify",
    "keepers",
    "learn_from_tool",
    "learn_lesson",
    "lessons_for",
    "listen",
    "new_customer",
    "nightly",
    "note_now",
    "propose",
    "register",
    "remember",
    "remember_later",
    "request_erase",
    "review",
    "run_agent",
    "save_instruction",
    "save_topic",
    "sweep",
    "undo_conflict",
    "undo_review",
    "without_bell",
]
