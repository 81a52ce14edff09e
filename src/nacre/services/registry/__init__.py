"""All sessions: their names, ids and ports."""
