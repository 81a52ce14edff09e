"""How `nacre run` follows what it runs."""
