"""What a run printed: in memory, on disk if it is too long for that, read by lines, searched."""
