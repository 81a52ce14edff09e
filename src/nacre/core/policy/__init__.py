"""What a line would run, and whether it may: reading, resolving, rules, the verdict."""
