"""`nacre chat`: a model with terminals and tools, and the person who allows what it does."""
