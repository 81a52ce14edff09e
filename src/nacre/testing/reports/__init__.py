"""What people and machines read of a run of scenarios: lines, JUnit, traces, pictures."""
