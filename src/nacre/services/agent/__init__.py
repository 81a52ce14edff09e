"""The toolset agent: tools that are composed of operations."""
