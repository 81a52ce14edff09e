"""One session: its child, its terminal, its input and output, and what is kept of it."""
