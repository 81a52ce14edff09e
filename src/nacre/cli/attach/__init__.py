"""`nacre attach`: a person in the same session."""
