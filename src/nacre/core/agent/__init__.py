"""The toolset agent: its tools, and the text that they answer with."""
