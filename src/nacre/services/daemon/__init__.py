"""The daemon itself: how long it runs, and the address of its page."""
