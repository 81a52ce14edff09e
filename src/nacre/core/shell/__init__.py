"""Shells: how they differ, their marks and echo, and what they are doing."""
