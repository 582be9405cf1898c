"""What the panels of all screens share."""
