"""The operations on sessions, and the janitor that ends forgotten ones."""
