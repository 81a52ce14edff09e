"""The settings: their table, where they come from, and where nacre's files are."""
