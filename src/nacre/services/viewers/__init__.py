"""The viewers of a session, and the frames they get."""
