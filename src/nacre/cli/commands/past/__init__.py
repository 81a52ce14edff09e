"""What a session showed: record it, save it, play it, and bring a lost one back."""
