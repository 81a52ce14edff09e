"""How results and errors are printed."""
