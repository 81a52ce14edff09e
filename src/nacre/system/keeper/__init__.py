"""The keeper process, and the daemon's side of it."""
