"""The APIs that models are asked by, without I/O."""
