"""Commands of the catalog as lines of JSON on TCP."""
