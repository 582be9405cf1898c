"""Optional parts, imported by nothing else in core."""
