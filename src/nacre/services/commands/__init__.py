"""The operation run_command: type as it is, and wait for all of it."""
