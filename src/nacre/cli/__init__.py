"""The command line, and the bridge between stdio and the daemon: no server code in here."""
