"""Files of sessions: read, written and edited where their shells are."""
