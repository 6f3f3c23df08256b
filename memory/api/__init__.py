"""Memory's part of the API."""

from ninja import Router

from memory.api import answers, facts, lessons

router = Router()
router.add_router("", facts.router)
router.add_router("", answers.router)
router.add_router("", lessons.router)
