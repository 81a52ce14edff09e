"""Sandboxes: what a profile shows and permits, bubblewrap, and the layers of reviews."""
