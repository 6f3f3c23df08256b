"""Rapport's memory as a LangGraph store. Needs `langgraph` (config/requirements/agents.txt)."""

from memory.langgraph.customers import NotThisCustomer
from memory.langgraph.store import MemoryStore, own_index

__all__ = ["MemoryStore", "NotThisCustomer", "own_index"]
