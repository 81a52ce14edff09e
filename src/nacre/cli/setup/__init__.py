"""`nacre setup`: AI hosts, and the MCP servers behind nacre."""
