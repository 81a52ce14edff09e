"""MCP servers for the tests: one by the official SDK, and one that does all that goes wrong."""
