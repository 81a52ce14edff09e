"""Everything a caller can ask for, and what it gets back."""
