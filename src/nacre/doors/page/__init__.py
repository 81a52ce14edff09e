"""The web page for people, and its login."""
