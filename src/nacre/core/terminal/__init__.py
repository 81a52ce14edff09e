"""The VT engine: bytes go in, a screen and a scrollback can be read."""
