"""The audit's chain: how records are sealed, and what a look through all of them finds."""
