"""Commands that callers name instead of writing a line: what they take, and what is refused."""
