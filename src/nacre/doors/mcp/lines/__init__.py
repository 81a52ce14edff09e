"""MCP as newline-delimited JSON over a stream: what `nacre mcp` pipes to the daemon."""
