"""The front door: what chat, escalations and everything outside may ask of memory."""

from memory.lifecycle.blank import without, without_in
from memory.lifecycle.known import topics as all_topics
from memory.secrets import unmarked
from memory.secrets import without as without_secrets
from memory.speech.runs import legible

from .agents import (
    NotValidated,
    Sight,
    agent_namespace,
    end_task,
    promote,
    seen_by,
    sight,
    task_namespace,
)
from .answered import answered_by, asks
from .answers import (
    NOBODY,
    add_answer,
    approve_answer,
    contradicts,
    embed_answers,
    retire_answer,
    revise_answer,
)
from .asking import answer_for, as_candidate, similar_answers
from .bell import without_bell
from .capturing import capture_answer, capture_staff_words, share_verdict, title_of
from .conflicts import decide_conflict, undo_conflict
from .forgetting import Forgotten, forget, forget_words
from .gating import Gated, SecondLook, gated, in_doubt, second_look, second_look_now
from .her_own import meant_hers, own_answer
from .keys import issue_key, key_for, may, revoke_key
from .lessons import feedback, helped, learn_from_tool, learn_lesson, lessons_for, tried_with
from .looks import looked, looked_at, record_looks_by
from .merging import merge
from .notes import note_for, save_note
from .people import erase, export, identify, new_customer, request_erase
from .procedures import (
    approve_procedure,
    propose_from_answer,
    propose_from_lesson,
    propose_procedure,
    reject_procedure,
    steps_of,
)
from .reading import Hers, as_of, known_about, needs_past, recall
from .registry import Keeper, keepers, register, unfinished
from .review import Touched, confirm, correct, review, undo_review
from .safety import Grave
from .stale import still_right, tell_owners
from .topics import StillSeveral, instructions, save_instruction, save_topic
from .topics_meant import topics_near
from .usefulness import Outcome, outcomes_of, record_outcome
from .votes import confirm_match, confirm_wording
from .waiting import kind_of as kind_to_review
from .waiting import number_to_review, to_review
from .warming import warm_up, warm_up_topics
from .withholding import withheld
from .writing import (
    embed_memories,
    history,
    listen,
    nightly,
    note_now,
    propose,
    remember,
    remember_later,
    run_agent,
    sweep,
)

__all__ = [
    "NOBODY",
    "Forgotten",
    "Gated",
    "Grave",
    "Hers",
    "Keeper",
    "NotValidated",
    "Outcome",
    "SecondLook",
    "Sight",
    "StillSeveral",
    "Touched",
    "add_answer",
    "agent_namespace",
    "all_topics",
    "answer_for",
    "answered_by",
    "approve_answer",
    "approve_procedure",
    "as_candidate",
    "as_of",
    "asks",
    "capture_answer",
    "capture_staff_words",
    "confirm",
    "confirm_match",
    "confirm_wording",
    "contradicts",
    "correct",
    "decide_conflict",
    "embed_answers",
    "embed_memories",
    "end_task",
    "erase",
    "export",
    "feedback",
    "forget",
    "forget_words",
    "gated",
    "helped",
    "history",
    "identify",
    "in_doubt",
    "instructions",
    "issue_key",
    "keepers",
    "key_for",
    "kind_to_review",
    "known_about",
    "learn_from_tool",
    "learn_lesson",
    "legible",
    "lessons_for",
    "listen",
    "looked",
    "looked_at",
    "may",
    "meant_hers",
    "merge",
    "needs_past",
    "new_customer",
    "nightly",
    "note_for",
    "note_now",
    "number_to_review",
    "outcomes_of",
    "own_answer",
    "promote",
    "propose",
    "propose_from_answer",
    "propose_from_lesson",
    "propose_procedure",
    "recall",
    "record_looks_by",
    "record_outcome",
    "register",
    "reject_procedure",
    "remember",
    "remember_later",
    "request_erase",
    "retire_answer",
    "review",
    "revise_answer",
    "revoke_key",
    "run_agent",
    "save_instruction",
    "save_note",
    "save_topic",
    "second_look",
    "second_look_now",
    "seen_by",
    "share_verdict",
    "sight",
    "similar_answers",
    "steps_of",
    "still_right",
    "sweep",
    "task_namespace",
    "tell_owners",
    "title_of",
    "to_review",
    "topics_near",
    "tried_with",
    "undo_conflict",
    "undo_review",
    "unfinished",
    "unmarked",
    "warm_up",
    "warm_up_topics",
    "withheld",
    "without",
    "without_bell",
    "without_in",
    "without_secrets",
]
