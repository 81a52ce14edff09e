"""Standard input that goes to a run on another host."""
