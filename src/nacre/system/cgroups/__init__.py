"""Cgroups of sessions: where they can be made, by whom, and what they limit."""
