"""Memory's records in the admin; every write is one call of `memory.services`."""

from memory.admin import agents, answers, customers, memories, records, topics

__all__ = ["agents", "answers", "customers", "memories", "records", "topics"]
