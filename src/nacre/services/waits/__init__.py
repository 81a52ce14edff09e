"""Waits for one of several conditions, in one session or several."""
