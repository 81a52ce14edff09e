"""What a person sees: the screen with overlays and panels, drawn on their terminal."""
