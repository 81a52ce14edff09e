"""What a test sees of a terminal, and what it expects of it."""
