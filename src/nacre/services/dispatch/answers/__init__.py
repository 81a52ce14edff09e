"""Steps that change what a caller gets: what nobody sees, and secrets."""
