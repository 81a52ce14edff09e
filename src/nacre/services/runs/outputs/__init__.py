"""Outputs that are too long for memory: on disk, read by lines, searched."""
