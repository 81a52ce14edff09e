"""The operations as REST below /api."""
