"""What people see around a session's screen, who drives it, and what agents are told of that."""
