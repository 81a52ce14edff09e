"""Keys: their names, what a terminal sends for them, the mouse."""
