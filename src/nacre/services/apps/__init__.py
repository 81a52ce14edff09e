"""Programs that are driven and tested by their screens."""
