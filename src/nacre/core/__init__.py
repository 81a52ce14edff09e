"""The terminal and the catalog of operations: no I/O, no clock."""
