"""Text in columns: how wide it is, how it is styled, how it is cut."""
