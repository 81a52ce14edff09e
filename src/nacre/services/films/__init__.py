"""Recordings as pictures that move: GIF and SVG."""
