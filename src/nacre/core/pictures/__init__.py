"""A screen as a picture: layout, shapes, glyph outlines, SVG."""
