"""The command line, and the bridge between stdio and the daemon. It contains no server code."""
