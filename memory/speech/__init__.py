"""How people speak in a chat, in general English: no trade, no brand, no product. Pure.

acts: what a clause does (asks, wishes, imagines …) · clauses: where it starts and ends ·
language: which language, word-for-word glosses · times: until when something holds.
"""
