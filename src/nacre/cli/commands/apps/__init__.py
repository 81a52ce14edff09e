"""The commands about what programs show, and about files in their sessions."""
