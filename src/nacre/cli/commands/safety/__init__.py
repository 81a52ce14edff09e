"""What may run, and who decides it: the commands around the policy."""
