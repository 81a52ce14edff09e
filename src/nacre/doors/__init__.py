"""The ways in. Each translates its wire to operations and back, and decides nothing."""
