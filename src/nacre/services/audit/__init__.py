"""The audit: who did what, in a log that shows when somebody has changed it."""
