"""Child processes: start them on a terminal, inspect them, end them."""
