"""MCP servers behind nacre, as this door offers what they have."""
