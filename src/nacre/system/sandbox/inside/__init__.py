"""What runs around a program that Landlock confines: a process of its own for each.

Rule: only the standard library is imported, and little of it: every start waits for it.
"""
