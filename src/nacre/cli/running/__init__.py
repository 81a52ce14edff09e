"""How `nacre run` runs a command: its output as it is printed, Ctrl+C, standard input."""
