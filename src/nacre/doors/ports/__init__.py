"""The sessions' own ports, with SILC's routes."""
