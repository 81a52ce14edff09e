"""Recovery of the sessions of an earlier daemon."""
