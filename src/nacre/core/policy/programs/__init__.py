"""Programs with the words that they are given."""
