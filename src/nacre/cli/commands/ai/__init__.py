"""Models and AI hosts: talk to a model, and give nacre to hosts."""
