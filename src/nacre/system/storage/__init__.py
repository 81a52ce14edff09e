"""Storage: the ring in shared memory, and the journal's segments on disk."""
