"""What all sessions share: settings, loop, engine, reading time, events."""
