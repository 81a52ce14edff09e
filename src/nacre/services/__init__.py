"""What nacre does, behind one path: dispatch."""
