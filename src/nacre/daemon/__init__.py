"""The daemon process: the one place where everything is built and put together."""
