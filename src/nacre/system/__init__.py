"""What touches the operating system: terminals, processes, files of the daemon."""
