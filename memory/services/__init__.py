"""The front door: what chat, escalations and everything outside may ask of memory."""

from .agents import (
    NotValidated,
    Sight,
    agent_namespace,
    end_task,
    promote,
    sight,
    task_namespace,
)
from .conflicts import decide_conflict, undo_conflict
from .forgetting import Forgotten, forget
from .keys import issue_key, key_for, may, revoke_key
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
    "NotValidated",
    "Sight",
    "StillSeveral",
    "Touched",
    "agent_namespace",
    "confirm",
    "correct",
    "decide_conflict",
    "end_task",
    "erase",
    "export",
    "feedback",
    "forget",
    "history",
    "identify",
    "issue_key",
    "keepers",
    "key_for",
    "learn_from_tool",
    "learn_lesson",
    "lessons_for",
    "listen",
    "may",
    "new_customer",
    "nightly",
    "note_now",
    "promote",
    "propose",
    "register",
    "remember",
    "remember_later",
    "request_erase",
    "review",
    "revoke_key",
    "run_agent",
    "save_instruction",
    "save_topic",
    "sight",
    "sweep",
    "task_namespace",
    "undo_conflict",
    "undo_review",
    "without_bell",
]
