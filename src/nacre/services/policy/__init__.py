"""What agents may run: the rules, the judge of what is typed, and people's approvals."""
