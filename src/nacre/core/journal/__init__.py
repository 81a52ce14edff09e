"""The journal's records, what they rebuild, and recordings made from them."""
