"""Commands, from the moment they are sent until their exit code."""
