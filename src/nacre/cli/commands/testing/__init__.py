"""Tests of terminal programs: run scenarios, and write them from what a person did."""
