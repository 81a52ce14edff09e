"""MCP servers behind nacre: connections to them, their tools, and who may call these."""
