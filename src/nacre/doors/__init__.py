"""The ways in. Each one translates its wire to operations and back, and decides nothing."""
