"""What people ask for to keep agents in bounds: approvals, reviews, tokens."""
