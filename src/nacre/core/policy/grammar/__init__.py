"""What a line of the shell says: its words, and what its grammar does not show."""
