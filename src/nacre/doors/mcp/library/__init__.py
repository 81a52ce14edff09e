"""What of the MCP door needs the official MCP library, which takes a second to load."""
