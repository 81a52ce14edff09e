"""MCP: the operations as tools, over Streamable HTTP and over the bridge's socket."""
