"""WebSockets: every operation as a method, and a terminal as bytes."""
