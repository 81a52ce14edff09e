"""Connections to MCP servers behind nacre. What is in here loads the MCP library."""
