"""Fonts, and pictures painted with them."""
