"""What is remembered, by whom it was said, and everything that happened to it."""

from .agents import ApiKey, Lesson, StoreItem
from .answers import Answer, AnswerMatch
from .columns import EMBEDDING_WIDTH
from .facts import Conflict, Episode, Memory
from .history import MemoryEvent
from .people import Customer, ErasureReceipt
from .topics import Instruction, Note, Topic

__all__ = [
    "EMBEDDING_WIDTH",
    "Answer",
    "AnswerMatch",
    "ApiKey",
    "Conflict",
    "Customer",
    "Episode",
    "ErasureReceipt",
    "Instruction",
    "Lesson",
    "Memory",
    "MemoryEvent",
    "Note",
    "StoreItem",
    "Topic",
]
