"""The Unix socket: the command line, the stdio bridge and attach."""
