"""The settings, by what they are about."""
