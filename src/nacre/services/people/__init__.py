"""What people see and type: overlays and panels, watching, who drives."""
