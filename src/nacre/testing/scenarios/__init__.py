"""Tests of terminal programs as data: read from YAML, run in parallel, each in a fresh terminal."""
