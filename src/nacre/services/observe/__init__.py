"""Reading a session: its screen, lines and state, and waiting until it settles."""
