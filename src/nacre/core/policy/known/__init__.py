"""What is known well enough to run unasked: lines for other machines, code that only prints."""
