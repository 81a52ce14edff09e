"""nacre: the terminal for AI agents."""

__version__ = "0.1.0"
