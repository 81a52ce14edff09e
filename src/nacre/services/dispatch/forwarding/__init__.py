"""What goes back to the host of a call that was forwarded to a server behind nacre."""
