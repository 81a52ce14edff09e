"""MCP servers behind nacre: their tables in config.toml, variables, the names of their tools."""
