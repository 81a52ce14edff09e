"""Events of one session, or of all sessions."""
