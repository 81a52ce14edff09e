"""`nacre mcp`: a thin bridge between an AI host and the daemon."""
