"""What touches the operating system: terminals, processes, the daemon's files."""
