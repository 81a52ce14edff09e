"""Search over all sessions and their past."""
