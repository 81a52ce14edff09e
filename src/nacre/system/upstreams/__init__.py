"""What of upstream servers is on this machine: tables, programs, what is kept of them."""
